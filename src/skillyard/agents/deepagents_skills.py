"""The `SkillsMiddleware` of deepagents with a list that is fresh every turn, ranked, and within a budget."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, NotRequired, cast

from skillyard.agents.extra import missing_extra

try:
    from deepagents.backends.protocol import BackendProtocol, FileDownloadResponse
except ModuleNotFoundError as error:
    raise missing_extra(error) from error
from deepagents.middleware.skills import SkillMetadata, SkillsMiddleware, SkillsState
from langchain.agents.middleware.types import ModelRequest, PrivateStateAttr
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from skillyard.agents.changes import SkillChanges, changes_between
from skillyard.agents.deepagents_files import listed_files
from skillyard.agents.langchain_prompts import last_request, with_section
from skillyard.agents.skill_prompt import checked_budget, notice_of, notice_room
from skillyard.delivery.backend_place import BASE
from skillyard.delivery.manifest import MANIFEST_NAME, Manifest
from skillyard.library.searching import document_of
from skillyard.search.catalog import BUDGET, HITS, MIN_BUDGET, CatalogWriter
from skillyard.search.memory_index import MemoryIndex
from skillyard.skill.bundle import SKILL_FILE
from skillyard.skill.library import SkillEntry
from skillyard.skill.prompt import shortened, with_tags, without_tags

SOURCE: Final = f"{BASE}/"
"""Where skills are preloaded to."""
SLOT: Final = "SkillsMiddleware"
"""The name by which deepagents knows the middleware for skills: of two, the agent's own takes the place."""
_PROBLEMS: Final = 5
_PROBLEM: Final = 200
"""So many problems are told, in so many characters each, if there is room."""
_PROBLEM_SHARE: Final = 8
"""Problems may take this part of the budget, or that they are there is all that is told."""
_NOT_LOADED: Final = "Some skills could not be loaded; go on without them."
_HOW: Final = """## Skills

Skills are instructions that people wrote for particular tasks. Look through this list before you start on a task. If a
skill fits, read the file at its location first (`read_file`, with `limit=1000`), and follow it. Paths that it names are
relative to its folder."""
_BREAKS: Final = 6
"""Line breaks between the parts."""
_AROUND: Final = len(_HOW) + len(_NOT_LOADED) + _BREAKS


class FreshSkillsState(SkillsState):
    """What the agent knows about its skills."""

    skill_states: NotRequired[Annotated[dict[str, str], PrivateStateAttr]]
    """What tells one state of a skill from another, by name, as it was in the last turn."""
    skill_changes: NotRequired[Annotated[str, PrivateStateAttr]]
    """What the agent is told in this turn about changes since the last one."""


