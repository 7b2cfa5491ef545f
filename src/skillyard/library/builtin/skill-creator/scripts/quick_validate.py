#!/usr/bin/env python3
"""Check that a folder is a valid Agent Skill.

Needs Python 3.9 or newer and nothing else. As a module: `validate_skill(path) -> (valid, message)`.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import stat
import sys
import unicodedata
from pathlib import Path
from typing import NamedTuple

MAX_FILE_BYTES = 1024 * 1024
MAX_FRONTMATTER = 256 * 1024
MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_COMPATIBILITY = 500
MAX_PROBLEMS = 50
FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")

_INVISIBLE_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u17b4\u17b5")
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")

_PLAIN_KEY = r"""(?![-?:][ \t])[^\s"'#&*!|>%@`{}\[\],][^:]*(?::[^\s:][^:]*)*"""
_FIELD = re.compile(rf"""(?:"([^"\\]*)"[ \t]*|'([^']*)'[ \t]*|({_PLAIN_KEY})):(?:[ \t]+(.*))?""")
_ITEM = re.compile(r"-(?:[ \t]|$)")
_COMMENT = re.compile(r"(?:^|[ \t])#[^\n]*", re.MULTILINE)
_SINGLE = re.compile(r"'((?:[^']|'')*)'")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\[\s\S])*)"')
_FLOW = re.compile(
    rf"(?<![^\s\[{{,:])(?:{_SINGLE.pattern}|{_DOUBLE.pattern})|{_COMMENT.pattern}|[][{{}}]", re.MULTILINE
)
_CLOSERS = {"[": "]", "{": "}"}
_BLOCK = re.compile(r"([|>])(?:[+-]?([1-9])?|([1-9])[+-])(?:[ \t]+#.*)?")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])|\n+")
_ESCAPES = str.maketrans('0abtnvfre \t"/\\N_LP', '\0\a\b\t\n\v\f\r\x1b \t"/\\\x85\xa0\u2028\u2029', "\n")


class Report(NamedTuple):
    """What was found: problems make a skill invalid, notes do not."""

    problems: list[str]
    notes: list[str]


class Field(NamedTuple):
    """A frontmatter field: its line, and its text, or None where it holds a list or a mapping."""

    line: int
    text: str | None
    readable: bool = True


class _BadValueError(Exception):
    """A value that YAML does not allow; the message says why and how to write it."""


def validate_skill(skill_path: str | os.PathLike[str]) -> tuple[bool, str]:
    """Whether the folder holds a valid skill, and `Skill is valid` or every problem, one a line."""
    problems = check_skill(skill_path).problems
    return (False, "\n".join(problems)) if problems else (True, "Skill is valid")


def check_skill(skill_path: str | os.PathLike[str]) -> Report:
    """Every problem and note about the skill in a folder; never raises, whatever the folder holds."""
    report = Report([], [])
    try:
        # Links are not followed: an installed skill goes by the name of its link.
        folder = Path(os.path.abspath(skill_path))  # noqa: PTH100
        content = _read_skill_md(folder, report.problems)
    except (OSError, ValueError) as error:
        report.problems.append(f"SKILL.md cannot be read: {_shown(error)}")
        return report
    lines = None if content is None else _frontmatter(content, report.problems)
    if lines is None:
        return report
    fields = _read_fields(lines, report.problems)
    _check_name(fields.get("name"), folder.name, report.problems)
    _check_description(fields.get("description"), report)
    if "compatibility" in fields:
        _check_text("compatibility", fields["compatibility"], MAX_COMPATIBILITY, report.problems)
    unknown = [_shown(key) for key in fields if key not in FIELDS][:10]
    if unknown:
        report.notes.append(f"not in the specification, so agents may ignore it: {', '.join(unknown)}")
    return report


def name_problems(name: str) -> list[str]:
    """Each rule of the specification that a skill name breaks."""
    name = _normal(name)
    problems: list[str] = []
    if len(name) > MAX_NAME:
        problems.append(f"name has {len(name)} characters; at most {MAX_NAME} are allowed")
    if name != name.lower():
        problems.append(f"name {_shown(name)} has upper-case letters; write it in lower case")
    if name.startswith("-") or name.endswith("-") or "--" in name:
        problems.append(f"name {_shown(name)} may have single hyphens only, and only between words")
    wrong = {char for char in name if char in _INVISIBLE_LETTERS or not (char.isalnum() or char == "-")}
    if wrong or not name:
        found = f"found {' '.join(ascii(char) for char in sorted(wrong)[:10])}" if wrong else "it is empty"
        problems.append(f"name {_shown(name)} may have letters, digits and hyphens only; {found}")
    if name in _DEVICES:
        problems.append(f"name {_shown(name)} is a device name on Windows; choose another")
    return problems


def _normal(name: str) -> str:
    # It takes quadratic time on accents without end; what is longer is no name anyway.
    return unicodedata.normalize("NFKC", name[:1024])


