"""Working out what a skill would become: written, looked over, tried, and kept until it is decided on."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import ValidationError

from skillyard.errors import InputError, SkillyardError, UsageError
from skillyard.identity.principals import Principal, Scope
from skillyard.learning.drafts import ADMIN_NEEDED, Author, Draft, remark
from skillyard.learning.skill_wish import SkillWish
from skillyard.learning.skills.artifact import SkillArtifact
from skillyard.learning.skills.attaching import attached_to, visibility_of
from skillyard.learning.skills.attempts import FailedAttempts
from skillyard.learning.skills.author import Shape, SkillAuthor, Task, Written, changed, created, not_kept
from skillyard.learning.skills.creator import SkillCreator
from skillyard.learning.skills.edits import SkillEdits, overlaid
from skillyard.learning.skills.finishing import with_next_version, with_related
from skillyard.learning.skills.inspection import inspect
from skillyard.learning.skills.known_skills import KnownSkills, Present
from skillyard.learning.skills.placeholders import losses
from skillyard.learning.skills.proving import Proving
from skillyard.learning.states import MergeMode, Operation, Target
from skillyard.registry.drafts import draft_as
from skillyard.registry.service import Registry
from skillyard.skill.bundle import Bundle

NEW: Final = "new"
"""The base of a skill that is not there yet: whatever has its name then is not replaced."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """The way by which skills are made."""

    proving: Proving
    creator: SkillCreator | None = None
    """None: directly."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillWork:
    """One skill that is to be made, changed or deleted."""

    author: Author
    wish: SkillWish
    task: Task
    route: Route
    artifact: Mapping[str, Any] | None = None
    """What the skill is to say, or its edits, where somebody wrote that already."""

    @property
    def principal(self) -> Principal:
        return self.author.principal


@dataclass(frozen=True, kw_only=True, slots=True)
class _Looked:
    """A skill that was written, and what is to be said about it."""

    name: str
    bundle: Bundle
    summary: str
    version: str | None
    problems: Sequence[str]
    asks: Sequence[str] = ()
    remarks: Sequence[Mapping[str, Any]] = ()
    evaluated: bool = False
    """Whether checks of its evals were run, and speak for it."""


