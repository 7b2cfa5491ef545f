"""A part of `skillyard demo`: a task that is done three times becomes a skill."""

from collections.abc import Iterator
from pathlib import Path

from skillyard.app.demo_releases import show_releases
from skillyard.app.demo_scenes import Scene
from skillyard.cli.demo_scenes import demo_yard, play
from skillyard.cli.output import Sink


def play_releases(sink: Sink, folder: Path) -> Iterator[Scene]:
    """Play the story in a yard in that folder, and show each scene."""
    with demo_yard(folder, sandbox_allow_private=True) as yard:  # the shop is on this machine
        yield from play(sink, show_releases(yard, folder), "Working in a sandbox")
