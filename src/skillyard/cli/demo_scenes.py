"""The later parts of `skillyard demo`: scenes from a yard of their own, each shown as soon as it is over."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillyard.app.demo_scenes import Scene
from skillyard.cli.output import Sink
from skillyard.cli.safe_text import visible
from skillyard.cli.text import BAD, GOOD, print_rows, styled
from skillyard.client import LOCAL
from skillyard.config.load import load_settings
from skillyard.config.settings import Settings
from skillyard.remote.client import YardClient
from skillyard.remote.connection import Connection
from skillyard.remote.in_process import InProcess
from skillyard.server.local import local_application

if TYPE_CHECKING:
    from rich.console import Console


def play(sink: Sink, story: Iterator[Scene], label: str) -> Iterator[Scene]:
    """Play a story, and show each scene."""
    while True:
        with sink.busy(label):
            scene = next(story, None)
        if scene is None:
            return
        _show(sink, scene)
        yield scene


def demo_settings(folder: Path, **others: Any) -> Settings:  # noqa: ANN401 -- settings of any kind
    """A yard in that folder alone, whatever database or server this machine is set to."""
    own = {
        "home": str(folder),
        "database_url": f"sqlite:///{folder / 'registry.sqlite'}",
        "blobs_url": str(folder / "blobs"),
        "auth": "local",
    }
    return load_settings({**own, **others})


@contextmanager
def demo_yard(folder: Path, **others: Any) -> Generator[YardClient]:  # noqa: ANN401 -- as above
    """The yard in that folder, for the time of one part."""
    loaded = demo_settings(folder, **others)
    transport = InProcess(lambda: local_application(loaded))
    with Connection(LOCAL, transport=transport, in_process=True) as connection:
        yield YardClient(connection)


def _show(sink: Sink, scene: Scene) -> None:
    sink.stream(lambda console: _print_scene(console, scene))


def _print_scene(console: "Console", scene: Scene) -> None:
    console.print(styled((f"\n{scene.title}", "bold")), soft_wrap=True)
    print_rows(console, scene.rows)
    if scene.remark:
        style = {True: GOOD, False: BAD, None: ""}[scene.good]
        console.print(styled((visible(scene.remark), style)), soft_wrap=True)
