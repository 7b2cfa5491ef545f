"""Reading skills: listing, by id, by name, file by file."""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from skillyard.db.database import Database
from skillyard.db.until_changed import UntilChanged
from skillyard.errors import InputError, NotFoundError
from skillyard.identity.principals import Principal, Scope
from skillyard.identity.store import namespace_named
from skillyard.registry.bundles import Bundles
from skillyard.registry.pages import page_of_skills, skills_named_like
from skillyard.registry.rights import no_skill, visible_skill
from skillyard.registry.skills import Skill, SkillFile, Visibility
from skillyard.registry.store import file_with_id, skill_in, skills_called
from skillyard.registry.summaries import Counts, Filters, visible_counts, visible_filters
from skillyard.skill.bundle import Bundle
from skillyard.skill.limits import MIB
from skillyard.skill.requires import name_key

MAX_PAGE: Final = 200
MAX_PAGE_BYTES: Final = 8 * MIB
"""A page of skills that are larger than usual ends early: 200 of them could be 200 MiB."""
_MAX_WORDS: Final = 8
_COUNTS: Final = 64
_NAMED: Final = 64
"""Skills that are kept for whoever opens one page of them after the other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillPage:
    skills: tuple[Skill, ...]
    next: str | None
    """The cursor of the page after this one."""


class Shelf:
    """What a principal may see, and nothing else."""

    def __init__(self, database: Database, bundles: Bundles) -> None:
        self._database = database
        self._bundles = bundles
        self._counts = UntilChanged[frozenset[str], Counts](database, size=_COUNTS)
        self._filters = UntilChanged[frozenset[str], Filters](database, size=_COUNTS)
        self._named = UntilChanged[tuple[str, str, str], Skill | None](database, size=_NAMED)

    async def counts(self, principal: Principal) -> Counts:
        """How many skills the principal may see."""
        principal.require_scope(Scope.READ)

        async def count() -> Counts:
            async with self._database.read() as session:
                return await visible_counts(session, principal)

        return await self._counts.get(principal.audiences, count)

    async def filters(self, principal: Principal) -> Filters:
        """The namespaces and tags of the skills that the principal may see."""
        principal.require_scope(Scope.READ)

        async def find() -> Filters:
            async with self._database.read() as session:
                return await visible_filters(session, principal)

        return await self._filters.get(principal.audiences, find)

    async def page(
        self,
        principal: Principal,
        *,
        include_public: bool = True,
        tags: Sequence[str] = (),
        q: str = "",
        namespace: str | None = None,
        visibility: Visibility | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> SkillPage:
        """Skills in the order of their names, all tags and all words matching; fewer than `limit` if they are large.

        Without `include_public`, those of the namespaces that the principal is in, whoever may see them.
        """
        principal.require_scope(Scope.READ)
        audiences = _places(principal)
        namespaces = None if include_public else set(principal.roles)
        after = _read_cursor(cursor) if cursor else None
        async with self._database.read() as session:
            if namespace is not None:
                found = await namespace_named(session, principal.tenant_id, namespace)
                named = {found.id} if found else set[str]()
                namespaces = named if namespaces is None else named & namespaces
            skills, more = await page_of_skills(
                session,
                audiences,
                after=after,
                tags=tags,
                words=q.split()[:_MAX_WORDS],
                namespaces=namespaces,
                visibility=visibility,
                limit=max(1, min(limit, MAX_PAGE)),
                max_bytes=MAX_PAGE_BYTES,
            )
        return SkillPage(skills=tuple(skills), next=_write_cursor(skills[-1]) if more else None)

    async def named_like(self, principal: Principal, typed: str, *, limit: int) -> list[Skill]:
        """Skills for whoever has typed a part of a name, or of `namespace/name`: the most likely first."""
        principal.require_scope(Scope.READ)
        namespace, _, name = typed.strip().rpartition("/")
        words = name.split()[:_MAX_WORDS]
        async with self._database.read() as session:
            found = await namespace_named(session, principal.tenant_id, namespace) if namespace else None
            if (namespace and found is None) or not (words or found):
                return []
            namespace_id = found.id if found else None
            return await skills_named_like(session, _places(principal), words, namespace_id=namespace_id, limit=limit)

    async def get(self, principal: Principal, skill_id: str) -> Skill:
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            return await visible_skill(session, principal, skill_id)

    async def named(self, principal: Principal, name: str, namespace: str | None = None) -> Skill:
        """A skill by its name, compared without case.

        Without a namespace, the principal's own comes first, then their teams', the system's, and anyone's public one.
        """
        principal.require_scope(Scope.READ)
        full_name = f"{namespace}/{name}" if namespace else name
        if namespace is not None:
            skill = await self._in_namespace(principal.tenant_id, namespace, name)
            if skill is None or skill.audience not in principal.audiences:
                raise no_skill(full_name)
            return skill
        async with self._database.read() as session:
            candidates = await skills_called(session, name, principal.audiences)
        if not candidates:
            raise no_skill(full_name)
        return min(candidates, key=lambda skill: _nearness(principal, skill))

    async def _in_namespace(self, tenant_id: str, namespace: str, name: str) -> Skill | None:
        """Whoever may see it."""

        async def find() -> Skill | None:
            async with self._database.read() as session:
                return await skill_in(session, tenant_id, namespace, name)

        return await self._named.get((tenant_id, namespace, name), find)

    async def file(self, principal: Principal, skill_id: str, path: str) -> tuple[Skill, SkillFile]:
        """A file of a skill's working copy."""
        skill = await self.get(principal, skill_id)
        file = next((file for file in skill.files if file.path == path), None)
        if file is None:
            raise NotFoundError(
                f"{skill.full_name!r} has no file {path!r}.",
                hint=f"It has: {', '.join(file.path for file in skill.files[:10])}.",
                details={"skill": skill.full_name, "path": path},
            )
        return skill, file

    async def file_with_id(self, principal: Principal, file_id: str) -> tuple[Skill, SkillFile]:
        async with self._database.read() as session:
            found = await file_with_id(session, file_id)
            if found is None:
                raise no_file(file_id)
            try:
                return await visible_skill(session, principal, found[0]), found[1]
            except NotFoundError:
                raise no_file(file_id) from None

    async def content(self, file: SkillFile) -> bytes:
        return await self._bundles.content(file.sha256)

    async def bundle(self, skill: Skill) -> Bundle:
        """The files of the working copy."""
        return await self._bundles.load(skill.digest)


