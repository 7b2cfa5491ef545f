"""Reading what a guest answers: each value is checked, for whoever wrote it may not be the guest."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeGuard, cast

from skillyard.errors import (
    BusyError,
    FileMissingError,
    InputError,
    InvalidPathError,
    LimitError,
    NotAllowedError,
    SandboxFaultError,
    SkillyardError,
    UnavailableError,
)
from skillyard.redact import Secrets
from skillyard.sandbox.session import Ending, FileEntry

_MAX_MESSAGE: Final = 2000
_MAX_NAME: Final = 1024
_LONGEST_LABEL: Final = 500
"""Length at which a guest cuts the names of elements."""
_DIGEST: Final = "sha256:"
_DIGEST_LENGTH: Final = len(_DIGEST) + 64
_KINDS: Final = frozenset({"file", "folder", "link", "other"})
_MAX_NUMBER: Final = 2**63
_MAX_EXIT_CODE: Final = 255
_ERRORS: Final[Mapping[str, tuple[type[SkillyardError], str]]] = {
    "file_not_found": (FileMissingError, "List the folder to see what is there."),
    "invalid_path": (InvalidPathError, "Give a path that stays in the workspace, also through links."),
    "is_folder": (InputError, "Give the path of a file."),
    "not_folder": (InputError, "Give the path of a folder."),
    "not_file": (InputError, "Only plain files are read."),
    "refused": (InputError, "Pack files and folders only, with relative paths."),
    "too_large": (LimitError, "Ask for less at once, or make it smaller."),
    "no_space": (LimitError, "Delete files that are not needed, or use a sandbox with larger limits."),
    "denied": (NotAllowedError, "Change the mode of the file from within the sandbox."),
    "no_process": (UnavailableError, "Wait until something in the sandbox has ended, or restart the sandbox."),
    "busy": (BusyError, "Try again when the call under way has ended."),
}


def failure(answer: Mapping[str, Any], secrets: Secrets) -> SkillyardError:
    """The error that a refusal of the guest stands for."""
    said = answer.get("message")
    message = secrets.text(said, cut=len(said) >= _MAX_MESSAGE) if isinstance(said, str) else ""
    message = message[:_MAX_MESSAGE] or "The sandbox could not do it."
    kind, hint = _ERRORS.get(str(answer.get("code")), (SandboxFaultError, ""))
    return kind(message, hint=hint)


def ending(answer: Mapping[str, Any]) -> Ending:
    said = str(answer.get("ending"))
    return Ending(said) if said in {Ending.EXITED, Ending.KILLED, Ending.TIMEOUT} else Ending.KILLED


def exit_code(answer: Mapping[str, Any]) -> int | None:
    value = answer.get("exit_code")
    return int(value) if isinstance(value, int) and 0 <= value <= _MAX_EXIT_CODE else None


def number(answer: Mapping[str, Any], name: str) -> int:
    return int(amount(answer, name))


def amount(answer: Mapping[str, Any], name: str) -> float:
    value = answer.get(name)
    return value if isinstance(value, int | float) and 0 <= value < _MAX_NUMBER else 0


def images(data: bytes) -> tuple[Mapping[str, str], ...]:
    """Those that really are what they should be."""
    found = _parsed(data or b"[]")
    pictures = [
        cast("dict[str, Any]", image).get("image/png")
        for image in (cast("list[Any]", found) if isinstance(found, list) else [])
        if isinstance(image, dict)
    ]
    return tuple({"image/png": picture} for picture in pictures if _is_base64(picture))


def file_entries(folder: str, data: bytes, secrets: Secrets) -> Sequence[FileEntry]:
    entries: list[FileEntry] = []
    for line in data.splitlines():
        entry = _parsed(line)
        if not isinstance(entry, dict):
            raise SandboxFaultError("The sandbox lists its files in a way that is not understood.")
        entries.append(_file_entry(folder, cast("dict[str, Any]", entry), secrets))
    return entries


def tree_digests(paths: Sequence[str], data: bytes) -> Mapping[str, str | None]:
    found = _parsed(data)
    digests = cast("list[Any]", found) if isinstance(found, list) else []
    if len(digests) != len(paths) or not all(digest is None or _is_digest(digest) for digest in digests):
        raise SandboxFaultError("The sandbox gives digests in a way that is not understood.")
    return dict(zip(paths, digests, strict=True))


def redacted_target(answer: Mapping[str, Any], secrets: Secrets) -> Mapping[str, Any] | None:
    target = answer.get("target")
    return _redacted(cast("dict[str, Any]", target), secrets) if isinstance(target, dict) else None


def _redacted(value: Any, secrets: Secrets) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        return secrets.text(value, cut=len(value) >= _LONGEST_LABEL)
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {secrets.text(name): _redacted(inner, secrets) for name, inner in items}
    if isinstance(value, list):
        return [_redacted(inner, secrets) for inner in cast("list[Any]", value)]
    return value


def _file_entry(folder: str, entry: Mapping[str, Any], secrets: Secrets) -> FileEntry:
    name, kind = secrets.text(str(entry.get("name"))[:_MAX_NAME]), str(entry.get("kind"))
    return FileEntry(
        name=name,
        path=name if folder == "." else f"{folder}/{name}",
        kind=cast("Literal['file', 'folder', 'link', 'other']", kind if kind in _KINDS else "other"),
        size=number(entry, "size"),
        modified_at=_moment(amount(entry, "modified")),
        executable=entry.get("executable") is True,
    )


def _moment(seconds: float) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


def _parsed(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise SandboxFaultError("The sandbox answers in a way that is not understood.") from None


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and value.startswith(_DIGEST) and len(value) == _DIGEST_LENGTH and value.isascii()


def _is_base64(value: object) -> TypeGuard[str]:
    if not isinstance(value, str):
        return False
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
