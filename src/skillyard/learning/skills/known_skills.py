"""The skills of the registry as whoever writes one sees them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from skillyard.command_text import command_text
from skillyard.db.database import Database
from skillyard.errors import NotFoundError
from skillyard.identity.namespaces import role_held
from skillyard.identity.principals import Principal, Role
from skillyard.identity.store import namespace_named, namespace_with_id
from skillyard.registry.naming import KnownSkill, some_visible_names
from skillyard.registry.service import Registry
from skillyard.registry.skills import Skill
from skillyard.skill.bundle import SKILL_FILE, Bundle
from skillyard.skill.names import is_id
from skillyard.skill.references import Reference, ReferenceKind
from skillyard.skill.requires import name_key

LOCK: Final = "learning"
LOCKED: Final = "locked"
"""`metadata: {learning: locked}` in a SKILL.md: a person holds it, and lessons are only proposed against it."""
_MAX_TEXT: Final = 60_000
"""Characters of a skill that a model is given."""
_BEGINNING: Final = 600
_MAX_RELATED: Final = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Present:
    """A skill as it stands."""

    skill: Skill
    bundle: Bundle
    published: bool
    """Whether its working copy is one of its versions, or it never had any."""

    @property
    def lock(self) -> str:
        """How a person has locked it; empty if nobody has."""
        if self.skill.locked:
            return f"`{command_text('learn unlock', self.skill.full_name)}` unlocks it"
        return f"'metadata.{LOCK}: {LOCKED}' in its SKILL.md" if self.skill.metadata.get(LOCK) == LOCKED else ""


class KnownSkills:
    """Looks skills up, with the rights of who asks."""

    def __init__(self, database: Database, registry: Registry) -> None:
        self._database = database
        self._registry = registry

    async def named(self, principal: Principal, key: str) -> Skill:
        """The skill that an id, a name, or a namespace and a name mean."""
        shelf = self._registry.shelf
        if is_id(key):
            return await shelf.get(principal, key)
        namespace, _, name = key.rpartition("/")
        return await shelf.named(principal, name, namespace or None)

    async def find(self, principal: Principal, key: str) -> Skill | None:
        try:
            return await self.named(principal, key)
        except NotFoundError:
            return None

    async def present(self, principal: Principal, key: str) -> Present:
        skill = await self.named(principal, key)
        versions = await self._registry.versions.all(principal, skill.id)
        published = not versions or any(version.digest == skill.digest for version in versions)
        return Present(skill=skill, bundle=await self._registry.shelf.bundle(skill), published=published)

    async def may_publish(self, principal: Principal, skill: Skill) -> bool:
        async with self._database.read() as session:
            namespace = await namespace_with_id(session, skill.namespace_id)
        return namespace is not None and role_held(principal, namespace).covers(Role.PUBLISHER)

    async def related(self, principal: Principal, keys: Sequence[str]) -> list[dict[str, Any]]:
        """What a model is told of related skills: what they are for, their files, and how those begin."""
        told: list[dict[str, Any]] = []
        for key in keys[:_MAX_RELATED]:
            skill = await self.named(principal, key)
            bundle = await self._registry.shelf.bundle(skill)
            texts = {path: text[:_BEGINNING] for path, text in texts_of(bundle).items()}
            told.append(
                {
                    "name": skill.name,
                    "description": skill.description,
                    "paths": [f"{skill.name}/{file.path}" for file in bundle],
                    "beginnings": texts,
                }
            )
        return told

    async def meant(
        self, principal: Principal, namespace_id: str | None, names: Iterable[str]
    ) -> dict[str, KnownSkill | None]:
        """The skills that names mean in a skill of a namespace, or with None in one of the principal's own."""
        wanted = set(names)
        async with self._database.read() as session:
            if namespace_id is None:
                own = await namespace_named(session, principal.tenant_id, principal.name)
                namespace_id = own.id if own else ""
            known = await some_visible_names(session, principal, keys=set(map(name_key, wanted)))
        return {name: known.meant(name_key(name), namespace_id) for name in wanted}

    async def dead_ends(
        self, principal: Principal, namespace_id: str | None, references: Iterable[Reference]
    ) -> list[str]:
        """References to other skills that are not written as they must be, or that lead nowhere."""
        outside = [each for each in references if each.target_skill]
        known = await self.meant(principal, namespace_id, [each.target_skill or "" for each in outside])
        problems: list[str] = []
        for each in outside:
            place = f"{each.source_file}:{each.line}: {each.text!r}"
            meant = known[each.target_skill or ""]
            if each.kind is ReferenceKind.WIKI or each.text.startswith("."):
                problems.append(f"{place}: write a file of another skill as `{each.target_skill}/folder/file`.")
            elif meant is None:
                problems.append(f"{place}: there is no skill {each.target_skill!r}.")
            elif each.target_path not in {"", SKILL_FILE}:
                skill = await self._registry.shelf.get(principal, meant.id)
                if all(file.path != each.target_path for file in skill.files):
                    problems.append(f"{place}: the skill {skill.name!r} has no file {each.target_path!r}.")
        return problems


def texts_of(bundle: Bundle) -> dict[str, str]:
    """The files of a skill that are text, SKILL.md first, as far as a model is to read them."""
    room = _MAX_TEXT
    texts: dict[str, str] = {}
    for file in sorted(bundle, key=lambda file: (file.path != SKILL_FILE, file.path)):
        try:
            text = file.data.decode()
        except UnicodeDecodeError:
            continue
        left_out = len(text) - room
        texts[file.path] = text if left_out <= 0 else f"{text[:room]}\n[… {left_out:,} more characters …]"
        room = max(0, room - len(text))
    return texts
