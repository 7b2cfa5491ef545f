"""Paths that people give: relative to the workspace, and never out of it."""

from typing import Literal, TypeAlias

from skillyard.errors import InvalidPathError
from skillyard.sandbox.place import WORKSPACE

Reason: TypeAlias = Literal["empty_path", "null_byte", "absolute_path", "path_traversal"]


def workspace_path(text: str, *, field: str = "path") -> str:
    """A path below the workspace as `relative_path` has it; the full name of the workspace is understood, too."""
    if text == WORKSPACE or text.startswith(f"{WORKSPACE}/"):
        return relative_path(text.removeprefix(WORKSPACE).lstrip("/") or ".", field=field)
    return relative_path(text, field=field)


def relative_path(text: str, *, field: str = "path") -> str:
    """The shortest spelling of a path relative to the workspace, `.` for itself.

    Whether a link leads out of the workspace is for whoever opens the path: this is about the words.
    """
    if not text:
        raise _refused(text, field, "empty_path", "is empty")
    if "\0" in text:
        raise _refused(text, field, "null_byte", "holds a zero byte")
    if text.startswith("/"):
        raise _refused(text, field, "absolute_path", "is absolute")
    parts: list[str] = []
    for part in text.split("/"):
        if part == "..":
            if not parts:
                raise _refused(text, field, "path_traversal", "leads out of the workspace")
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts) or "."


def _refused(text: str, field: str, reason: Reason, why: str) -> InvalidPathError:
    return InvalidPathError(
        f"{field} {text[:200]!r} {why}.",
        hint=f"Give a path relative to {WORKSPACE}, such as 'data/table.csv'.",
        details={"field": field, "value": text[:200], "reason": reason},
    )
