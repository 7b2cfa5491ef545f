"""The file of results: each script owns the part between its two marks and leaves the others alone."""

import os
import platform
from pathlib import Path

_TITLE = "# Results\n\nMade by `make bench`.\n"


def machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def write_part(path: Path, name: str, text: str) -> None:
    """Put a script's part in its place, at the end if it is new; it says where it was measured."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    part = f"{begin}\n{text.strip()}\n\nMeasured on {machine()}.\n{end}"
    whole = path.read_text(encoding="utf-8") if path.exists() else _TITLE
    before, found, rest = whole.partition(begin)
    after = rest.partition(end)[2] if found else ""
    path.write_text(f"{before.rstrip()}\n\n{part}\n\n{after.strip()}".rstrip() + "\n", encoding="utf-8")


def table(columns: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; every column but the first holds numbers."""
    marks = ["---", *("---:" for _ in columns[1:])]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [columns, *rows]).replace(
        "\n", f"\n|{'|'.join(marks)}|\n", 1
    )