def _check_name(field: Field | None, folder: str, problems: list[str]) -> None:
    if not _check_text("name", field, MAX_FRONTMATTER, problems) or field is None or field.text is None:
        return
    problems.extend(f"line {field.line}: {problem}" for problem in name_problems(field.text))
    if _normal(field.text) != _normal(folder):
        problems.append(f"line {field.line}: name {_shown(field.text)} must equal the folder's name {_shown(folder)}")


def _check_description(field: Field | None, report: Report) -> None:
    _check_text("description", field, MAX_DESCRIPTION, report.problems)
    if field is not None and field.text is not None:
        if "<" in field.text or ">" in field.text:
            report.problems.append(f"line {field.line}: description may not have angle brackets (< or >)")
        if field.text.startswith("TODO"):
            report.notes.append("description still starts with TODO")


def _check_text(key: str, field: Field | None, limit: int, problems: list[str]) -> bool:
    if field is None:
        problems.append(f"{key} is missing; add a line `{key}: ...` to the frontmatter")
    elif not field.readable:
        return False
    elif field.text is None:
        problems.append(f"line {field.line}: {key} is not text; put it in double quotes")
    elif not field.text:
        problems.append(f"line {field.line}: {key} is empty")
    elif len(field.text) > limit:
        problems.append(f"line {field.line}: {key} has {len(field.text)} characters; at most {limit} are allowed")
    else:
        return True
    return False