class SkillDrafting:
    """Turns wishes into checked drafts. Nothing changes; the files of a draft are kept."""

    def __init__(self, registry: Registry, known: KnownSkills, author: SkillAuthor, attempts: FailedAttempts) -> None:
        self._registry = registry
        self._known = known
        self._author = author
        self._attempts = attempts

    async def draft(self, work: SkillWork) -> Draft:
        """What would change. A skill that is not right, or not safe, is refused with the reasons."""
        work.principal.require_scope(Scope.WRITE)
        if work.wish.operation is Operation.CREATE:
            return await self._made(work, None)
        if not work.wish.skill_id:
            raise UsageError("skill_id is missing.", hint="Say which skill is meant.", details={"field": "skill_id"})
        present = await self._known.present(work.principal, work.wish.skill_id)
        if work.wish.operation is Operation.DELETE:
            return await self._deleted(work, present)
        return await self._made(work, present)

    async def _made(self, work: SkillWork, present: Present | None) -> Draft:
        looked = await self._written(work, present)
        if present is not None and looked.bundle.digest == present.bundle.digest:
            return self._draft(work, present, {}, f"The skill {present.skill.full_name!r} says so already.", looked)
        if work.route.creator is not None:
            old = present and present.bundle
            try:
                await work.route.creator.make(work.principal, looked.name, looked.bundle, old)
            except SkillyardError as error:
                skill = present and present.skill
                await self._attempts.record(work.author, looked.name, skill, looked.bundle, error)
                raise
        await self._registry.bundles.keep(looked.bundle)
        content = {
            "digest": looked.bundle.digest,
            "name": looked.name,
            "version": looked.version,
            "agent_id": work.author.agent_id,
            "evaluated": looked.evaluated,
        }
        if present is None:
            return self._draft(work, None, content, f"New skill {looked.name!r}: {looked.summary}", looked)
        return self._draft(work, present, content, f"{present.skill.full_name!r}: {looked.summary}", looked)

    async def _written(self, work: SkillWork, present: Present | None) -> _Looked:
        """What the skill would be, by the hand of the author or of whoever gave the artifact."""
        found: list[_Looked] = []

        async def check(written: Written) -> Sequence[str]:
            found.append(await self._looked(work, written, present))
            return found[-1].problems

        if work.artifact is not None:
            problems = await check(_given(work.artifact, present))
            if problems:
                raise not_kept(problems)
            return found[-1]
        creator = work.route.creator
        task = work.task if creator is None else replace(work.task, guide=await creator.guide())
        if present is None:
            await self._author.create(task, check)
        else:
            await self._author.update(task, present.skill.name, present.bundle, check)
        return found[-1]

    async def _looked(self, work: SkillWork, written: Written, present: Present | None) -> _Looked:
        principal, old = work.principal, present and present.bundle
        problems = [] if present else await self._name_problems(principal, written.name)
        if old is not None and work.wish.merge_mode is not MergeMode.REPLACE:
            problems += losses(written.revision.bundle, old, set(written.revision.rewritten))
        namespace_id = present and present.skill.namespace_id
        bundle, version = await self._finished(work, written, present)
        seen = await asyncio.to_thread(inspect, bundle, old, name=written.name)
        problems += [*seen.problems, *await self._known.dead_ends(principal, namespace_id, seen.references)]
        asks = [*await self._asks(principal, present), *seen.asks, *written.asks]
        remarks = [remark("scan", text) for text in seen.warnings]
        evaluated = False
        if not problems:
            await self._rehearse(work, bundle, written.name, version, present)
            proof = await work.route.proving.prove(principal, written.name, bundle, old)
            problems += proof.verdict.problems
            asks += proof.asks
            remarks += [remark("trial", text) for text in proof.verdict.warnings]
            remarks += [remark("evals", text, "note") for text in proof.verdict.facts]
            evaluated = bool(proof.verdict.facts)
        return _Looked(
            name=written.name,
            bundle=bundle,
            summary=written.summary,
            version=version,
            problems=problems,
            asks=asks,
            remarks=remarks,
            evaluated=evaluated,
        )

    async def _finished(self, work: SkillWork, written: Written, present: Present | None) -> tuple[Bundle, str | None]:
        """The skill with pointers to related ones, and with its next number."""
        principal, bundle = work.principal, written.revision.bundle
        if present is not None and bundle.digest == present.bundle.digest:
            return bundle, None
        skills = [await self._known.named(principal, key) for key in work.wish.related_skill_ids]
        reached = await self._known.meant(
            principal, present and present.skill.namespace_id, [skill.name for skill in skills]
        )
        related = {skill.name: skill.description for skill in skills if reached[skill.name] is not None}
        bundle = await asyncio.to_thread(with_related, bundle, written.name, related)
        if present is None:
            return bundle, None
        versions = await self._registry.versions.all(principal, present.skill.id)
        return with_next_version(bundle, [version.version for version in versions])

    async def _name_problems(self, principal: Principal, name: str) -> list[str]:
        taken = await self._known.find(principal, name)
        return [f"name: there is a skill {taken.full_name!r} already; choose another name."] if taken else []

    async def _asks(self, principal: Principal, present: Present | None) -> list[str]:
        """Why a person has to agree, whatever the change is."""
        if present is None:
            return [] if principal.admin else [ADMIN_NEEDED]
        asks: list[str] = []
        name = present.skill.full_name
        if present.lock:
            asks.append(f"{name!r} is locked by a person ({present.lock}).")
        if not present.published:
            asks.append(f"{name!r} has edits that were never published, and this would publish them too.")
        if not await self._known.may_publish(principal, present.skill):
            asks.append(f"Only a publisher of {present.skill.namespace!r} may change {name!r}.")
        return asks

    async def _rehearse(
        self, work: SkillWork, bundle: Bundle, name: str, version: str | None, present: Present | None
    ) -> None:
        """Have the registry say what it would refuse, where this principal is the one to publish it."""
        principal = work.principal
        allowed = principal.scope.covers(Scope.PUBLISH)
        if not allowed or (present is not None and not await self._known.may_publish(principal, present.skill)):
            return
        await self._registry.publishing.publish_bundle(
            principal,
            await asyncio.to_thread(draft_as, bundle, name),
            namespace=present and present.skill.namespace,
            version=version,
            visibility=None if present else visibility_of(work.author.agent_id),
            base=present.skill.digest if present else NEW,
            dry_run=True,
            why=work.author.why,
        )

    async def _deleted(self, work: SkillWork, present: Present) -> Draft:
        principal, skill, agent_id = work.principal, present.skill, work.author.agent_id
        asks = await self._asks(principal, present)
        if await attached_to(self._registry.attachments, principal, skill.id, agent_id) and not principal.admin:
            asks.append(ADMIN_NEEDED)
        impact = await self._registry.references.impact(principal, skill.id)
        asks += [f"{edge.source.full_name!r} points to it ({edge.file}:{edge.line})." for edge in impact.references]
        asks += [f"{each.full_name!r} requires it." for each in impact.dependents]
        looked = _Looked(
            name=skill.name, bundle=present.bundle, summary="", version=None, problems=(), asks=asks, remarks=()
        )
        return self._draft(work, present, {"agent_id": agent_id}, f"Delete the skill {skill.full_name!r}.", looked)

    def _draft(
        self, work: SkillWork, present: Present | None, content: Mapping[str, Any], summary: str, looked: _Looked
    ) -> Draft:
        wish = work.wish
        return Draft(
            target=Target.SKILL,
            operation=wish.operation if content else Operation.NOOP,
            target_id=present and present.skill.id,
            target_name=present.skill.full_name if present else looked.name,
            audience=present.skill.subject.audience if present else "",
            base=present and present.skill.digest,
            content=content,
            summary=summary[:1_000],
            reasons=[wish.relationship_analysis] if wish.relationship_analysis else (),
            relations=wish.relations,
            warnings=[*(remark("person", text) for text in looked.asks), *looked.remarks],
            locked=bool(looked.asks),
        )


