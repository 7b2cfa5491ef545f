"""The rooms of learning, wired to the yard."""

from collections.abc import Callable

from skillyard.app.learning_skills import RegistryShelf, skill_commits
from skillyard.app.registry_search import RegistrySearch
from skillyard.app.sandboxes import SandboxRooms
from skillyard.blobs.store import Blobs
from skillyard.config.settings import Settings
from skillyard.db.database import Database
from skillyard.history.service import History
from skillyard.identity.turns import Turns
from skillyard.jobs.service import Jobs
from skillyard.learning.service import LearningRooms, SkillParts
from skillyard.learning.skills.applying import SkillApplier
from skillyard.learning.skills.known_skills import KnownSkills
from skillyard.llm.models import ModelSource
from skillyard.registry.service import Registry
from skillyard.releases.service import LearnedSkillRooms


def learning_rooms(  # noqa: PLR0913, PLR0917 -- one parameter for each room that learning needs
    settings: Settings,
    database: Database,
    blobs: Blobs,
    history: History,
    registry: Registry,
    search: RegistrySearch,
    sandboxes: SandboxRooms,
    jobs: Jobs,
    turns: Turns,
    releases: Callable[[], LearnedSkillRooms],
) -> LearningRooms:
    """The rooms over an open yard; jobs learn from then on."""
    models = ModelSource(settings)
    skills = SkillParts(
        shelf=RegistryShelf(search, registry, KnownSkills(database, registry)),
        applier=SkillApplier(
            database, registry, lambda: releases().canaries, tries_all=settings.learning.skills == "canary"
        ),
    )
    rooms = LearningRooms(
        database,
        blobs,
        history,
        registry,
        jobs,
        turns,
        models,
        settings.learning,
        skills,
    )
    commits = skill_commits(
        settings,
        models,
        database,
        history,
        registry,
        sandboxes,
        commits=rooms.commits,
        committing=rooms.committing,
    )
    rooms.begin(commits)
    return rooms
