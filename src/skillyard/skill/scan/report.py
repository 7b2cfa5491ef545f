"""Turning what rules saw in a file into findings: one for each line, the gravest few, safe to print."""

from collections.abc import Iterable, Iterator
from typing import Final

from skillyard.skill.models import Finding
from skillyard.skill.scan.rule import Hit, line_end, line_start
from skillyard.skill.scan.rules.secrets import mask

MAX_SHOWN: Final = 5
"""Findings of one rule in one file; the last says how many more there are."""
_EXCERPT: Final = 100


def findings_of(path: str, text: bytes, hits: Iterable[Hit]) -> Iterator[Finding]:
    by_rule: dict[str, dict[int, Hit]] = {}
    line, counted = 1, 0
    for hit in sorted(hits, key=lambda hit: hit.position):
        line += text.count(b"\n", counted, hit.position)
        counted = hit.position
        lines = by_rule.setdefault(hit.rule.code, {})
        known = lines.get(line)
        if known is None or hit.severity.rank < known.severity.rank:
            lines[line] = hit
    for lines in by_rule.values():
        shown = sorted(sorted(lines, key=lambda line: (lines[line].severity.rank, line))[:MAX_SHOWN])
        more = len(lines) - len(shown)
        for line in shown:
            suffix = f" ({more:,} more of these in this file.)" if more and line == shown[-1] else ""
            yield _finding(path, line, lines[line], _said(text, lines[line]) + suffix)


def _finding(path: str, line: int, hit: Hit, message: str) -> Finding:
    return Finding(code=hit.rule.code, severity=hit.severity, message=message, fix=hit.rule.fix, file=path, line=line)


def _said(text: bytes, hit: Hit) -> str:
    if hit.end <= hit.position:
        return f"{hit.says}. {hit.rule.why}"
    start, end = hit.position, hit.end
    if not hit.alone:
        start, end = line_start(text, start), line_end(text, end)
    return f"{hit.says}: `{_printable(text[start:end])}`. {hit.rule.why}"


def _printable(excerpt: bytes) -> str:
    """One line, nothing that a terminal would obey or hide, no secrets."""
    words = " ".join(mask(excerpt).decode(errors="replace").split())
    shown = "".join(char for char in words if char.isprintable())
    return shown if len(shown) <= _EXCERPT else shown[: _EXCERPT - 1] + "…"
