"""What is a safe path inside a skill, on every disk it may be written to."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from skillyard.skill.bundle_rules import bundle_finding
from skillyard.skill.limits import MAX_PATH_BYTES, MAX_PATH_DEPTH
from skillyard.skill.models import Finding, has_errors
from skillyard.skill.names import hidden_characters, is_device_name

MAX_SEGMENT_BYTES: Final = 255

_PRINTED_CHARACTERS: Final = 120
_DRIVE: Final = re.compile(r"[a-zA-Z]:")
_NOT_PORTABLE: Final = re.compile(r'[<>:"|?*]')
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_BARELY_SEEN: Final = re.compile("[\u034f\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Joiners and variation selectors: names that differ only by these look the same."""


def path_findings(path: str) -> list[Finding]:
    """Everything that makes a path unfit for a skill; empty when it is fine everywhere."""
    name = printable(path)
    return [bundle_finding(code, f"The path '{name}' {problem}.", file=name) for code, problem in _problems(path)]


def is_safe_segment(segment: str) -> bool:
    """Whether a text can be the name of one file or folder."""
    return "/" not in segment and not has_errors(path_findings(segment))


def collision_findings(files: Iterable[str], folders: Iterable[str] = ()) -> list[Finding]:
    """Paths that some disk takes for one: equal but for case or Unicode form, or file and folder.

    Paths that are too long or too deep, which no skill may have, are passed over.
    """
    findings: list[Finding] = []
    seen: dict[str, tuple[str, bool]] = {}
    paths = [*((path, True) for path in sorted(files)), *((path, False) for path in sorted(folders))]
    for path, is_file in paths:
        if _is_too_long(path) or path.count("/") >= MAX_PATH_DEPTH:
            continue
        for key, spelling in _steps(path):
            step = (spelling, is_file and spelling == path)
            known = seen.get(key)
            if known is None:
                seen[key] = step
            elif known != step or step[1]:
                message = f"The paths '{printable(known[0])}' and '{printable(path)}' are one on some disks."
                findings.append(bundle_finding("path-collision", message, file=printable(path)))
                break
    return findings


def is_utf8(path: str) -> bool:
    """Whether a path can be written as UTF-8; one decoded from other bytes cannot."""
    return _SURROGATE.search(path) is None


def printable(path: str) -> str:
    """A path as it can stand in a message: what cannot be seen is escaped, the length bounded."""
    cut = path if len(path) <= _PRINTED_CHARACTERS else f"{path[:_PRINTED_CHARACTERS]}…"
    if cut.isprintable():
        return cut
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in cut)


def _problems(path: str) -> Iterator[tuple[str, str]]:
    size = len(path.encode(errors="surrogatepass"))
    if size > MAX_PATH_BYTES:
        yield "path-length", f"has {size} bytes; at most {MAX_PATH_BYTES} are allowed"
        return
    absolute = path.startswith(("/", "\\")) or _DRIVE.match(path)
    parts = path.split("/")
    if absolute:
        yield "path-absolute", "is absolute"
    elif "" in parts:
        yield "path-empty", "is empty or has an empty name in it"
    if len(parts) > MAX_PATH_DEPTH:
        yield "path-depth", f"is {len(parts)} names deep; at most {MAX_PATH_DEPTH} are allowed"
    if "\\" in path:
        yield "path-backslash", "has a backslash, which some systems take for a separator"
    if _NOT_PORTABLE.search(path) and not absolute:
        yield "path-portable", "has a character that Windows does not allow"
    if not is_utf8(path):
        yield "path-encoding", "is not UTF-8"
    elif hidden_characters(path) or "\n" in path or "\t" in path:
        yield "path-hidden", "holds control characters or others that cannot be seen"
    yield from _name_problems(parts)


def _is_too_long(path: str) -> bool:
    return len(path) > MAX_PATH_BYTES or any(len(part) > MAX_SEGMENT_BYTES for part in path.split("/"))


def _name_problems(parts: list[str]) -> Iterator[tuple[str, str]]:
    if any(len(part.encode(errors="surrogatepass")) > MAX_SEGMENT_BYTES for part in parts):
        yield "path-length", f"has a name of more than {MAX_SEGMENT_BYTES} bytes"
        return
    if any(map(_leads_away, parts)):
        yield "path-escape", "has a part such as `..` that leads elsewhere"
    if any(part.endswith((".", " ")) and part not in {".", ".."} for part in parts):
        yield "path-edge", "has a name that ends in a dot or a space"
    if any(map(is_device_name, parts)):
        yield "path-reserved", "has a name that is a device on Windows"


def _leads_away(part: str) -> bool:
    # Full-width and other look-alikes become `.`, `/` and `\` in programs that normalise names.
    normal = part if part.isascii() else unicodedata.normalize("NFKC", part)
    return normal in {".", ".."} or (normal != part and ("/" in normal or "\\" in normal))


def _steps(path: str) -> Iterator[tuple[str, str]]:
    """Each folder on the way and the path itself, as `(what disks may compare, how it is spelled)`."""
    parts = path.split("/")
    key = ""
    for depth, part in enumerate(parts, start=1):
        key = f"{key}/{_folded(part)}"
        yield key, "/".join(parts[:depth])


def _folded(name: str) -> str:
    if name.isascii():
        return name.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return _BARELY_SEEN.sub("", folded)
