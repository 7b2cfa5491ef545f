"""Files made to hang, bloat or fool the reader: each is answered at once, with a finding."""

import time
import tracemalloc

import pytest

from skillyard.skill.document import parse
from skillyard.skill.limits import MAX_FRONTMATTER_BYTES, MAX_SKILL_MD_BYTES
from skillyard.skill.models import Profile, Severity

SECONDS = 2
MEMORY = 200 * 1024 * 1024
ROOM = MAX_FRONTMATTER_BYTES - 100


def fill(piece: str) -> str:
    return piece * (ROOM // len(piece.encode()))


FRONTMATTERS = {
    "open brackets": "x: " + fill("["),
    "closed brackets": "x: " + fill("[]"),
    "open braces": "x: " + fill('{"a": '),
    "mixed brackets": "x: " + fill("[{a: ["),
    "long flow list": "x: [" + fill("a,") + "]",
    "long flow mapping": "x: {" + fill("a: b, ") + "}",
    "question marks": fill("? "),
    "question lines": fill("? a\n"),
    "dashes": fill("- "),
    "dash lines": fill("- a\n"),
    "colons": fill(": "),
    "tight colons": fill("a:"),
    "double quotes": "x: " + fill('"'),
    "single quotes": "x: " + fill("'"),
    "long key": fill("a") + ": b",
    "spaces": "x: " + fill(" ") + "y",
    "tabs": "x: " + fill("\t"),
    "newlines": fill("\n"),
    "stairs": "".join(" " * depth + "a:\n" for depth in range(700)),
    "sequence stairs": "\n".join("  " * depth + "-" for depth in range(500)),
    "comments": fill("#\n"),
    "percent": fill("%"),
    "tags": fill("!a "),
    "anchors": fill("&a "),
    "aliases": fill("*a "),
    "literal": "x: |\n" + fill(" a\n"),
    "folded": "x: >\n" + fill(" a\n"),
    "many keys": "".join(f"k{number}: v\n" for number in range(20_000)),
    "as many keys as allowed": "".join(f"k{number}: value of {number}\n" for number in range(4_900)),
    "one key again": fill("a: b\n"),
    "backslashes": 'x: "' + fill("\\") + '"',
    "escapes": 'x: "' + fill("\\u0041") + '"',
    "half a surrogate": 'x: "\\ud800"',
    "broken colons": "x: a: b: " + fill("c: "),
    "broken lines": fill("x: a: b\n"),
    "broken quotes": fill('key: "a" b\n'),
    "broken continuation": "key: a: b\n" + fill("  cont: x y\n"),
    "continued text": "x: a\n" + fill("  b\n"),
    "carriage returns": fill("\r"),
    "next lines": fill("\x85"),
    "line separators": fill("\u2028"),
    "control characters": fill("\x01"),
    "documents": fill("--- a\n"),
    "document ends": fill("...\n"),
    "open tag": "x: !<" + fill("a"),
    "long number": "x: " + fill("9"),
    "accents without end": "x: 1\nname2: " + fill("\u0301\u0323"),
    "merge keys": fill("<<: {a: b}\n"),
    "billion laughs": "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
}
FILES = {
    "nothing": b"",
    "one byte": b"-",
    "fences only": b"---\n" * (MAX_SKILL_MD_BYTES // 4),
    "blank lines": b"\n" * MAX_SKILL_MD_BYTES,
    "late fence": b"\n" * (MAX_SKILL_MD_BYTES - 100) + b"---\na: b\n---\n",
    "never closed": b"---\n" + b"a: b\n" * 200_000,
    "almost fences": b"---\n" + b"\n--- x" * 150_000,
    "nul bytes": b"\x00" * MAX_SKILL_MD_BYTES,
    "wrong utf-8": b"---\nname: a\n---\n" + b"\xff" * (MAX_SKILL_MD_BYTES - 100),
    "odd utf-16": b"\xff\xfe\x00",
    "two marks": b"\xef\xbb\xbf\xef\xbb\xbf---\nname: a\n---\n",
    "too large": b"x" * (MAX_SKILL_MD_BYTES + 1),
    "html": b"<!doctype html><title>404</title>",
    "zip": b"PK\x03\x04" + b"\x00" * 1000,
}
CASES = {name: f"---\nname: a\n{text}\n---\nBody\n".encode() for name, text in FRONTMATTERS.items()} | FILES


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("name", CASES)
def test_hostile_files_are_answered_at_once_with_a_finding(name, profile):
    tracemalloc.start()
    started = time.process_time()
    parsed = parse(CASES[name], folder="a", profile=profile)
    spent = time.process_time() - started
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert spent < SECONDS
    assert peak < MEMORY
    assert parsed.document is None
    errors = [finding for finding in parsed.findings if finding.severity is Severity.ERROR]
    assert errors
    assert all(finding.fix for finding in errors)