def no_file(file_id: str) -> NotFoundError:
    return NotFoundError(
        f"There is no file {file_id!r}, or not for you.", hint="A skill lists its files with their ids."
    )


def _places(principal: Principal) -> set[str]:
    """Whose skills are listed for the principal: not those of elsewhere that anyone may find."""
    return {key for key in principal.audiences if key.startswith(("tenant:", "namespace:"))}


def _nearness(principal: Principal, skill: Skill) -> tuple[int, str]:
    if skill.namespace == principal.name:
        return 0, skill.namespace
    if skill.namespace_id in principal.roles:
        return 1, skill.namespace
    return (2 if skill.owner_id is None else 3), skill.namespace


def _write_cursor(skill: Skill) -> str:
    text = json.dumps([name_key(skill.name), skill.id])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read_cursor(cursor: str) -> tuple[str, str]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        key, skill_id = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        if isinstance(key, str) and isinstance(skill_id, str) and "\0" not in key + skill_id:
            (key + skill_id).encode()
            return key, skill_id
    except (ValueError, binascii.Error, TypeError, RecursionError):
        pass
    raise InputError(
        "The cursor is not one of ours.",
        hint="Pass on the 'next_cursor' of the page before, or none for the first page.",
        details={"field": "cursor", "value": cursor[:100]},
    )
