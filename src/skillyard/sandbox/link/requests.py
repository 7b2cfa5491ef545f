"""What a guest is asked, checked before it is sent."""

from collections.abc import Mapping
from typing import Any, Final

from skillyard.errors import InputError, InvalidPathError, LimitError
from skillyard.sandbox.guest.frames import MAX_REQUEST
from skillyard.sandbox.session import Command
from skillyard.sandbox.workspace_paths import workspace_path

_MAX_PART: Final = 128 * 1024 - 1
"""The kernel takes no longer argument or variable."""
_MAX_NAME: Final = 255
_MAX_PATH: Final = 4000
"""Bytes; below what the system takes, for the workspace may be deep itself."""
_MAX_SECONDS: Final = 7 * 24 * 3600.0


def run_request(command: Command) -> dict[str, Any]:
    if not command.argv or not command.argv[0]:
        raise InputError("The command is empty.", hint="Give a program to run.", details={"field": "argv"})
    for part in command.argv:
        _check_part(part, "argv")
    variables = {**command.environment, **command.secrets}
    check_variables(variables)
    check_seconds(command.timeout)
    size = sum(map(len, command.argv)) + sum(len(name) + len(value) for name, value in variables.items())
    if size > MAX_REQUEST // 8:
        raise LimitError(
            f"The command and its environment have {size} characters; at most {MAX_REQUEST // 8} can be passed.",
            hint="Write what is long to a file, and give its path.",
            details={"field": "argv", "limit": MAX_REQUEST // 8},
        )
    return {
        "op": "run",
        "argv": list(command.argv),
        "cwd": checked_path(command.cwd, field="cwd"),
        "environment": variables,
        "stdin": bool(command.stdin),
        "timeout": command.timeout,
    }


def checked_path(text: str, *, field: str = "path") -> str:
    """A path below the workspace that its file system can have."""
    path = workspace_path(text, field=field)
    try:
        longest = max(len(part.encode()) for part in path.split("/"))
    except UnicodeEncodeError:
        longest = None
    if longest is None or longest > _MAX_NAME or len(path.encode()) > _MAX_PATH:
        raise InvalidPathError(
            f"{field} {text[:200]!r} has a name that no file can have.",
            hint=f"Use Unicode text, at most {_MAX_NAME} bytes for each name and {_MAX_PATH} in all.",
            details={"field": field, "value": text[:200], "limit": _MAX_NAME},
        )
    return path


def check_seconds(seconds: float) -> None:
    if not 0 < seconds <= _MAX_SECONDS:
        raise InputError(
            f"A time of {seconds} seconds cannot be kept.",
            hint=f"Give a number above 0 and up to {_MAX_SECONDS:g}.",
            details={"field": "timeout", "value": seconds},
        )


def check_variables(variables: Mapping[str, str]) -> None:
    for name, value in variables.items():
        if not name or "=" in name:
            raise InputError(
                f"{name[:200]!r} is no name of a variable.",
                hint="Leave out '=' and give a name.",
                details={"field": "environment", "value": name[:200]},
            )
        _check_part(f"{name}={value}", "environment")


def _check_part(part: str, field: str) -> None:
    if "\0" in part:
        raise InputError(f"{field} holds a zero byte.", hint="Leave it out.", details={"field": field})
    if len(part) > _MAX_PART:
        raise LimitError(
            f"A part of {field} has {len(part)} characters; the system takes at most {_MAX_PART}.",
            hint="Write it to a file or to stdin instead.",
            details={"field": field, "limit": _MAX_PART},
        )