class FreshSkillsMiddleware(SkillsMiddleware):
    """Looks at the skills of a backend again with every turn, and says what was added, removed and updated.

    `only` names the skills that are shown, all of them if it is None. All that is told has at most `budget` characters.
    """

    state_schema = FreshSkillsState

    def __init__(
        self,
        *,
        backend: BackendProtocol,
        sources: Sequence[str | tuple[str, str]] = (SOURCE,),
        only: Sequence[str] | None = None,
        budget: int = BUDGET,
    ) -> None:
        folders = [(each if isinstance(each, str) else each[0]).rstrip("/") for each in sources]
        listed = cast("BackendProtocol", _Listed(backend, folders))
        super().__init__(backend=listed, sources=sources, system_prompt=None)
        self._files = backend
        self._only = None if only is None else frozenset(only)
        self._budget = checked_budget(budget, _AROUND)
        self._index = MemoryIndex()
        self._others = f"list {', '.join(self.sources)} for the others"

    @property
    def name(self) -> str:
        return SLOT

    def before_agent(self, state: Any, runtime: Runtime, config: RunnableConfig) -> Any:  # noqa: ANN401 -- as there
        update = super().before_agent(_unlisted(state), runtime, config)
        manifests = self._files.download_files([_manifest(source) for source in self.sources])
        return self._told(state, dict(update or {}), manifests)

    async def abefore_agent(self, state: Any, runtime: Runtime, config: RunnableConfig) -> Any:  # noqa: ANN401 -- as there
        update = await super().abefore_agent(_unlisted(state), runtime, config)
        manifests = await self._files.adownload_files([_manifest(source) for source in self.sources])
        return self._told(state, dict(update or {}), manifests)

    def modify_request(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Add the list, what fits the user's last message first."""
        section = self.section(request.state, last_request(request.messages))
        return request.override(system_message=with_section(request.system_message, section)) if section else request

    def section(self, state: Mapping[str, Any], query: str) -> str:
        """What the agent is told about its skills; empty where there are none and none went."""
        skills: list[SkillMetadata] = state.get("skills_metadata") or []
        changes: str = state.get("skill_changes") or ""
        problems: Sequence[str] = state.get("skills_load_errors") or ()
        others = [part for part in (changes, self._told_problems(problems, len(changes))) if part]
        parts: list[str] = []
        if skills:
            room = self._budget - len(_HOW) - _BREAKS - sum(map(len, others))
            entries = [
                SkillEntry(each["name"], each["name"], with_tags(each["description"]), each["path"], "")
                for each in skills
            ]
            hits = self._hits(entries, query) if query.strip() else ()
            parts = [_HOW, CatalogWriter(entries).write(budget=room, hits=hits, others=self._others).text]
        return "\n\n".join([*parts, *others])

    def _hits(self, entries: Sequence[SkillEntry], query: str) -> list[str]:
        """The skills that fit a query by name and description; the rest of a skill is read only when it is used."""
        by_id = {entry.id: entry for entry in entries}
        index = self._index.at(by_id, lambda keys: (document_of(by_id[key]) for key in keys))
        return [hit.key for hit in index.search(query, limit=HITS).hits]

    def _told_problems(self, problems: Sequence[str], taken: int) -> str:
        """What is told of skills that could not be loaded, where the notice of changes has taken so much room."""
        if not problems:
            return ""
        lines = [_NOT_LOADED]
        room = min(self._budget // _PROBLEM_SHARE, self._budget - _AROUND - MIN_BUDGET - taken)
        for each in problems[:_PROBLEMS]:
            line = f"- {without_tags(shortened(each, _PROBLEM))}"
            room -= len(line) + 1
            if room < 0:
                break
            lines.append(line)
        return "\n".join(lines)

    def _told(
        self, state: Mapping[str, Any], update: dict[str, Any], manifests: Sequence[FileDownloadResponse]
    ) -> dict[str, Any]:
        shown: list[SkillMetadata] = [each for each in update["skills_metadata"] if self._is_shown(each)]
        digests: dict[str, str] = {}
        for source, response in zip(self.sources, manifests, strict=True):
            entries = Manifest.read(response.content).entries
            digests |= {f"{source.rstrip('/')}/{folder}": entry.digest for folder, entry in entries.items()}
        states = {each["name"]: digests.get(_folder(each)) or _fingerprint(each) for each in shown}
        known = state.get("skill_states")
        changes = SkillChanges() if known is None else changes_between(known, states)
        notice = notice_of(changes, notice_room(self._budget, _AROUND))
        return {**update, "skills_metadata": shown, "skill_states": states, "skill_changes": notice}

    def _is_shown(self, skill: SkillMetadata) -> bool:
        return self._only is None or not self._only.isdisjoint({skill["name"], _folder(skill).rpartition("/")[2]})


class _Listed:
    """A backend whose skills, which are in these folders, can all be listed, each by a name of its own."""

    def __init__(self, backend: BackendProtocol, folders: Sequence[str]) -> None:
        self._backend = backend
        self._folders = folders

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- whatever the backend has
        return getattr(self._backend, name)

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return listed_files(self._backend.download_files(paths), map(self._skill_folder, paths))

    async def adownload_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return listed_files(await self._backend.adownload_files(paths), map(self._skill_folder, paths))

    def _skill_folder(self, path: str) -> str | None:
        main = PurePosixPath(path)
        is_main = main.name == SKILL_FILE and str(main.parent.parent) in self._folders
        return main.parent.name if is_main else None


def _unlisted(state: Any) -> SkillsState:  # noqa: ANN401 -- as there
    """The state as if no skill had been looked for."""
    return cast("SkillsState", {**state, "skills_metadata": None})


def _manifest(source: str) -> str:
    return f"{source.rstrip('/')}/{MANIFEST_NAME}"


def _folder(skill: SkillMetadata) -> str:
    return skill["path"].rpartition("/")[0]


def _fingerprint(skill: SkillMetadata) -> str:
    return hashlib.sha256(json.dumps(skill, sort_keys=True).encode()).hexdigest()[:16]
