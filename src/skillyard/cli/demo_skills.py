"""A part of `skillyard demo`: the skills of the sample home go into a yard."""

from collections.abc import Iterator

from skillyard.app.demo_home import DemoHome
from skillyard.app.demo_scenes import Scene
from skillyard.app.demo_skills import show_skills
from skillyard.cli.demo_scenes import demo_yard, play
from skillyard.cli.output import Sink


def play_skills(sink: Sink, home: DemoHome) -> Iterator[Scene]:
    """Play the story in the home's yard, and show each scene."""
    with demo_yard(home.yard) as yard:
        yield from play(sink, show_skills(yard, home), "Publishing")
