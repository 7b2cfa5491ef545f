"""`skillyard serve`."""

from typing import Annotated

import typer

from skillyard.app.libraries import missing_environment, open_library
from skillyard.cli.options import Environment, Roots
from skillyard.cli.output import Answer, sink_of
from skillyard.config.load import load_settings
from skillyard.server.app import create_app
from skillyard.server.guard import is_loopback
from skillyard.server.run import address_of, bind, run


def serve(
    context: typer.Context,
    *,
    host: Annotated[str | None, typer.Option("--host", metavar="ADDRESS", help="The address to bind.")] = None,
    port: Annotated[int | None, typer.Option("--port", metavar="NUMBER", help="The port; 0 picks a free one.")] = None,
    root: Roots = None,
    env: Environment = None,
) -> None:
    """Serve the skills in reach over HTTP on this machine.

    Read-only and without passwords: bind another address only where everyone may read your skills.
    """
    settings = load_settings({"host": host, "port": port})
    library = open_library(settings, roots=root or (), environment=env)
    sink = sink_of(context)
    for remark in [] if root or env else missing_environment(settings):
        sink.say(remark)
    with bind(settings.host, settings.port) as listener:
        address = listener.getsockname()[0]
        url = address_of(listener)
        if not is_loopback(address):
            sink.say(f"Warning: everyone who reaches {address} can read these skills.")
        sink.say(f"Serving at {url} (Ctrl-C stops)")
        sink.show(Answer(document={"url": url}, text=lambda _console: None))
        run(create_app(library, loopback_only=is_loopback(address)), listener)
