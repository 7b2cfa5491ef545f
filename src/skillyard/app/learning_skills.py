"""Skills as learning sees them, wired to the registry, its search and the sandboxes."""

import json
from collections.abc import Sequence
from dataclasses import replace

from skillyard.app.registry_search import RegistrySearch
from skillyard.app.sandbox_backends import LOCAL
from skillyard.app.sandboxes import SandboxRooms
from skillyard.config.settings import Settings
from skillyard.db.database import Database
from skillyard.history.service import History
from skillyard.identity.principals import Principal
from skillyard.learning.commits import Commits
from skillyard.learning.committing import Committing
from skillyard.learning.knowledge import Known
from skillyard.learning.skills.attempts import FailedAttempts
from skillyard.learning.skills.author import SkillAuthor
from skillyard.learning.skills.committer import SkillCommits, Workflow
from skillyard.learning.skills.computers import Computers, SandboxComputers
from skillyard.learning.skills.creator import SkillCreator
from skillyard.learning.skills.drafting import Route, SkillDrafting
from skillyard.learning.skills.known_skills import KnownSkills, texts_of
from skillyard.learning.skills.proving import Proving
from skillyard.learning.skills.remote_computers import RemoteComputers
from skillyard.learning.skills.skill_documents import BuiltinDocuments, ServerDocuments
from skillyard.learning.states import Target
from skillyard.llm.models import ModelSource
from skillyard.registry.service import Registry
from skillyard.registry.skills import Skill


class RegistryShelf:
    """The skills of the registry, found and read with the rights of who asks."""

    def __init__(self, search: RegistrySearch, registry: Registry, known: KnownSkills) -> None:
        self._search = search
        self._registry = registry
        self._known = known

    async def search(self, principal: Principal, query: str, limit: int) -> Sequence[Known]:
        if not query.strip():
            return []
        found = await self._search.search(principal, query, limit=limit)
        return [replace(_known(each.skill), score=each.score) for each in found.best]

    async def named(self, principal: Principal, skill: str) -> Known:
        return _known(await self._known.named(principal, skill))

    async def text(self, principal: Principal, skill: str) -> str:
        found = await self._known.named(principal, skill)
        files = texts_of(await self._registry.shelf.bundle(found))
        told = {"id": found.id, "name": found.full_name, "version": found.latest, "files": files}
        return json.dumps(told, ensure_ascii=False)


def skill_commits(
    settings: Settings,
    models: ModelSource,
    database: Database,
    history: History,
    registry: Registry,
    sandboxes: SandboxRooms,
    *,
    commits: Commits,
    committing: Committing,
) -> SkillCommits:
    """Whoever makes skills of lessons."""
    known = KnownSkills(database, registry)
    drafting = SkillDrafting(registry, known, SkillAuthor(models), FailedAttempts(registry.bundles, history))
    return SkillCommits(drafting, known, workflow(settings, sandboxes), commits, committing)


def workflow(settings: Settings, sandboxes: SandboxRooms) -> Workflow:
    """The ways by which skills are made, as the settings have them."""
    here = SandboxComputers(sandboxes.sandboxes, sandboxes.runs, sandboxes.workspace)
    url = settings.computer_use_mcp_url
    creator = None
    if url:
        computers: Computers = here if url == LOCAL else RemoteComputers(url)
        server = settings.mcp_server_url
        documents = ServerDocuments(server, settings.mcp_server_name) if server else BuiltinDocuments()
        creator = Route(proving=Proving(computers), creator=SkillCreator(computers, documents))
    return Workflow(
        use_creator=settings.use_skill_creator_workflow, direct=Route(proving=Proving(here)), creator=creator
    )


def _known(skill: Skill) -> Known:
    return Known(target=Target.SKILL, id=skill.id, name=skill.name, summary=skill.description)
