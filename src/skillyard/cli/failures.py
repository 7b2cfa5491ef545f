"""The one table from exception to message, fixing command and exit code."""

import errno
from typing import Final

import typer

from skillyard.cli.output import Failure
from skillyard.errors import SkillyardError

INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141

_DEBUG_HINT: Final = "This is our mistake. Run it again with SKILLYARD_DEBUG=1 and report what it prints."

_SYSTEM: Final[dict[int, tuple[str, int, str]]] = {
    errno.ENOENT: ("not_found", 3, "Check the path."),
    errno.ENOTDIR: ("not_found", 3, "Check the path."),
    errno.EACCES: ("not_allowed", 4, "Change its permissions, or choose another place."),
    errno.EPERM: ("not_allowed", 4, "Change its permissions, or choose another place."),
    errno.EROFS: ("not_allowed", 4, "The disk is read-only; choose another place."),
    errno.EEXIST: ("conflict", 5, "Move what is there out of the way."),
    errno.ENOTEMPTY: ("conflict", 5, "Move what is there out of the way."),
    errno.ENOSPC: ("unavailable", 1, "Free some space on that disk."),
    errno.ENAMETOOLONG: ("invalid_input", 1, "Use a shorter path."),
}


def failure_of(error: BaseException) -> Failure:
    """What is said about an exception that reached `main()`."""
    if isinstance(error, SkillyardError):
        return _failure(error.code, error.message, error.hint, error.exit_code, error.details)
    if isinstance(error, typer.TyperException):
        return _failure("usage", _usage_message(error), _help_hint(error), error.exit_code)
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return _failure("interrupted", "Interrupted.", "", INTERRUPTED)
    if isinstance(error, OSError):
        code, exit_code, hint = _SYSTEM.get(error.errno or 0, ("unavailable", 1, "Try again."))
        reason = error.strerror or str(error) or type(error).__name__
        message = f"{error.filename}: {reason}." if error.filename else f"{reason}."
        return _failure(code, message, hint, exit_code)
    if isinstance(error, MemoryError):
        return _failure("limit_exceeded", "There is not enough memory for this.", "Work on fewer skills.", 1)
    return _failure("internal", f"{type(error).__name__}: {error}", _DEBUG_HINT, 1)


def _usage_message(error: typer.TyperException) -> str:
    """What is wrong with the words of a command; for a value, what its option takes."""
    parameter = getattr(error, "param", None)
    if parameter is None or error.__cause__ is None:
        return error.format_message()
    described = parameter.type_descriptor
    if described.choices:
        taken = f"one of {', '.join(str(getattr(choice, 'value', choice)) for choice in described.choices)}"
    elif described.annotation is int:
        taken = f"a whole number{_range(parameter.min, parameter.max)}"
    else:
        return error.format_message()
    name = parameter.metavar if parameter.param_type_name == "argument" else max(parameter.opts, key=len)
    return f"{name} takes {taken}."


def _range(least: int | None, most: int | None) -> str:
    if least is not None and most is not None:
        return f" from {least} to {most}"
    return "" if least is None else f" of at least {least}"


def _help_hint(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    return f"`{context.command_path} --help` shows how it is used." if context is not None else ""


def _failure(code: str, message: str, hint: str, exit_code: int, details: dict[str, object] | None = None) -> Failure:
    return Failure(code=code, message=message, hint=hint, exit_code=exit_code, details=details or {})
