"""Changing one entry of a hand-written JSON file: every comment, every other key and every blank stays where it was."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from skillyard.errors import InputError
from skillyard.library.jsonc import parse_jsonc
from skillyard.library.key_paths import table_for, take_out

MAX_CHARACTERS: Final = 32 * 1024 * 1024
"""Some clients keep all that they ever heard in the same file."""
_TOKEN: Final = re.compile(
    r"""
    (?P<string>"(?:[^"\\\n]|\\[^\n])*")
    |(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<space>[\s\ufeff]+)
    |(?P<mark>[\[\]{}:,])
    |(?P<other>[^\s"\[\]{}:,/]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_REST_OF_LINE: Final = re.compile(r"[ \t]*\r?(?:\n|$)")
_BLANKS: Final = re.compile(r"[ \t]*")
_UNIT: Final = "  "


@dataclass(frozen=True, kw_only=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Member:
    key: str
    start: int
    value: "_Value"
    comma: int | None
    """Where the comma after it is, if there is one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Value:
    start: int
    end: int
    members: tuple[_Member, ...] | None
    """Of an object; None for anything else."""

    def last(self, key: str) -> _Member | None:
        """The member that counts: of two of one name, the later."""
        return next((member for member in reversed(self.members or ()) if member.key == key), None)


def parse_json_text(text: str, *, file: str) -> dict[str, Any]:
    """The object in a text; an empty one for a text with nothing in it but comments."""
    if _is_blank(text):
        return {}
    value = parse_jsonc(text, file=file, most=MAX_CHARACTERS)
    if not isinstance(value, dict):
        raise InputError(
            f"{file} holds no table of settings.", hint="Put the settings between { and }.", details={"file": file}
        )
    return cast("dict[str, Any]", value)


def with_entry(text: str, path: Sequence[str], entry: object, *, file: str) -> str:
    """The text with an entry at a path of keys, new or in place of what is there."""
    expected = parse_json_text(text, file=file)
    table_for(expected, path, file=file)[path[-1]] = entry
    if _is_blank(text):
        gap = "" if not text or text.endswith("\n") else "\n"
        text = f"{text}{gap}{{}}\n"
    return _checked(_set(text, _tree(text), path, entry), expected, file)


def without_entry(text: str, path: Sequence[str], *, file: str) -> str:
    """The text without the entry at a path of keys; as it was when there is none."""
    expected = parse_json_text(text, file=file)
    if not take_out(expected, path):
        return text
    while (found := _find(_tree(text), path)) is not None:
        text = _removed(text, *found)
    return _checked(text, expected, file)


def _checked(text: str, expected: dict[str, Any], file: str) -> str:
    """The text, if it says what it should: an editor that errs must not cost anyone their settings."""
    if parse_json_text(text, file=file) != expected:
        raise InputError(
            f"{file} is written in a way that cannot be changed without a risk.",
            hint="Add the entry by hand.",
            details={"file": file},
        )
    return text


def _set(text: str, root: _Value, path: Sequence[str], entry: object) -> str:
    value = root
    for depth, key in enumerate(path):
        member = value.last(key)
        if member is None:
            whole = entry
            for missing in reversed(path[depth + 1 :]):
                whole = {missing: whole}
            return _inserted(text, root, value, key, whole)
        value = member.value
    indent = _indent_at(text, value.start)
    return f"{text[: value.start]}{_written(entry, text, root, indent)}{text[value.end :]}"


def _inserted(text: str, root: _Value, holder: _Value, key: str, entry: object) -> str:
    """The text with one more member at the end of an object, below all that is written there."""
    members = holder.members or ()
    if members and "\n" not in text[holder.start : holder.end]:
        return _inserted_in_line(text, members[-1], key, entry)
    base = _indent_at(text, holder.start)
    indent = _indent_at(text, members[0].start) if members else base + _unit(text, root)
    written = [token.end for token in _tokens(text, holder.start + 1, holder.end - 1) if token.kind != "space"]
    end = max(written, default=holder.start + 1)
    head, trailing = text[:end], ""
    if members and members[-1].comma is None:
        at = members[-1].value.end
        head = f"{text[:at]},{text[at:end]}"
    elif members:
        trailing = ","  # as the others have one
    newline = _newline(text)
    closing = "" if "\n" in text[end : holder.end - 1] else f"{newline}{base}"
    told = f"{_quoted(key)}: {_written(entry, text, root, indent)}"
    return f"{head}{newline}{indent}{told}{trailing}{closing}{text[end:]}"


def _inserted_in_line(text: str, last: _Member, key: str, entry: object) -> str:
    told = f"{_quoted(key)}: {json.dumps(entry, ensure_ascii=False)}"
    if last.comma is None:
        return f"{text[: last.value.end]}, {told}{text[last.value.end :]}"
    return f"{text[: last.comma + 1]} {told}{text[last.comma + 1 :]}"


def _removed(text: str, holder: _Value, member: _Member) -> str:
    """The text without a member, its comma, and the line that it leaves empty. Comments around it stay."""
    members = list(holder.members or ())
    start, end = member.start, member.value.end
    comma = member.comma
    if comma is None and member is not members[0]:
        comma = members[members.index(member) - 1].comma  # which is needed no more
    if comma is not None:
        text = f"{text[:comma]}{text[comma + 1 :]}"
        start, end = (start, end) if comma > start else (start - 1, end - 1)
    line = text.rfind("\n", 0, start) + 1
    rest = _REST_OF_LINE.match(text, end)
    if line and rest and not text[line:start].strip():
        return f"{text[:line]}{text[rest.end() :]}"
    return f"{text[:start]}{text[end:].lstrip(' ')}"


def _find(root: _Value, path: Sequence[str]) -> tuple[_Value, _Member] | None:
    holder = root
    for key in path[:-1]:
        member = holder.last(key)
        if member is None:
            return None
        holder = member.value
    member = holder.last(path[-1])
    return None if member is None else (holder, member)


def _written(entry: object, text: str, root: _Value, indent: str) -> str:
    told = json.dumps(entry, ensure_ascii=False, indent=_unit(text, root))
    return told.replace("\n", f"{_newline(text)}{indent}")


def _quoted(key: str) -> str:
    return json.dumps(key, ensure_ascii=False)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str, root: _Value) -> str:
    """How much deeper each level is written, by the first member of all."""
    first = (root.members or (None,))[0]
    return (_indent_at(text, first.start) if first else "") or _UNIT


def _indent_at(text: str, position: int) -> str:
    """The blanks that the line of a position begins with."""
    blanks = _BLANKS.match(text, text.rfind("\n", 0, position) + 1)
    return blanks[0] if blanks else ""


def _tokens(text: str, start: int = 0, end: int | None = None) -> Iterator[_Token]:
    position = start
    stop = len(text) if end is None else end
    while position < stop:
        match = _TOKEN.match(text, position, stop)
        if match is None:
            return  # a mistake, which parsing tells with its line
        yield _Token(kind=str(match.lastgroup), text=match[0], start=match.start(), end=match.end())
        position = match.end()


def _is_blank(text: str) -> bool:
    """Whether there is nothing in a text but blanks and comments."""
    end = 0
    for token in _tokens(text):
        if token.kind not in {"space", "comment"}:
            return False
        end = token.end
    return end == len(text)


def _significant(text: str) -> Iterator[_Token]:
    return (token for token in _tokens(text) if token.kind not in {"space", "comment"})


def _tree(text: str) -> _Value:
    return _Reader(text).value()


class _Reader:
    """Finds where each member of a text is that was found to be in order."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_significant(text))
        self._at = 0

    def value(self) -> _Value:
        first = self._next()
        if first.text == "{" and first.kind == "mark":
            return self._object(first)
        if first.text == "[" and first.kind == "mark":
            return self._list(first)
        return _Value(start=first.start, end=first.end, members=None)

    def _object(self, first: _Token) -> _Value:
        members: list[_Member] = []
        while (key := self._next()).text != "}":
            self._next()  # the colon
            value = self.value()
            comma = self._comma()
            members.append(_Member(key=json.loads(key.text), start=key.start, value=value, comma=comma))
        return _Value(start=first.start, end=key.end, members=tuple(members))

    def _list(self, first: _Token) -> _Value:
        while self._tokens[self._at].text != "]":
            self.value()
            self._comma()
        return _Value(start=first.start, end=self._next().end, members=None)

    def _comma(self) -> int | None:
        token = self._tokens[self._at]
        if token.text != "," or token.kind != "mark":
            return None
        self._at += 1
        return token.start

    def _next(self) -> _Token:
        token = self._tokens[self._at]
        self._at += 1
        return token