async def attach_draft(known: KnownSkills, author: Author, skills: Sequence[str]) -> Draft:
    """A draft that gives an agent skills that exist."""
    found = [await known.named(author.principal, key) for key in skills]
    names = ", ".join(skill.full_name for skill in found)
    asks = [] if author.principal.admin else [ADMIN_NEEDED]
    return Draft(
        target=Target.SKILL,
        operation=Operation.UPDATE,
        target_id=found[0].id,
        target_name=names,
        audience=found[0].subject.audience,
        base=None,
        content={"attach": [skill.id for skill in found], "agent_id": author.agent_id},
        summary=f"Attach {names} to the agent {author.agent_id!r}.",
        warnings=[remark("person", text) for text in asks],
        locked=bool(asks),
    )


def _given(artifact: Mapping[str, Any], present: Present | None) -> Written:
    if present is None:
        return created(_read(SkillArtifact, artifact))
    name, old = present.skill.name, present.bundle
    if "edits" in artifact:
        return changed(name, old, _read(SkillEdits, artifact))
    whole = _read(SkillArtifact, {"name": name, "description": present.skill.description, **artifact})
    return Written(name=name, revision=overlaid(old, whole, name), summary=whole.description)


def _read(shape: type[Shape], artifact: Mapping[str, Any]) -> Shape:
    try:
        return shape.model_validate(artifact)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise InputError(
            f"skill_artifact.{field}: {first['msg']}.",
            hint="See the fields of a skill artifact.",
            details={"field": field},
        ) from None
