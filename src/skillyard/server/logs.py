"""What the server writes about itself: one JSON object per line on stderr, without secrets."""

import json
import logging
import sys
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeAlias

from skillyard.redact import redact

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor

AccessLog: TypeAlias = Callable[[dict[str, object]], None]

current_request: ContextVar[str | None] = ContextVar("current_request", default=None)
"""The id of the request that is being answered; every event tells it."""

_UVICORN: Final = ("uvicorn", "uvicorn.error", "uvicorn.access")


def configure_logging(stream: TextIO | None = None) -> None:
    """Write our events, and those of the libraries below us, to the stream (stderr unless given)."""
    import structlog  # noqa: PLC0415 -- slow to import, and commands that ask their own process log nothing

    shared: list[Processor] = [
        _with_request,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    out = stream or sys.stderr
    structlog.configure(
        processors=[*shared, structlog.processors.format_exc_info, render],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.add_logger_name, structlog.stdlib.ExtraAdder()],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                render,
            ],
        )
    )
    for name in _UVICORN:  # it sets up its own where nobody tells it not to
        logging.getLogger(name).handlers = []
        logging.getLogger(name).propagate = True
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)


def access_log(stream: TextIO | None = None) -> AccessLog:
    """Writes the line about one request, without the chain of steps that other events go through.

    It is written for every request, and that chain costs as much as answering one.
    """
    import structlog  # noqa: PLC0415 -- as above

    write = structlog.WriteLogger(stream or sys.stderr).msg

    def log(event: dict[str, object]) -> None:
        write(render(None, "info", {"event": "request", **event, "timestamp": datetime.now(UTC).isoformat()}))

    return log


def _with_request(_logger: object, _method: str, event: "EventDict") -> "EventDict":
    request_id = current_request.get()
    return event if request_id is None else {"request_id": request_id, **event}


def render(_logger: object, _method: str, event: "EventDict") -> str:
    """One line; redacted last and as a whole, so that nothing in it is forgotten."""
    return redact(_ENCODER.encode(event))


def _written_out(value: Any) -> str:  # noqa: ANN401 -- whatever someone logged
    return repr(value)


_ENCODER: Final = json.JSONEncoder(default=_written_out)
