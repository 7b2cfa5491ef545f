"""The yard: every room of the registry, wired to one database and one store of blobs."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from skillyard.app.damage import require_database
from skillyard.app.embedding import open_embeddings
from skillyard.app.injection import SandboxInjection, wire_injection
from skillyard.app.private_home import make_home_private
from skillyard.app.registry_catalogs import RegistryCatalogs
from skillyard.app.registry_index import RegistryIndex
from skillyard.app.registry_search import RegistrySearch
from skillyard.app.registry_vectors import RegistryVectors
from skillyard.app.sandboxes import SandboxRooms, sandbox_rooms
from skillyard.blobs.orphans import Orphans
from skillyard.blobs.store import Blobs, open_blobs
from skillyard.config.settings import Settings
from skillyard.db.database import Database
from skillyard.history.entries import Entry
from skillyard.history.service import History, Step
from skillyard.identity.access import Access
from skillyard.identity.external import ExternalPeople
from skillyard.identity.namespaces import Namespaces
from skillyard.identity.people import People
from skillyard.identity.sessions import Sessions
from skillyard.identity.standing import Standing
from skillyard.identity.tokens import Tokens
from skillyard.identity.turns import Turns
from skillyard.identity.world import World
from skillyard.jobs.service import Jobs
from skillyard.learning.lessons import bundles_of_drafts, named_by_lessons
from skillyard.learning.memories import Memories
from skillyard.learning.rules.rulebook import Rulebook
from skillyard.registry.bundles import named_by_bundles
from skillyard.registry.refused import RefusedContent
from skillyard.registry.search_documents import SearchDocuments
from skillyard.registry.service import Registry
from skillyard.registry.stored_blobs import StoredBlobs
from skillyard.releases.active_releases import ActiveReleases
from skillyard.releases.named_blobs import bundles_of_candidates, named_by_payloads
from skillyard.releases.policy import policy_of
from skillyard.releases.undoing import register_candidate_undo
from skillyard.releases.values import PROMOTED
from skillyard.sandbox.execution_log import named_by_traces
from skillyard.search.index_folder import IndexFolder

if TYPE_CHECKING:
    from skillyard.app.jobs import Upkeep
    from skillyard.learning.service import LearningRooms
    from skillyard.releases.service import LearnedSkillRooms

_SAMPLE: Final = 4
"""Files that are read again whenever somebody asks whether the server is ready."""


@dataclass(frozen=True, kw_only=True)
class Yard:
    """What a server, or a command that works on the local registry, needs."""

    settings: Settings
    database: Database
    blobs: Blobs
    orphans: Orphans
    refused: RefusedContent
    history: History
    people: People
    external_people: ExternalPeople
    namespaces: Namespaces
    world: World
    tokens: Tokens
    access: Access
    sessions: Sessions
    registry: Registry
    search: RegistrySearch
    vectors: RegistryVectors | None
    catalogs: RegistryCatalogs
    sandboxes: SandboxRooms
    injection: SandboxInjection
    jobs: Jobs
    turns: Turns

    @cached_property
    def stored(self) -> StoredBlobs:
        return StoredBlobs(self.database, self.blobs)

    async def require_blobs(self) -> None:
        """See that files could be stored, and that some of those that are there are whole."""
        await self.blobs.require_writable()
        for error in await self.stored.sample(_SAMPLE):
            raise error

    @cached_property
    def releases(self) -> "LearnedSkillRooms":
        """Learned skills: many rooms, which most commands do without."""
        from skillyard.app.releases import release_rooms  # noqa: PLC0415 -- a hundred modules

        return release_rooms(
            self.database,
            self.blobs,
            self.history,
            self.registry,
            self.sandboxes,
            self.jobs,
            policy=policy_of(self.settings.releases),
        )

    @cached_property
    def upkeep(self) -> "Upkeep":
        from skillyard.app.jobs import upkeep  # noqa: PLC0415 -- as above

        return upkeep(self.database, self.jobs, self.releases, self.settings.releases)

    @cached_property
    def learning(self) -> "LearningRooms":
        """Learning from feedback; as above."""
        from skillyard.app.learning import learning_rooms  # noqa: PLC0415 -- as above

        return learning_rooms(
            self.settings,
            self.database,
            self.blobs,
            self.history,
            self.registry,
            self.search,
            self.sandboxes,
            self.jobs,
            self.turns,
            lambda: self.releases,
        )


@asynccontextmanager
async def open_yard(settings: Settings) -> AsyncGenerator[Yard]:
    """Open the store that the settings name, and close it at the end."""
    make_home_private(settings.home)
    blobs = open_blobs(settings.blobs)
    await asyncio.to_thread(require_database, settings, blobs)
    database = await Database.open(settings.database)
    try:
        admin_token = settings.admin_token.get_secret_value() if settings.admin_token else None
        yard = _wired(database, blobs, admin_token, settings)
        try:
            yield yard
        finally:
            await yard.jobs.close()
            await yard.sandboxes.close()
            await yard.search.index.close()
    finally:
        await database.close()


def _wired(database: Database, blobs: Blobs, admin_token: str | None, settings: Settings) -> Yard:
    history = History(database)
    people = People(database, history)
    Standing(database)
    documents = SearchDocuments(database)
    access = Access(database, people, admin_token=admin_token)
    registry = Registry(database, blobs, history)
    embeddings = open_embeddings(settings)
    index = RegistryIndex(documents, IndexFolder(search_folder(settings.home)))
    search = RegistrySearch(documents, index, embeddings)
    turns = Turns()
    sandboxes = sandbox_rooms(database, blobs, settings, turns=turns)
    jobs = Jobs(database, workers=settings.job_workers)
    register_candidate_undo(history)
    # Opening them registers how what was learned is undone, and by whom.
    registry.chronicle.register_right("memory", Memories(database, history).require_undo)
    registry.chronicle.register_right("rule", Rulebook(database, history, turns).require_undo)

    async def undo_release(entry: Entry) -> Step:
        return await yard.releases.releases.undo(entry)

    history.register_undo(PROMOTED, undo_release)
    in_use = ActiveReleases(database, registry.bundles, policy_of(settings.releases))
    yard = Yard(
        settings=settings,
        database=database,
        blobs=blobs,
        orphans=Orphans(database, blobs, [named_by_bundles, named_by_traces, named_by_payloads, named_by_lessons]),
        refused=RefusedContent(
            database,
            keep=timedelta(days=settings.keep_refused_days),
            namers=[bundles_of_candidates, bundles_of_drafts],
        ),
        history=history,
        people=people,
        external_people=ExternalPeople(database, history, people),
        namespaces=Namespaces(database, history),
        world=World(database, history),
        tokens=Tokens(database, history),
        access=access,
        sessions=Sessions(database, history, access, admin_token=admin_token),
        registry=registry,
        search=search,
        vectors=RegistryVectors(documents, embeddings) if embeddings else None,
        catalogs=RegistryCatalogs(database, registry, search),
        sandboxes=sandboxes,
        injection=wire_injection(
            sandboxes,
            registry,
            database,
            settings.skill_injection,
            releases=in_use,
            canaries=in_use,
        ),
        jobs=jobs,
        turns=turns,
    )
    return yard


def search_folder(home: Path) -> Path:
    """Where the registry's search index is kept; all of it can be made again."""
    return home / "search" / "registry"