def _read_skill_md(folder: Path, problems: list[str]) -> str | None:
    path = folder / "SKILL.md"
    if not folder.is_dir():
        problems.append(f"{_shown(folder)} is not a folder; give the folder that holds SKILL.md")
        return None
    if not os.path.lexists(path):
        rename = "; rename skill.md to it" if os.path.lexists(folder / "skill.md") else ""
        problems.append(f"SKILL.md is missing{rename}")
        return None
    # Asked before opening: to open a pipe would wait for ever.
    if not stat.S_ISREG(path.lstat().st_mode):
        problems.append("SKILL.md must be an ordinary file, not a link, a folder or a device")
        return None
    with path.open("rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        problems.append(f"SKILL.md has more than {MAX_FILE_BYTES} bytes; move detail into references/")
        return None
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        problems.append(f"SKILL.md is not UTF-8 text (byte {error.start}); save it as UTF-8")
        return None


def _frontmatter(content: str, problems: list[str]) -> list[str] | None:
    """The lines of the frontmatter with its opening fence, so that an index is a line number less one."""
    lines = content.split("\n")
    if lines[0].rstrip(" \t") != "---":
        problems.append("line 1: SKILL.md must start with frontmatter, after a line that holds only ---")
        return None
    end = next((n for n in range(1, len(lines)) if lines[n].rstrip(" \t") == "---"), None)
    if end is None:
        problems.append("the frontmatter is never closed; end it with a line that holds only ---")
        return None
    if sum(map(len, lines[:end])) > MAX_FRONTMATTER:
        problems.append(f"the frontmatter has more than {MAX_FRONTMATTER} characters; move detail into the body")
        return None
    for number, line in enumerate(lines[:end], start=1):
        control = _CONTROL.search(line)
        if control:
            problems.append(f"line {number}: delete the control character {control.group()!a}")
            return None
    # `...` is how YAML ends a document.
    return lines[: end - 1] if lines[end - 1].rstrip(" \t") == "..." else lines[:end]


def _read_fields(lines: list[str], problems: list[str]) -> dict[str, Field]:
    """The top-level fields. What is nested in a list or a mapping is skipped, not checked."""
    fields: dict[str, Field] = {}
    starts = [n for n, line in enumerate(lines) if n and line.strip(" \t") and not _belongs_above(line)]
    ends = [*starts[1:], len(lines)]
    for start, end in zip(starts, ends):  # noqa: B905 - `strict` came with Python 3.10
        if len(problems) >= MAX_PROBLEMS:
            problems.append("there are more problems; fix these first")
            break
        number = start + 1
        match = _FIELD.fullmatch(lines[start].rstrip(" \t"))
        if match is None:
            problems.append(f"line {number}: expected `field: value`, found {_shown(lines[start])}")
            continue
        key = next(part for part in match.groups()[:3] if part is not None).rstrip(" \t")
        if key in fields:
            problems.append(f"line {number}: {_shown(key)} is there twice; keep one")
        try:
            field = Field(number, _value(match.group(4) or "", lines[number:end]))
        except _BadValueError as error:
            problems.append(f"line {number}: {_shown(key)} {error}")
            field = Field(number, None, readable=False)
        fields.setdefault(key, field)
    return fields


def _belongs_above(line: str) -> bool:
    """Whether a line is a comment or goes on with the field before it."""
    return line[0] in " \t#]}" or _ITEM.match(line) is not None


def _value(first: str, below: list[str]) -> str | None:
    """The text of a value from what follows the colon and the lines below; None for a list or a mapping."""
    if not first or first.startswith("#"):
        below = below[next((n for n, line in enumerate(below) if _COMMENT.sub("", line).strip()), len(below)) :]
        if not below:
            return ""
        first, below = below[0].strip(" \t"), below[1:]
        if _ITEM.match(first) or _FIELD.fullmatch(first):
            return None
    if first[0] in _CLOSERS:
        return _skip_flow("\n".join([first, *below]))
    if any(line[:1] not in ("", " ", "\t", "#") for line in below):
        raise _BadValueError("is followed by a list or a bracket that does not belong to it")
    if first[0] in "\"'":
        return _quoted_text("\n".join([first, *below]))
    return _block_text(first, below) if first[0] in "|>" else _plain_text([first, *below])


def _skip_flow(text: str) -> None:
    closers: list[str] = []
    for token in _FLOW.finditer(text):
        mark = token.group()
        if mark in _CLOSERS:
            closers.append(_CLOSERS[mark])
        elif mark in _CLOSERS.values():
            if mark != closers.pop():
                raise _BadValueError("has brackets that do not match")
            if not closers:
                if _COMMENT.sub("", text[token.end() :]).strip():
                    raise _BadValueError("goes on after the closing bracket; put the whole value in double quotes")
                return
    raise _BadValueError("has a bracket that is never closed; put text that starts with one in double quotes")


def _quoted_text(text: str) -> str:
    match = (_SINGLE if text[0] == "'" else _DOUBLE).match(text)
    if match is None:
        raise _BadValueError("has a quote that is never closed; lines it goes on in must be indented")
    if _COMMENT.sub("", text[match.end() :]).strip():
        raise _BadValueError("goes on after the closing quote; write quotes inside it as \\\" or ''")
    inside = "\n".join(line.strip(" \t") for line in match.group(1).split("\n"))
    if text[0] == "'":
        return _folded(inside).replace("''", "'").strip()
    return _ESCAPE.sub(_unescaped, inside).strip()


def _plain_text(lines: list[str]) -> str:
    first = lines[0]
    if first[0] in "&*!%@`,]}" or _ITEM.match(first) or first[:2] in ("? ", ": "):
        raise _BadValueError(f"starts with {first[0]!r}; put the value in double quotes")
    texts = [_COMMENT.sub("", line).strip(" \t") for line in lines]
    if any(": " in text or ":\t" in text or text.endswith(":") for text in texts):
        raise _BadValueError("has a colon before a space; put the value in double quotes")
    comment = next((n for n, line in enumerate(lines) if _COMMENT.search(line)), len(lines))
    if any(texts[comment + 1 :]):
        raise _BadValueError("goes on after a comment; put the value in double quotes")
    return _folded("\n".join(texts)).strip()


def _block_text(header: str, lines: list[str]) -> str:
    match = _BLOCK.fullmatch(header)
    if match is None:
        raise _BadValueError(f"starts with {header[0]!r}; put the value in double quotes")
    widths = [len(line) - len(line.lstrip(" ")) for line in lines if line.strip(" ") and line[0] != "#"]
    margin = int(match.group(2) or match.group(3) or (widths[0] if widths else 0))
    if any(width < margin for width in widths):
        raise _BadValueError("has a line that is indented less than its first")
    text = "\n".join(line[margin:].rstrip(" \t") for line in lines)
    return (_folded(text) if match.group(1) == ">" else text).strip()


def _folded(text: str) -> str:
    """Lines joined as YAML does it: a single break becomes a space, an empty line a break."""
    return re.sub(r"\n+", lambda match: match.group()[1:] or " ", text)


def _unescaped(match: re.Match[str]) -> str:
    code: str | None = match.group(1)
    if code is None:
        return match.group()[1:] or " "
    if ord(code[0]) in _ESCAPES:
        return code.translate(_ESCAPES)
    try:
        return chr(int(code[1:], 16))
    except (ValueError, OverflowError):
        raise _BadValueError(f"has the unknown escape \\{code}; write \\\\{code} or use single quotes") from None


def _shown(value: object) -> str:
    return repr(str(value)[:80])


def main() -> int:
    """Check the folder named on the command line."""
    parser = argparse.ArgumentParser(
        description="Check that a folder is a valid Agent Skill.",
        epilog="Exit codes: 0 valid, 1 not valid (every problem is printed, one a line), 2 wrong usage.",
    )
    parser.add_argument("skill", help="the folder that holds SKILL.md")
    path: str = parser.parse_args().skill
    for stream in (sys.stdout, sys.stderr):
        # A name in another script must not break the report on a terminal that cannot show it.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    report = check_skill(path)
    print("\n".join(report.problems) or "Skill is valid")
    for note in report.notes:
        print(f"note: {note}", file=sys.stderr)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
