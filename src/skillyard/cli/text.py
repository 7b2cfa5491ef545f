"""Pieces of text that several commands print."""

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from skillyard.cli.safe_text import inline, one_line
from skillyard.skill.models import Finding, Severity

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
GOOD: Final = "green"
BAD: Final = "bold red"
FAINT: Final = "dim"
MAX_SHOWN: Final = 200
"""So many things of one kind are printed in full: nobody reads on, and printing takes longer than finding."""
GAP: Final = 2
"""Blanks between two columns."""
_PLACE: Final = 14
_DIFF_STYLES: Final = {"+": "green", "-": "red", "@": "cyan", "d": "bold", "B": "yellow", "N": "yellow"}
_UNBROKEN: Final = re.compile(r"`[^`]+`|(?:^|(?<=: ))skillyard .*")
"""Commands to copy: in quotes, or all that follows."""
_KEPT_BLANK: Final = "\ue000"


def styled(*parts: "str | Text | tuple[str, str]") -> "Text":
    """Text of several parts, each plain, styled already, or with its style."""
    from rich.text import Text  # noqa: PLC0415 -- rich is slow to import; JSON needs none

    return Text.assemble(*parts)


def print_rows(console: "Console", rows: Iterable[Sequence["str | Text"]], *, cut: bool = True) -> None:
    """Columns, aligned; on a terminal each line is cut to fit, unless the last column is something to copy.

    Lighter than a rich table: lists can be long.
    """
    table = [[_cell(cell) for cell in row] for row in rows]
    if not table:
        return
    widths = [max(cell.cell_len for cell in column) for column in zip(*table, strict=True)]
    lines: list[Text] = []
    for row in table:
        line = styled()
        for cell, width in zip(row[:-1], widths, strict=False):
            line.append_text(cell).append(" " * (width - cell.cell_len + GAP))
        line.append_text(row[-1])
        if cut and console.is_terminal:
            line.truncate(console.width, overflow="ellipsis")
        lines.append(line)
    console.print(styled("\n").join(lines), soft_wrap=True)


def _cell(cell: "str | Text") -> "Text":
    text = styled(inline(cell)) if isinstance(cell, str) else cell
    # A line break would forge a row.
    return styled(inline(text.plain)) if "\n" in text.plain else text


def hanging(console: "Console", message: str, indent: str, start: int = 0) -> str:
    """A message that starts after `indent`; on a terminal, the lines it wraps into are indented too.

    `start` is where its first line begins, if not after the indent.
    """
    return wrapped(message, console.width, indent, start) if console.is_terminal else message


def wrapped(message: str, width: int, indent: str = "", start: int = 0) -> str:
    """A message that starts after `indent`, in lines of that width; paths and commands to copy stay whole."""
    kept = _UNBROKEN.sub(lambda match: match[0].replace(" ", _KEPT_BLANK), message)
    room = max(20, width - len(indent))
    before = "x" * max(0, min(start, width) - len(indent))
    lines = textwrap.wrap(f"{before}{kept}", room, break_long_words=False, break_on_hyphens=False)
    if lines:
        lines[0] = lines[0][len(before) :]
    return f"\n{indent}".join(lines).replace(_KEPT_BLANK, " ")


def print_unified(console: "Console", diff: str) -> None:
    """A diff in the colours that people know."""
    for line in diff.splitlines():
        console.print(styled((line, _DIFF_STYLES.get(line[:1], ""))), soft_wrap=True)


def findings_text(findings: Iterable[Finding], *, console: "Console", indent: str = "  ", folder: str = "") -> "Text":
    """Each finding with its place, what it says and how to fix it; wrapped for a console that is a terminal.

    With `folder`, places are paths that a terminal or an editor can open.
    """
    text = styled()
    after = f"{indent}{'':<8}{'':<{_PLACE}} "
    for finding in findings:
        place = inline(f"{folder}/{place_of(finding)}" if folder and place_of(finding) else place_of(finding))
        message = f"{one_line(finding.message)}  [{finding.code}]"
        fix = one_line(finding.fix)
        text.append(f"{indent}{finding.severity.value:<8}", STYLES[finding.severity])
        if console.is_terminal:
            # A place wider than its column has a line of its own.
            text.append(f"{place:<{_PLACE}} " if len(place) <= _PLACE else f"{place}\n{after}")
            message, fix = hanging(console, message, after), hanging(console, fix, after)
        else:
            text.append(f"{place:<{_PLACE}} ")
        said, bracket, code = message.rpartition("[")
        text.append(said).append(f"{bracket}{code}\n", FAINT)
        if fix:
            text.append(f"{indent}{'fix':<8}{'':<{_PLACE}} {fix}\n", GOOD)
    return text


def print_more(console: "Console", total: int, noun: str) -> None:
    """How many of these are not shown, if there are more than are."""
    if total > MAX_SHOWN:
        console.print(styled((f"… and {count(total - MAX_SHOWN, f'more {noun}')}; --json shows all.", FAINT)))


def finding_from(values: Mapping[str, Any]) -> Finding:
    """A finding as a yard sends it."""
    rest: dict[str, Any] = {key: value for key, value in values.items() if key != "severity"}
    return Finding(severity=Severity(values["severity"]), **rest)


def place_of(finding: Finding) -> str:
    """`file:line`, as editors understand it; empty for what is about no file."""
    file = finding.file or ("SKILL.md" if finding.line or finding.field else "")
    return f"{file}:{finding.line}" if finding.line else file


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
