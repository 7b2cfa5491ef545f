"""Finding the frontmatter in the bytes of a `SKILL.md`: fences are whole lines."""

import codecs
import re
from typing import Final, NamedTuple

from skillyard.skill.limits import MAX_FRONTMATTER_BYTES, MAX_SKILL_MD_BYTES
from skillyard.skill.rules import Findings

_CLOSING_FENCE: Final = re.compile(rb"\n---[ \t]*(?:\r?\n|\r?\Z)")
_OPENING_FENCE: Final = re.compile(rb"---[ \t]*\r?\n")
_LATE_FENCE: Final = re.compile(rb"\s*\n---[ \t]*\r?\n")


class Frontmatter(NamedTuple):
    """The text between the fences, where it starts, and the bytes that follow it."""

    text: str
    line: int
    body: bytes
    body_line: int


def split_frontmatter(data: bytes, findings: Findings) -> Frontmatter | None:
    """The frontmatter of a file, or None with a finding that says why there is none."""
    if len(data) > MAX_SKILL_MD_BYTES:
        findings.add(
            "file-too-large",
            f"The file has {len(data):,} bytes; at most {MAX_SKILL_MD_BYTES:,} are read.",
        )
        return None
    data = _as_utf8(data, findings)
    opening = _OPENING_FENCE.match(data)
    if opening is None:
        opening = _LATE_FENCE.match(data)
        if opening is None:
            findings.add("frontmatter-missing", "The file does not start with frontmatter.", line=1)
            return None
        line = data.count(b"\n", 0, opening.end()) + 1
        findings.add("frontmatter-late", f"The frontmatter starts on line {line - 1}, not on line 1.", line=line - 1)
    else:
        line = 2
    start = opening.end()
    closing = _CLOSING_FENCE.search(data, start - 1)
    if closing is None:
        findings.add("frontmatter-unclosed", "The frontmatter is never closed.", line=line - 1)
        return None
    raw = data[start : closing.start() + 1]
    if len(raw) > MAX_FRONTMATTER_BYTES:
        findings.add(
            "frontmatter-too-large",
            f"The frontmatter has {len(raw):,} bytes; at most {MAX_FRONTMATTER_BYTES:,} are read.",
            line=line - 1,
        )
        return None
    body_line = line + data.count(b"\n", start, closing.end())
    return Frontmatter(_decode(raw, findings), line, data[closing.end() :], body_line)


def _as_utf8(data: bytes, findings: Findings) -> bytes:
    if data.startswith(codecs.BOM_UTF8):
        findings.add("encoding-bom", "The file starts with a byte order mark.", line=1)
        data = data[len(codecs.BOM_UTF8) :]
    elif data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        findings.add("encoding-utf16", "The file is UTF-16, not UTF-8.", line=1)
        data = data.decode("utf-16", "replace").encode()
    if b"\r" in data and b"\n" not in data:
        return data.replace(b"\r", b"\n")
    return data


def _decode(raw: bytes, findings: Findings) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        findings.add(
            "encoding-invalid",
            f"Byte {error.start} of the frontmatter is not UTF-8; it reads as U+FFFD.",
        )
        return raw.decode("utf-8", "replace")
