"""What the server writes about itself: one JSON object per line on stderr, without secrets."""

import io
import json
import logging
import sys
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partial
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeAlias, cast

from skillyard.files import make_file, make_folder
from skillyard.redact import redact

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor

_MOST_BYTES: Final = 10 * 1024 * 1024
_KEPT: Final = 3
"""Older files beside the one that is written; together they are bounded."""
AccessLog: TypeAlias = Callable[[dict[str, object]], None]

current_request: ContextVar[str | None] = ContextVar("current_request", default=None)
"""The id of the request that is being answered; every event tells it."""

_UVICORN: Final = ("uvicorn", "uvicorn.error", "uvicorn.access")


class _RotatingLog(io.TextIOBase):
    """A log file; a large one is put aside and a new one begun."""

    def __init__(self, path: Path) -> None:
        self._handler = RotatingFileHandler(path, maxBytes=_MOST_BYTES, backupCount=_KEPT, encoding="utf-8")
        self._handler.setFormatter(logging.Formatter("%(message)s"))

    def write(self, text: str) -> int:
        if text != "\n":
            self._handler.handle(logging.makeLogRecord({"msg": text.rstrip("\n")}))
        return len(text)

    def close(self) -> None:
        self._handler.close()
        super().close()


def log_file(home: Path, port: int) -> Path:
    """Where a server of a home that has this port keeps its log."""
    return home / "logs" / f"server-{port}.jsonl"


def open_log(path: Path) -> TextIO:
    """A log in a file that does not grow without end."""
    make_folder(path.parent)
    make_file(path)
    return cast("TextIO", _RotatingLog(path))


def configure_logging(stream: TextIO | None = None, *, warnings: TextIO | None = None) -> None:
    """Write our events, and those of the libraries below us, to the stream (stderr unless given).

    Those that are more than information are also written to `warnings`, if there is such a stream.
    """
    import structlog  # noqa: PLC0415 -- slow to import, and commands that ask their own process log nothing

    shared: list[Processor] = [
        _with_request,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    out = stream or sys.stderr
    last = render if warnings is None else partial(_render_for, warnings)
    structlog.configure(
        processors=[*shared, structlog.processors.format_exc_info, last],
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
                last,
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


def _render_for(warnings: TextIO, logger: object, method: str, event: "EventDict") -> str:
    line = render(logger, method, event)
    if method not in {"debug", "info"}:
        warnings.write(f"{line}\n")
    return line


def _written_out(value: Any) -> str:  # noqa: ANN401 -- whatever someone logged
    return repr(value)


_ENCODER: Final = json.JSONEncoder(default=_written_out)
