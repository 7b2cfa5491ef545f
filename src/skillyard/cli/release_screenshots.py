"""Screenshots of runs that failed, saved as files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from skillyard.cli.text import count
from skillyard.files import replace_file
from skillyard.remote.client import YardClient

Screenshots = Annotated[
    Path | None, typer.Option("--screenshots", metavar="DIR", help="Save the screenshots of what failed here.")
]


def save_screenshots(client: YardClient, runs: Sequence[Mapping[str, Any]], folder: Path | None) -> list[str]:
    """Write the screenshot of each run that has one into a folder, if one is named."""
    if folder is None:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    saved: list[str] = []
    for run in runs:
        if run["screenshot"]:
            path = folder / f"{run['id']}.png"
            replace_file(path, client.releases.run_screenshot(run["id"]), mode=0o644)
            saved.append(str(path))
    return saved


def saved_remarks(folder: Path | None, saved: Sequence[str]) -> list[str]:
    if folder is None:
        return []
    return [f"Saved {count(len(saved), 'screenshot')}: {', '.join(saved)}" if saved else "There were no screenshots."]
