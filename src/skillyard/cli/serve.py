"""`skillyard serve`."""

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Annotated

import typer

from skillyard.app.libraries import missing_environment, open_library
from skillyard.app.server_records import forget_server, record_server
from skillyard.cli.options import Environment, Roots
from skillyard.cli.output import Answer, Sink, sink_of
from skillyard.config.load import load_settings
from skillyard.config.settings import Settings
from skillyard.imports import uncollected
from skillyard.server.guard import require_safe_address
from skillyard.server.logs import access_log, configure_logging, log_file, open_log
from skillyard.server.opened import Opened, Stoppable
from skillyard.server.run import address_of, bind, run
from skillyard.skill.library import Library


def serve(
    context: typer.Context,
    *,
    host: Annotated[str | None, typer.Option("--host", metavar="ADDRESS", help="The address to bind.")] = None,
    port: Annotated[int | None, typer.Option("--port", metavar="NUMBER", help="The port; 0 picks a free one.")] = None,
    root: Roots = None,
    env: Environment = None,
) -> None:
    """Serve pages, API and MCP over HTTP.

    On this machine you are the user, without a token. Another address needs SKILLYARD_AUTH=token.
    """
    settings = load_settings({"host": host, "port": port})
    library = open_library(settings, roots=root or (), environment=env)
    sink = sink_of(context)
    for remark in [] if root or env else missing_environment(settings):
        sink.say(remark)
    serve_yard(sink, settings, library)


def serve_yard(
    sink: Sink, settings: Settings, library: Library, *, opened: Callable[[str], object] = lambda _url: None
) -> None:
    """Serve until interrupted; `opened` is called with the address once requests can be answered."""
    local = settings.auth == "local"
    with bind(settings.host, settings.port) as listener:
        require_safe_address(settings, listener.getsockname()[0])
        url = address_of(listener)

        def ready(remarks: Sequence[str]) -> None:
            for remark in remarks:
                sink.say(remark)
            record_server(settings.home, url)
            sink.say(f"Serving at {url} (Ctrl-C stops)")
            if path is not None:
                sink.say(f"Its log is {path}")
            sink.show(Answer(document={"url": url}, text=lambda _console: None))
            opened(url)

        def opening() -> AbstractAsyncContextManager[Stoppable]:
            # Imported when there is an address: the whole yard takes long, and it may not be needed.
            with uncollected():
                from skillyard.server.serving import serving  # noqa: PLC0415

            return serving(settings, library, ready=ready, log=access_log(log))

        path = log_file(settings.home, listener.getsockname()[1]) if local else None
        log = open_log(path) if path else None
        configure_logging(log, warnings=sys.stderr if log else None)
        app = Opened(opening)
        try:
            run(app, listener, local=local, proxies=() if local else settings.trusted_proxies, stopping=app.stop)
        finally:
            forget_server(settings.home, url)
            if app.failure is not None:  # uvicorn would only end the process
                raise app.failure
