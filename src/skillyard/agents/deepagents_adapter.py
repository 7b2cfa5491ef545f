"""Skills of the registry's database for an agent that keeps no files of its own."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, NotRequired
from uuid import UUID

from skillyard.agents.extra import missing_extra

try:
    from deepagents.backends import StateBackend
except ModuleNotFoundError as error:
    raise missing_extra(error) from error
from deepagents.middleware.filesystem import FilesystemState
from langchain.agents.middleware.types import PrivateStateAttr, ToolCallRequest
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from skillyard.agents.changes import changes_between
from skillyard.agents.database_skills import MAX_SKILLS, DatabaseLook, DatabaseSkill, DatabaseSkills
from skillyard.agents.deepagents_skills import SOURCE, FreshSkillsMiddleware, FreshSkillsState
from skillyard.agents.langchain_sessions import SessionState, session_of
from skillyard.agents.own_loop import run_apart
from skillyard.agents.tool import told
from skillyard.blobs.store import Blobs
from skillyard.db.session_database import SessionFactory
from skillyard.delivery.bundle_source import Origin
from skillyard.delivery.manifest import MANIFEST_NAME, Manifest, ManifestEntry
from skillyard.delivery.sandbox_loader import LOADED
from skillyard.delivery.skills_place import in_file_order
from skillyard.errors import SkillyardError
from skillyard.search.catalog import BUDGET
from skillyard.skill.bundle import SKILL_FILE, Bundle
from skillyard.skill.limits import MIB
from skillyard.usage.events import UsageKind

MAX_BYTES: Final = 16 * MIB
"""Of all files that are put into the state in one turn: it is written down with every step of the agent."""
_READ: Final = "read_file"
_NO_ANSWER: Final = "The database of skills could not be read. Whoever runs this agent finds the reason in its log."
_log: Final = logging.getLogger(__name__)


class AdapterState(FreshSkillsState, SessionState, FilesystemState):
    """What was put into the files of the state."""

    database_skills: NotRequired[Annotated[dict[str, dict[str, str]], PrivateStateAttr]]
    """The fields of each `DatabaseSkill` by folder."""


class DatabaseSkillAdapter(FreshSkillsMiddleware):
    """Loads skills that a user may see from the database into the agent's state, when the agent starts.

    `skill_ids` are ids or names of skills; without them those that the user may see, the most used first, at most
    `max_skills`. `db_session_factory` is an `async_sessionmaker` of SQLAlchemy for the registry's database, or
    `Database.read`. The bytes of skills come from `blobs`, by default where the settings say.

    With each further turn only what changed is loaded again. A skill that cannot be loaded, or a database that does
    not answer, never stops the agent: it is logged, and the agent is told what is missing.
    """

    state_schema = AdapterState

    def __init__(
        self,
        user_id: UUID | str,
        skill_ids: Sequence[UUID | str] | None = None,
        db_session_factory: SessionFactory | None = None,
        *,
        blobs: Blobs | None = None,
        source: str = SOURCE,
        budget: int = BUDGET,
        max_skills: int = MAX_SKILLS,
        agent: str = "",
    ) -> None:
        if db_session_factory is None:
            raise TypeError("DatabaseSkillAdapter needs a db_session_factory, such as an async_sessionmaker.")
        super().__init__(backend=StateBackend(), sources=[source], budget=budget)
        self._base = source.rstrip("/")
        self._agent = agent
        self._skills = DatabaseSkills(
            user_id=str(user_id),
            skill_ids=None if skill_ids is None else list(map(str, skill_ids)),
            sessions=db_session_factory,
            blobs=blobs,
            max_skills=max_skills,
        )

    def before_agent(self, state: Any, runtime: Runtime, config: RunnableConfig) -> Any:  # noqa: ANN401 -- as there
        session = session_of(state, runtime)
        loaded = run_apart(self._load(state, session))
        self._put(loaded)
        return self._said(super().before_agent(state, runtime, config), loaded, session)

    async def abefore_agent(self, state: Any, runtime: Runtime, config: RunnableConfig) -> Any:  # noqa: ANN401 -- as there
        session = session_of(state, runtime)
        loaded = await self._load(state, session)
        self._put(loaded)
        return self._said(await super().abefore_agent(state, runtime, config), loaded, session)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:  # noqa: ANN401 -- as there
        answer = super().wrap_tool_call(request, handler)
        skill = self._skill_read(request, answer)
        if skill is not None:
            run_apart(self._count(UsageKind.LOADED, [skill], request.state.get("skill_session") or ""))
        return answer

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:  # noqa: ANN401 -- as there
        answer = await super().awrap_tool_call(request, handler)
        skill = self._skill_read(request, answer)
        if skill is not None:
            await self._count(UsageKind.LOADED, [skill], request.state.get("skill_session") or "")
        return answer

    async def _load(self, state: Mapping[str, Any], session: str) -> "_Loaded":
        """What is to be put into the files, and what is to be taken out. Never raises."""
        known = _known(state)
        try:
            look = await self._skills.look()
        except SkillyardError as error:
            _log.warning("Skills could not be loaded from the database: %s %s", error.message, error.hint)
            return _Loaded(skills=known, problems=[told(error)])
        except Exception:  # noqa: BLE001 -- whatever keeps the database from answering, the agent goes on
            # What a database says, statements and values in them, is for those who read the log, and for no model.
            _log.exception("Skills could not be loaded from the database")
            return _Loaded(skills=known, problems=[_NO_ANSWER])
        loaded = _Loaded(skills=dict(look.skills), problems=list(look.problems))
        changes = changes_between(_digests(known), _digests(look.skills))
        room = MAX_BYTES
        for folder in (*changes.added, *changes.updated):
            room = await self._fetch(folder, look, known, loaded, room)
        loaded.gone = [*changes.removed, *(folder for folder in changes.updated if folder in loaded.put)]
        for problem in loaded.problems:
            _log.warning("A skill was not loaded from the database: %s", problem)
        await self._count(UsageKind.SHOWN, [look.skills[folder] for folder in loaded.put], session)
        return loaded

    async def _fetch(
        self, folder: str, look: DatabaseLook, known: Mapping[str, DatabaseSkill], loaded: "_Loaded", room: int
    ) -> int:
        """Get one skill; where that fails, what was there before stays. Answers how many bytes more may come."""
        skill = look.skills[folder]
        try:
            bundle = await self._skills.bundle(skill)
        except SkillyardError as error:
            _log.warning("%s was not loaded from the database: %s %s", skill.full_name, error.message, error.hint)
            loaded.problems.append(f"{skill.full_name}: {told(error)}")
        else:
            if bundle.size <= room:
                loaded.put[folder] = bundle
                return room - bundle.size
            loaded.problems.append(
                f"{skill.full_name} has {bundle.size:,} bytes, more than the state of an agent should hold: "
                "give the agent a sandbox, and preload it there."
            )
        if folder in known:
            loaded.skills[folder] = known[folder]
        else:
            del loaded.skills[folder]
        return room

    def _put(self, loaded: "_Loaded") -> None:
        for folder in loaded.gone:
            self._files.delete(f"{self._base}/{folder}")
        files = [
            (f"{self._base}/{folder}/{file.path}", file.data)
            for folder, bundle in loaded.put.items()
            for file in in_file_order(bundle)
        ]
        if files or loaded.gone:
            entries = {
                folder: ManifestEntry(
                    digest=skill.digest, origin=Origin(kind=LOADED, skill=skill.full_name, version=skill.version)
                )
                for folder, skill in loaded.skills.items()
            }
            files.append((f"{self._base}/{MANIFEST_NAME}", Manifest(entries=entries).write()))
        self._files.upload_files(files)

    @staticmethod
    def _said(update: Mapping[str, Any], loaded: "_Loaded", session: str) -> dict[str, Any]:
        return {
            **update,
            "skills_load_errors": [*update.get("skills_load_errors", ()), *loaded.problems],
            "database_skills": {folder: asdict(skill) for folder, skill in loaded.skills.items()},
            "skill_session": session,
        }

    async def _count(self, kind: UsageKind, skills: Sequence[DatabaseSkill], session: str) -> None:
        """Count uses; what cannot be counted is not, and stops nothing."""
        try:
            await self._skills.report(kind, skills, session=session, agent=self._agent)
        except Exception as error:  # noqa: BLE001 -- to be counted is worth less than to be answered
            _log.info("Uses of skills could not be counted: %s", error)

    def _skill_read(self, request: ToolCallRequest, answer: object) -> DatabaseSkill | None:
        """The skill whose main file a tool has just read."""
        call = request.tool_call
        if call["name"] != _READ or not isinstance(answer, ToolMessage) or answer.status == "error":
            return None
        path = PurePosixPath(str(call["args"].get("file_path", "")))
        if path.name != SKILL_FILE or str(path.parent.parent) != self._base or call["args"].get("offset"):
            return None
        return _known(request.state).get(path.parent.name)


@dataclass(kw_only=True)
class _Loaded:
    skills: dict[str, DatabaseSkill]
    """All that is there in the end, by folder."""
    problems: list[str]
    put: dict[str, Bundle] = field(default_factory=dict[str, Bundle])
    gone: list[str] = field(default_factory=list[str])
    """Folders to be taken out before anything is put in."""


def _known(state: Mapping[str, Any]) -> dict[str, DatabaseSkill]:
    """The skills that are in the files of the state."""
    kept: dict[str, dict[str, str]] = state.get("database_skills") or {}
    return {folder: DatabaseSkill(**fields) for folder, fields in kept.items()}


def _digests(skills: Mapping[str, DatabaseSkill]) -> dict[str, str]:
    return {folder: skill.digest for folder, skill in skills.items()}
