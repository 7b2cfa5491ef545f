"""What a person may see of the registry, read from its database by an agent without a server."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from skillyard.agents.skill_folders import APART
from skillyard.blobs.store import Blobs, open_blobs
from skillyard.config.load import load_settings
from skillyard.db.session_database import SessionFactory, database_of
from skillyard.history.service import History
from skillyard.identity.owners import Owners
from skillyard.identity.principals import Principal
from skillyard.registry.service import Registry
from skillyard.registry.shipping import ShippedSkill, SkillRef
from skillyard.registry.summaries import visible_summaries
from skillyard.registry.usage import UsageReport
from skillyard.skill.bundle import Bundle
from skillyard.usage.events import UsageKind

MAX_SKILLS: Final = 50
"""Skills that an agent is given when none are named."""
_USED_DAYS: Final = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class DatabaseSkill:
    """A skill as it would be shipped now."""

    skill_id: str
    full_name: str
    version: str
    """Empty for a working copy, where nothing was ever published."""
    digest: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DatabaseLook:
    """What is there at one moment, by folder, and why something is not."""

    skills: Mapping[str, DatabaseSkill]
    problems: tuple[str, ...] = ()


class DatabaseSkills:
    """Skills by id or name, with what they require; without any, those that the person may see, the most used first."""

    def __init__(
        self,
        *,
        user_id: str,
        skill_ids: Sequence[str] | None,
        sessions: SessionFactory,
        blobs: Blobs | None = None,
        max_skills: int = MAX_SKILLS,
    ) -> None:
        self._user_id = user_id
        self._skill_ids = None if skill_ids is None else list(skill_ids)
        self._database = database_of(sessions)
        self._blobs = blobs
        self._max_skills = max_skills

    async def look(self) -> DatabaseLook:
        """Which skills the person gets now; nothing of them is read yet."""
        principal = await self._principal()
        refs = await self._refs(principal)
        shipment = await self._registry.shipping.resolve_shipment(principal, refs)
        asked_first = sorted(shipment.items, key=lambda item: bool(item.required_by))
        problems = (problem.message for problem in shipment.problems if not problem.is_warning)
        return DatabaseLook(skills=_in_folders(asked_first), problems=tuple(problems))

    async def bundle(self, skill: DatabaseSkill) -> Bundle:
        """Its files. Ask only for what a look has just shown: that is where rights are checked."""
        return await self._registry.bundles.load(skill.digest)

    async def report(self, kind: UsageKind, skills: Iterable[DatabaseSkill], *, session: str, agent: str) -> None:
        """Count a use of each skill."""
        reports = [
            UsageReport(skill=each.skill_id, event=kind, version=each.version, session=session, agent=agent)
            for each in skills
        ]
        if reports:
            await self._registry.usage.report(await self._principal(), reports)

    @cached_property
    def _registry(self) -> Registry:
        blobs = self._blobs or open_blobs(load_settings({}).blobs)
        return Registry(self._database, blobs, History(self._database))

    async def _principal(self) -> Principal:
        return await Owners(self._database).principal(self._user_id)

    async def _refs(self, principal: Principal) -> list[SkillRef]:
        if self._skill_ids is not None:
            return [SkillRef.parse(each) for each in self._skill_ids]
        used = await self._registry.usage.totals(principal, days=_USED_DAYS)
        uses = {each.id: each.totals.used for each in used}
        visible = await visible_summaries(self._database, principal)
        visible.sort(key=lambda each: (-uses.get(each.id, 0), each.full_name))
        return [SkillRef.of(each.id) for each in visible[: self._max_skills]]


def _in_folders(items: Iterable[ShippedSkill]) -> dict[str, DatabaseSkill]:
    """Each skill in a folder of its name; with its namespace, where another has that name before it."""
    found: dict[str, DatabaseSkill] = {}
    for item in items:
        name = item.full_name.rpartition("/")[2]
        folder = item.full_name.replace("/", APART) if name in found else name
        found[folder] = DatabaseSkill(
            skill_id=item.skill_id, full_name=item.full_name, version=item.version or "", digest=item.digest
        )
    return found
