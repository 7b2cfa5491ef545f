"""Changing one table of a hand-written TOML file: every comment, every other key and every blank stays where it was."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from skillyard.errors import InputError
from skillyard.library.key_paths import table_for, take_out

_HEADER: Final = re.compile(r"\s*\[\[?\s*(?P<keys>[^\[\]]+?)\s*\]\]?\s*(?:#.*)?")
_KEY: Final = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*(?:\.|$)""")
_STRING: Final = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|\'{3}.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|\#[^\n]*''', re.DOTALL
)
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def parse_toml_text(text: str, *, file: str) -> dict[str, Any]:
    """The settings in a text."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f"{file} is not TOML: {error}.", hint=f"Correct that place in {file}.", details={"file": file}
        ) from None


def with_table(text: str, path: Sequence[str], table: Mapping[str, Any], *, file: str) -> str:
    """The text with a table at a path of keys: at its end, or in place of the one that is there."""
    expected = parse_toml_text(text, file=file)
    present = table_for(expected, path, file=file)
    is_there = path[-1] in present
    present[path[-1]] = dict(table)
    newline = "\r\n" if "\r\n" in text else "\n"
    block = [f"{line}{newline}" for line in _lines(path, table)]
    lines = _lines_of(text)
    parts = _parts(lines, path)
    if is_there:
        for start, end in reversed(parts[1:]):
            del lines[start:end]
        for start, end in parts[:1]:
            lines[start:end] = block
    else:
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += newline
        lines += [*([newline] if lines and lines[-1].strip() else []), *block]
    return _checked("".join(lines), expected, file, path)


def without_table(text: str, path: Sequence[str], *, file: str) -> str:
    """The text without the table at a path of keys; as it was when there is none."""
    expected = parse_toml_text(text, file=file)
    if not take_out(expected, path):
        return text
    lines = _lines_of(text)
    for start, end in reversed(_parts(lines, path)):
        # The blank line before it came with it.
        before = (
            start - 1
            if start and not lines[start - 1].strip() and (end == len(lines) or not lines[end].strip())
            else start
        )
        del lines[before:end]
    return _checked("".join(lines), expected, file, path)


def _lines_of(text: str) -> list[str]:
    """Lines as TOML has them: other signs that some call line breaks may stand in a string."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _checked(text: str, expected: dict[str, Any], file: str, path: Sequence[str]) -> str:
    """The text, if it says what it should: an editor that errs must not cost anyone their settings.

    A table without anything in it may come or go with the one in it.
    """
    try:
        said: object = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        said = None
    if _bare(said) != _bare(expected):
        raise InputError(
            f"{'.'.join(path)} in {file} is written in a way that cannot be changed without a risk.",
            hint=f"Write it as a table of its own, [{'.'.join(map(_key, path))}], or change it by hand.",
            details={"file": file, "field": ".".join(path)},
        )
    return text


def _bare(value: object) -> object:
    """A value without the tables in it that are empty."""
    if not isinstance(value, dict):
        return value
    table = cast("dict[str, object]", value)
    return {key: kept for key, inner in table.items() if (kept := _bare(inner)) != {}}


def _parts(lines: Sequence[str], path: Sequence[str]) -> list[tuple[int, int]]:
    """Where the lines of a table, and of the tables in it, begin and end; comments below them are others'."""
    inside = _inside_strings("".join(lines))
    found_keys = ((at, _keys(line)) for at, line in enumerate(lines) if at not in inside)
    headers = [(at, keys) for at, keys in found_keys if keys is not None]
    found: list[tuple[int, int]] = []
    for place, (start, keys) in enumerate(headers):
        if keys[: len(path)] != tuple(path):
            continue
        end = headers[place + 1][0] if place + 1 < len(headers) else len(lines)
        while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
            end -= 1
        found.append((start, end))
    return found


def _inside_strings(text: str) -> set[int]:
    """The lines, from 0, that begin within a string of several lines."""
    lines: set[int] = set()
    for match in _STRING.finditer(text):
        if "\n" in match[0]:
            first = text.count("\n", 0, match.start()) + 1
            lines.update(range(first, first + match[0].count("\n")))
    return lines


def _keys(line: str) -> tuple[str, ...] | None:
    """The keys that a header names; None for a line that is none."""
    match = _HEADER.fullmatch(line.rstrip("\r\n"))
    if match is None:
        return None
    keys: list[str] = []
    rest = match["keys"]
    while rest:
        key = _KEY.match(rest)
        if key is None:
            return None
        keys.append(next(part for part in key.groups() if part is not None))
        rest = rest[key.end() :]
    return tuple(keys)


def _lines(path: Sequence[str], table: Mapping[str, Any]) -> Iterable[str]:
    yield f"[{'.'.join(map(_key, path))}]"
    for key, value in table.items():
        yield f"{_key(key)} = {_value(value)}"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: object) -> str:
    import tomlkit  # noqa: PLC0415 -- only writing needs it

    if isinstance(value, dict):
        inner = cast("dict[str, object]", value)
        return f"{{ {', '.join(f'{_key(key)} = {_value(each)}' for key, each in inner.items())} }}"
    return tomlkit.item(value).as_string()  # pyright: ignore[reportUnknownMemberType]
