"""What changed between two bundles, file by file."""

import difflib
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from skillyard.skill.bundle import Bundle, BundleFile
from skillyard.skill.limits import MIB

MAX_TEXT_BYTES: Final = 1 * MIB
"""A larger file is compared as a whole."""
MAX_TEXT_IN_ALL: Final = 4 * MIB
MAX_MATCHED_LINES: Final = 1_000
"""Differing lines of one file that are matched with each other: the work may grow with their square."""
MAX_MATCHED_IN_ALL: Final = 3_000
MAX_SHOWN_LINES: Final = 2_000
MAX_SHOWN_IN_ALL: Final = 10_000
MAX_LINE: Final = 1_000

_CONTEXT: Final = 3

_OpCode = tuple[str, int, int, int, int]


class Change(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, kw_only=True, slots=True)
class FileState:
    """One side of a change."""

    size: int
    sha256: str
    executable: bool

    def as_dict(self) -> dict[str, Any]:
        return {"size": self.size, "sha256": self.sha256, "executable": self.executable}


@dataclass(frozen=True, kw_only=True, slots=True)
class FileDiff:
    """A file that is not the same in both bundles."""

    path: str
    change: Change
    old: FileState | None
    new: FileState | None
    binary: bool = False
    lines: tuple[str, ...] = ()
    """The hunks of a unified diff; empty for a binary file."""
    truncated: bool = False
    """Whether more differs than `lines` show."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "change": self.change.value,
            "old": self.old.as_dict() if self.old else None,
            "new": self.new.as_dict() if self.new else None,
            "binary": self.binary,
            "truncated": self.truncated,
            "diff": "\n".join(self.lines),
        }

    def unified(self) -> Iterator[str]:
        """The lines of the change as `git diff` writes them."""
        yield f"diff --git a/{self.path} b/{self.path}"
        if self.old and self.new and self.old.executable != self.new.executable:
            yield f"old mode {_mode(self.old)}"
            yield f"new mode {_mode(self.new)}"
        elif self.new and not self.old:
            yield f"new file mode {_mode(self.new)}"
        elif self.old and not self.new:
            yield f"deleted file mode {_mode(self.old)}"
        if self.lines:
            yield f"--- a/{self.path}" if self.old else "--- /dev/null"
            yield f"+++ b/{self.path}" if self.new else "+++ /dev/null"
            yield from self.lines
        if self.binary:
            yield f"Binary file: {_summary(self.old)} -> {_summary(self.new)}"
        elif self.truncated:
            yield f"Not all is shown: {_summary(self.old)} -> {_summary(self.new)}"


@dataclass(frozen=True, kw_only=True, slots=True)
class BundleDiff:
    """All files that differ, by path. Text is as it is in the files: make it safe where it is shown."""

    old_digest: str
    new_digest: str
    files: tuple[FileDiff, ...]

    @property
    def added(self) -> tuple[FileDiff, ...]:
        return self._of(Change.ADDED)

    @property
    def removed(self) -> tuple[FileDiff, ...]:
        return self._of(Change.REMOVED)

    @property
    def changed(self) -> tuple[FileDiff, ...]:
        return self._of(Change.CHANGED)

    def __bool__(self) -> bool:
        return bool(self.files)

    def as_dict(self) -> dict[str, Any]:
        return {
            "old_digest": self.old_digest,
            "new_digest": self.new_digest,
            "files": [file.as_dict() for file in self.files],
        }

    def unified(self) -> str:
        """One text for people, in the form of `git diff`."""
        return "".join(f"{line}\n" for file in self.files for line in file.unified())

    def _of(self, change: Change) -> tuple[FileDiff, ...]:
        return tuple(file for file in self.files if file.change is change)


def diff_bundles(old: Bundle, new: Bundle) -> BundleDiff:
    """Compares two bundles; time and output are bounded, whatever is in them."""
    budget = _Budget()
    files: list[FileDiff] = []
    for path in sorted({file.path for file in (*old, *new)}):
        before, after = old.get(path), new.get(path)
        if before != after:
            files.append(_file_diff(path, before, after, budget))
    return BundleDiff(old_digest=old.digest, new_digest=new.digest, files=tuple(files))


class _Budget:
    """How much comparing and showing is left for the files to come."""

    def __init__(self) -> None:
        self.matched = MAX_MATCHED_IN_ALL
        self.shown = MAX_SHOWN_IN_ALL
        self.text = MAX_TEXT_IN_ALL

    def may_split(self, size: int) -> bool:
        if not self.shown or size > min(MAX_TEXT_BYTES, self.text):
            return False
        self.text -= size
        return True

    def may_match(self, lines: int) -> bool:
        if lines > min(MAX_MATCHED_LINES, self.matched):
            return False
        self.matched -= lines
        return True

    def cut(self, lines: Iterator[str]) -> tuple[tuple[str, ...], bool]:
        """As many of the lines as may be shown, and whether that is fewer than there are."""
        limit = min(MAX_SHOWN_LINES, self.shown)
        shown: list[str] = []
        truncated = False
        for line in lines:
            if len(shown) == limit:
                truncated = True
                break
            truncated |= len(line) > MAX_LINE
            shown.append(line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…")
        self.shown -= len(shown)
        return tuple(shown), truncated


def _file_diff(path: str, old: BundleFile | None, new: BundleFile | None, budget: _Budget) -> FileDiff:
    change = Change.CHANGED if old and new else Change.ADDED if new else Change.REMOVED
    diff = FileDiff(path=path, change=change, old=_state(old), new=_state(new))
    before, after = (file.data if file else b"" for file in (old, new))
    if before == after:
        return diff
    old_text, new_text = _text(before), _text(after)
    if old_text is None or new_text is None:
        return replace(diff, binary=True)
    if not budget.may_split(max(len(before), len(after))):
        return replace(diff, truncated=True)
    lines, truncated = budget.cut(_hunks(_lines(old_text), _lines(new_text), budget))
    return replace(diff, lines=lines, truncated=truncated)


def _hunks(old: Sequence[str], new: Sequence[str], budget: _Budget) -> Iterator[str]:
    """The hunks of a unified diff. Only what lies between the equal ends is compared."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    start = max(0, head - _CONTEXT)
    before = old[start : len(old) - tail + min(tail, _CONTEXT)]
    after = new[start : len(new) - tail + min(tail, _CONTEXT)]
    for group in _groups(before, after, head - start, min(tail, _CONTEXT), budget):
        _, old_from, _, new_from, _ = group[0]
        _, _, old_to, _, new_to = group[-1]
        old_span, new_span = (
            _span(start + old_from, old_to - old_from),
            _span(start + new_from, new_to - new_from),
        )
        yield f"@@ -{old_span} +{new_span} @@"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from _marked(" ", before[i1:i2])
            else:
                yield from _marked("-", before[i1:i2])
                yield from _marked("+", after[j1:j2])


