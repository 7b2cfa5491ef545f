"""Pieces of text that several commands print."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from skillyard.cli.safe_text import one_line, visible
from skillyard.skill.models import Finding, Severity

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
GOOD: Final = "green"
BAD: Final = "bold red"
FAINT: Final = "dim"
GAP: Final = 2
"""Blanks between two columns."""


def styled(*parts: "str | Text | tuple[str, str]") -> "Text":
    """Text of several parts, each plain, styled already, or with its style."""
    from rich.text import Text  # noqa: PLC0415 -- rich is slow to import; JSON needs none

    return Text.assemble(*parts)


def print_rows(console: "Console", rows: Iterable[Sequence["str | Text"]]) -> None:
    """Columns, aligned; on a terminal each line is cut to fit. Lighter than a rich table: lists can be long."""
    table = [[styled(visible(cell)) if isinstance(cell, str) else cell for cell in row] for row in rows]
    if not table:
        return
    widths = [max(cell.cell_len for cell in column) for column in zip(*table, strict=True)]
    lines: list[Text] = []
    for row in table:
        line = styled()
        for cell, width in zip(row[:-1], widths, strict=False):
            line.append_text(cell).append(" " * (width - cell.cell_len + GAP))
        line.append_text(row[-1])
        if console.is_terminal:
            line.truncate(console.width, overflow="ellipsis")
        lines.append(line)
    console.print(styled("\n").join(lines), soft_wrap=True)


def hanging(console: "Console", message: str, indent: str) -> str:
    """A message that starts after `indent`; on a terminal, the lines it wraps into are indented too."""
    if not console.is_terminal:
        return message
    return f"\n{indent}".join(textwrap.wrap(message, max(20, console.width - len(indent)), break_long_words=False))


def findings_text(findings: Iterable[Finding], *, indent: str = "  ") -> "Text":
    """Each finding with its place, what it says and how to fix it."""
    text = styled()
    for finding in findings:
        text.append(f"{indent}{finding.severity.value:<8}", STYLES[finding.severity])
        text.append(f"{place_of(finding):<14} ")
        text.append(one_line(finding.message))
        text.append(f"  [{finding.code}]\n", FAINT)
        if finding.fix:
            text.append(f"{indent}{'fix':<8}{'':<14} {one_line(finding.fix)}\n", GOOD)
    return text


def place_of(finding: Finding) -> str:
    """`file:line`, as editors understand it."""
    file = finding.file or "SKILL.md"
    return f"{file}:{finding.line}" if finding.line else file


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
