"""A part of `skillyard demo`: feedback changes what an agent answers."""

from collections.abc import Iterator
from pathlib import Path

from skillyard.app.demo_learning import scripted_model, show_learning
from skillyard.app.demo_scenes import Scene
from skillyard.cli.demo_scenes import demo_yard, play
from skillyard.cli.output import Sink


def play_learning(sink: Sink, folder: Path) -> Iterator[Scene]:
    """Play the story in a yard in that folder, and show each scene."""
    with (
        scripted_model() as model,
        demo_yard(folder, **model.settings, model_api_key="none", learning={"rules": "review"}) as yard,
    ):
        yield from play(sink, show_learning(yard), "Learning")