def _groups(
    old: Sequence[str], new: Sequence[str], head: int, tail: int, budget: _Budget
) -> Iterator[Sequence[_OpCode]]:
    if budget.may_match(max(len(old), len(new)) - head - tail):
        yield from difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(_CONTEXT)
        return
    old_end, new_end = len(old) - tail, len(new) - tail
    yield [
        ("equal", 0, head, 0, head),
        ("replace", head, old_end, head, new_end),
        ("equal", old_end, len(old), new_end, len(new)),
    ]


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines both start with."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(old), len(new)))


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _span(start: int, count: int) -> str:
    return f"{start + 1 if count else start},{count}"


def _lines(text: str) -> list[str]:
    # Not `splitlines`, which also splits at characters that other tools take for part of a line.
    *whole, rest = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([rest] if rest else [])]


def _text(data: bytes) -> str | None:
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _state(file: BundleFile | None) -> FileState | None:
    if file is None:
        return None
    digest = hashlib.sha256(file.data).hexdigest()
    return FileState(size=len(file.data), sha256=digest, executable=file.executable)


def _mode(state: FileState) -> str:
    return "100755" if state.executable else "100644"


def _summary(state: FileState | None) -> str:
    return f"{state.size} bytes, sha256 {state.sha256[:12]}" if state else "nothing"
