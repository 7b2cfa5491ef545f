"""Code written so that nobody can read what it does."""

import re
from typing import Final

from skillyard.skill.models import Severity
from skillyard.skill.scan.rule import Level, Pattern, Rule

RULE: Final = Rule(
    code="scan-obfuscation",
    looks_for="Code that decodes and runs itself, strings spelled as character codes or escapes, encoded "
    "PowerShell, words that mix look-alike letters of two scripts.",
    why="Honest code has no reason to hide what it does from its reader.",
    fix="Write it in the clear.",
)

_RUN: Final = Level(Severity.ERROR, Severity.ERROR, Severity.WARNING)
_ODD: Final = Level(Severity.WARNING, Severity.WARNING, Severity.INFO)
_DECODERS: Final = (
    r"(?:base64\.\w{1,16}+|b64decode|(?:zlib|gzip|bz2|lzma)\.decompress|marshal\.loads|bytes\.fromhex|"
    r"binascii\.\w{2,16}+|codecs\.decode|atob|unescape|string\.fromcharcode|buffer\.from|gzinflate|"
    r"base64_decode|str_rot13|decodeuricomponent)\("
)
_TEXT_SHARE: Final = 0.9
_DIFFERENT: Final = 6


def _grade_escapes(match: re.Match[bytes]) -> Level | None:
    """Escapes that spell text hide it; escapes that spell bytes are data."""
    codes = [int(code, 16) for code in re.findall(rb"[0-9a-f]{2}(?=\\|\Z)", match[0])]
    printable = sum(32 <= code < 127 for code in codes)  # noqa: PLR2004 - the printable range of ASCII
    spells_text = printable >= _TEXT_SHARE * len(codes) and len(set(codes)) >= _DIFFERENT
    return _ODD if spells_text else None


PATTERNS: Final = (
    Pattern(
        rule=RULE,
        anchors=("exec(", "eval(", "new function("),
        expression=r"(?<![\w.])(?:exec|eval|new function)\(\s{0,8}+"
        rf"(?:[\w.]{{0,24}}+\(\s{{0,8}}+|__import__\([\"']\w{{1,12}}[\"']\)\.){{0,4}}?{_DECODERS}",
        says="Encoded code is decoded and run",
        level=_RUN,
    ),
    Pattern(
        rule=RULE,
        anchors=("exec(", "eval("),
        expression=r"(?<![\w.])(?:exec|eval)\(\s{0,8}+(?:[^\n]{0,200}?\[::-1\]|[\"']{2}\.join\(|(?:bytes|bytearray)\(\s{0,8}\[)",
        says="Disguised code is run",
        level=_RUN,
    ),
    Pattern(
        rule=RULE,
        anchors=("eval(function(p,a,c,k,e",),
        expression=r"eval\(function\(p,a,c,k,e",
        says="Packed JavaScript is run",
        level=_ODD,
    ),
    Pattern(
        rule=RULE,
        anchors=("chr(",),
        expression=r"(?:chr\(\s{0,2}(?:0x)?[0-9a-f]{1,5}+\s{0,2}\)\s{0,4}+[+.,]?\s{0,4}+){6,100}+",
        says="A string is spelled in character codes",
        level=_ODD,
    ),
    Pattern(
        rule=RULE,
        anchors=("fromcharcode(",),
        expression=r"fromcharcode\(\s{0,4}+(?:(?:0x)?[0-9a-f]{1,5}+\s{0,2},\s{0,4}+){9,100}+",
        says="A string is spelled in character codes",
        level=_ODD,
    ),
    Pattern(
        rule=RULE,
        anchors=("\\x", "\\u00"),
        expression=r"(?:\\x[0-9a-f]{2}){16,100}+|(?:\\u00[0-9a-f]{2}){12,66}+",
        says="Text is spelled in escapes",
        level=_ODD,
        grade=_grade_escapes,
    ),
    Pattern(
        rule=RULE,
        anchors=("__import__(", "getattr(__builtins__", "globals()["),
        expression=r"__import__\(\s{0,4}[\"'][a-z_]{1,12}+[\"']\s{0,4}\+|getattr\(__builtins__\s{0,4},(?!\s?[\"\']__dict__)|"
        r"globals\(\)\[[\"']__builtins__",
        says="A function is named in pieces",
        level=_ODD,
    ),
    Pattern(
        rule=RULE,
        anchors=(" -enc", " -e ", " -ec "),
        expression=r"\s-(?:e|ec|enc|encodedcommand)\s{1,4}[\"']?[a-z0-9+/]{40}",
        leads=(r"\b(?:powershell|pwsh)(?:\.exe)?\s",),
        says="PowerShell runs an encoded command",
        level=_RUN,
    ),
)
