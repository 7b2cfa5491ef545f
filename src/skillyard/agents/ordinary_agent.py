"""Skills for an agent that was not built for them, from whatever there is to take them from."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from deepagents.backends import StateBackend
from deepagents.backends.protocol import BackendProtocol
from deepagents.middleware.filesystem import FilesystemMiddleware

from skillyard.agents.deepagents_adapter import DatabaseSkillAdapter
from skillyard.agents.deepagents_skills import SOURCE, FreshSkillsMiddleware
from skillyard.agents.langchain_middleware import SkillyardMiddleware
from skillyard.agents.source import SkillSource
from skillyard.blobs.store import Blobs
from skillyard.db.session_database import SessionFactory
from skillyard.errors import UsageError
from skillyard.search.catalog import BUDGET


def enable_skills(
    *,
    source: SkillSource | None = None,
    backend: BackendProtocol | None = None,
    user_id: str | None = None,
    skill_ids: Sequence[UUID | str] | None = None,
    db_session_factory: SessionFactory | None = None,
    blobs: Blobs | None = None,
    budget: int = BUDGET,
    agent: str = "",
) -> list[Any]:
    """The middleware that gives an agent of `create_agent` skills, with all that it needs to read them.

    From a `source`, a folder or a yard, it gets a ranked list and tools. From a `backend` that has skills preloaded,
    it reads those. Otherwise they are loaded from the database when it starts, for the user, into its state.
    """
    if source is not None:
        return [SkillyardMiddleware(source, budget=budget, agent=agent)]
    from_database = user_id is not None and db_session_factory is not None
    if backend is not None and (has_skills(backend) or not from_database):
        # What is preloaded later is seen in the next turn.
        return [FilesystemMiddleware(backend=backend), FreshSkillsMiddleware(backend=backend, budget=budget)]
    if user_id is not None and db_session_factory is not None:
        return [
            FilesystemMiddleware(backend=StateBackend(), tools=["ls", "read_file", "glob", "grep"]),
            DatabaseSkillAdapter(user_id, skill_ids, db_session_factory, blobs=blobs, budget=budget, agent=agent),
        ]
    raise UsageError(
        "There is nothing to take skills from.",
        hint="Give a source, a backend with preloaded skills, or a user_id with a db_session_factory.",
    )


def has_skills(backend: BackendProtocol, folder: str = SOURCE) -> bool:
    """Whether skills were preloaded into a backend."""
    try:
        found = backend.ls(folder)
    except (RuntimeError, NotImplementedError, OSError):  # files of a state are not there before the agent is
        return False
    return any(entry.get("is_dir") for entry in found.entries or ())
