"""Quoting the values of broken frontmatter, so that `description: Use when: ...` still loads."""

import re
from typing import Final

_KEY_LINE: Final = re.compile(r"(?P<head>(?P<indent> *)(?:- +)?[A-Za-z_][\w .-]{0,80}:[ \t]+)(?P<value>\S.*)")
_BLOCK_SCALAR: Final = re.compile(r"[|>][-+0-9]*[ \t]*(?:#.*)?")
_SOUND_QUOTED: Final = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')[ \t]*(?:#.*)?""")


def quote_values(text: str) -> str:
    """The text with every one-line value quoted that is not soundly quoted or a block scalar already.

    Indented lines that follow such a value and are neither keys nor list items belong to it.
    """
    lines = text.splitlines()
    out: list[str] = []
    index = 0
    block_indent = -1
    while index < len(lines):
        line = lines[index]
        index += 1
        indent = len(line) - len(line.lstrip(" "))
        if block_indent >= 0 and (not line.strip() or indent > block_indent):
            out.append(line)
            continue
        block_indent = -1
        match = _KEY_LINE.fullmatch(line)
        if match is None:
            out.append(line)
            continue
        value = match["value"].rstrip()
        if _BLOCK_SCALAR.fullmatch(value):
            block_indent = indent
            out.append(line)
            continue
        if _SOUND_QUOTED.fullmatch(value):
            out.append(line)
            continue
        while index < len(lines) and _continues(lines[index], indent):
            value += " " + lines[index].strip()
            index += 1
        out.append(f"{match['head']}{single_quoted(value)}")
    return "\n".join(out) + "\n"


def single_quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _continues(line: str, indent: int) -> bool:
    stripped = line.lstrip(" ")
    return (
        bool(stripped)
        and len(line) - len(stripped) > indent
        and not stripped.startswith("- ")
        and _KEY_LINE.fullmatch(line) is None
    )
