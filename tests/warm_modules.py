"""What a command and a server import, imported once: processes that are forked from here begin with it."""

import gc
import importlib

from skillyard.imports import uncollected

_MODULES = (
    "aiosqlite",
    "alembic.op",
    "psycopg",
    "skillyard.cli.main",
    "skillyard.cli.sandbox",
    "skillyard.cli.serve",
    "skillyard.jobs.durable",
    "skillyard.server.local",
    "skillyard.server.protocol",
    "skillyard.server.mcp.server",
    "skillyard.server.serving",
    "skillyard.server.web.rendering",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "tantivy",
    "uvicorn",
    "uvloop",
)

with uncollected():
    for _module in _MODULES:
        importlib.import_module(_module)
gc.freeze()  # so that no process looks through it, and copies it by that
