"""Making the changes to skills that were drafted: published, attached, detached, deleted; for one lesson once."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from skillyard.db.database import Database
from skillyard.errors import ConflictError, NotFoundError, SkillyardError, UnavailableError
from skillyard.history.entries import Entry, Why
from skillyard.history.store import entries_of
from skillyard.identity.agents import require_agent_rights
from skillyard.identity.principals import Principal, Scope
from skillyard.learning.drafts import Author, Draft, Effect, gone, half_done
from skillyard.learning.skills.attaching import EVERYONE, attach, attached_to, detach, visibility_of
from skillyard.learning.skills.drafting import NEW
from skillyard.learning.states import Operation, Target
from skillyard.learning.traces import same_words
from skillyard.registry.attachments import ATTACHED, DETACHED
from skillyard.registry.drafts import draft_as
from skillyard.registry.service import Registry
from skillyard.registry.skills import CREATED, DELETED, PUBLISHED, UPDATED, Skill, Version
from skillyard.registry.working_copies import require_base
from skillyard.releases.skill_canaries import SkillCanaries, Trial
from skillyard.releases.values import PROMOTED
from skillyard.skill.versions import Version as Number

_LOOKED_AT: Final = 50
"""Entries of one subject among which those of a lesson are."""


class SkillApplier:
    """Publishes as whoever applies: a new skill into their own namespace, a change where the skill is."""

    target = Target.SKILL

    def __init__(
        self,
        database: Database,
        registry: Registry,
        canaries: Callable[[], SkillCanaries] | None = None,
        *,
        tries_all: bool = False,
    ) -> None:
        """With `canaries`, what the evals of a skill speak for is released; with `tries_all`, every change is, to some
        first.
        """
        self._database = database
        self._registry = registry
        self._canaries = canaries
        self._tries_all = tries_all

    async def apply(self, draft: Draft, author: Author) -> Sequence[Effect]:
        """Make a change that `SkillDrafting` worked out. The effects come in their order: undoing goes backwards."""
        author.principal.require_scope(Scope.PUBLISH)
        why = author.why if author.why.feedback else replace(author.why, feedback=author.feedback)
        if draft.operation is Operation.DELETE:
            return await self._delete(draft, author.principal, why)
        if "digest" not in draft.content:
            skills, agents = draft.content["attach"], [draft.content["agent_id"]]
            await self._require_attachable(author.principal, skills, agents)
            return await self._attach(author.principal, skills, agents, why)
        if draft.operation is Operation.CREATE and await self._made_before(draft, author) is None:
            await self._require_attachable(author.principal, (), [draft.content["agent_id"]])
        canaries = self._releasing(draft)
        skill, version = await self._published(draft, author, why, canaries)
        if canaries is not None and Number.parse(version.version).is_prerelease:
            effects = await self._trial_effects(canaries, draft, author, skill, version)
        else:
            effects = await self._publication_effects(author.principal, draft, skill, version)
        if draft.operation is Operation.CREATE:
            agent_id = draft.content["agent_id"] or EVERYONE
            try:
                effects += await self._attach(author.principal, [skill.id], [agent_id], why)
            except UnavailableError:
                raise
            except SkillyardError as error:
                raise half_done(f"The skill {skill.full_name!r} is published", error) from error
        return effects

    def _releasing(self, draft: Draft) -> SkillCanaries | None:
        """Who releases a change, where it is more than published."""
        wanted = self._tries_all or draft.content.get("evaluated", False)
        return None if self._canaries is None or not wanted else self._canaries()

    async def _require_attachable(
        self, principal: Principal, skills: Sequence[str], agents: Sequence[str | None]
    ) -> None:
        """Refuses before anything is done what could not be ended."""
        require_agent_rights(principal)
        for skill_id in skills:
            await self._registry.shelf.get(principal, skill_id)
        for agent_id in agents:
            if agent_id is not None:
                await self._registry.agents.get(principal, agent_id)

    async def _published(
        self, draft: Draft, author: Author, why: Why, canaries: SkillCanaries | None
    ) -> tuple[Skill, Version]:
        try:
            return await self._publish(draft, author, why, canaries)
        except ConflictError:
            done = await self._made_before(draft, author)
            if done is None:
                raise
            return done  # by somebody else who carries out the same, and was quicker

    async def _made_before(self, draft: Draft, author: Author) -> tuple[Skill, Version] | None:
        skill = await self._present(author.principal, draft)
        if skill is None or author.key is None:
            return None
        notes = _notes(draft, author)
        for version in await self._registry.versions.all(author.principal, skill.id):
            if version.digest == draft.content["digest"] and version.notes == notes:
                return skill, version
        return None

    async def _publish(
        self, draft: Draft, author: Author, why: Why, canaries: SkillCanaries | None
    ) -> tuple[Skill, Version]:
        principal, digest = author.principal, draft.content["digest"]
        done = await self._made_before(draft, author)
        if done is not None:
            return done
        skill = await self._present(principal, draft)
        versions = [] if skill is None else await self._registry.versions.all(principal, skill.id)
        same = [version for version in versions if version.digest == digest]
        if skill is not None and draft.operation is Operation.CREATE:
            raise ConflictError(
                f"There is a skill {skill.full_name!r} by now.",
                hint="Work the change out anew, against that skill.",
                details={"field": "name", "value": skill.name},
            )
        if skill is not None:
            # Read after its versions: among them is one with these files if somebody was quicker with the same.
            skill = await self._registry.shelf.get(principal, skill.id)
            require_base(skill, draft.base)
        if canaries is not None and skill is not None and not versions:
            # Everyone is given the working copy: it stays what they are given while another is tried.
            before = await self._registry.publishing.publish(principal, skill.id, base=draft.base, why=why)
            versions = [before.version]
        wanted = draft.content["version"]
        tried = canaries and await canaries.number(principal, skill, draft.content["name"], wanted)
        if tried is not None:
            wanted = tried
        elif wanted is None and same:
            # An older state that comes back gets a number of its own: the same files would be taken for that version.
            wanted = str(max(Number.parse(version.version) for version in versions).bump("patch"))
        bundle = await self._registry.bundles.load(digest)
        publication = await self._registry.publishing.publish_bundle(
            principal,
            await asyncio.to_thread(draft_as, bundle, draft.content["name"]),
            namespace=skill and skill.namespace,
            version=wanted,
            visibility=None if skill else visibility_of(draft.content["agent_id"]),
            base=draft.base if skill else NEW,
            notes=_notes(draft, author),
            why=why,
        )
        return publication.skill, publication.version

    async def _present(self, principal: Principal, draft: Draft) -> Skill | None:
        """The skill that a draft is about, if it is there."""
        shelf = self._registry.shelf
        if draft.operation is Operation.CREATE:
            try:
                return await shelf.named(principal, draft.content["name"], principal.name)
            except NotFoundError:
                return None
        try:
            return await shelf.get(principal, draft.target_id or "")
        except NotFoundError:
            raise gone(draft) from None

    async def _delete(self, draft: Draft, principal: Principal, why: Why) -> list[Effect]:
        skill_id, agent_id = draft.target_id or "", draft.content["agent_id"]
        try:
            present = await self._registry.shelf.get(principal, skill_id)
        except NotFoundError:
            entry = await self._entry(principal, ("skill", skill_id), {DELETED})
            if entry is None or not same_words(entry.why, why):
                raise gone(draft) from None
        else:
            require_base(present, draft.base)
            agents = await attached_to(self._registry.attachments, principal, skill_id, agent_id)
            await detach(self._registry.attachments, principal, skill_id, agents, why)
            await self._registry.workbench.delete(principal, skill_id, base=draft.base, why=why)
        effects = await self._attachment_effects(principal, skill_id, [agent_id, EVERYONE], DETACHED, why)
        deleted = await self._entry(principal, ("skill", skill_id), {DELETED})
        number = deleted and deleted.number
        return [
            *effects,
            Effect(kind="skill", operation=Operation.DELETE, id=skill_id, label=draft.target_name, history=number),
        ]

    async def _attach(
        self, principal: Principal, skills: Sequence[str], agents: Sequence[str | None], why: Why
    ) -> list[Effect]:
        effects: list[Effect] = []
        for skill_id in skills:
            await attach(self._registry.attachments, principal, skill_id, agents, why)
            effects += await self._attachment_effects(principal, skill_id, agents, ATTACHED, why)
        return effects

    async def _publication_effects(
        self, principal: Principal, draft: Draft, skill: Skill, version: Version
    ) -> list[Effect]:
        """The working copy and the version: the one goes back, the other is yanked."""
        copied = await self._effect(principal, draft, skill, version, {CREATED, UPDATED})
        return [*copied, *await self._effect(principal, draft, skill, version, {PUBLISHED})]

    async def _effect(
        self, principal: Principal, draft: Draft, skill: Skill, version: Version, actions: set[str]
    ) -> list[Effect]:
        entry = await self._entry(principal, ("skill", skill.id), actions, digest=version.digest)
        if entry is None:
            return []
        return [
            Effect(
                kind="skill",
                operation=draft.operation,
                id=skill.id,
                label=skill.full_name,
                version=version.version,
                history=entry.number,
            )
        ]

    async def _trial_effects(
        self, canaries: SkillCanaries, draft: Draft, author: Author, skill: Skill, version: Version
    ) -> list[Effect]:
        """The release. To take it back takes the version and the working copy back as well."""
        trial = Trial(
            skill=skill,
            version=version,
            key=author.key,
            summary=draft.summary,
            report=_report(draft),
            feedback=author.feedback,
            proven=not self._tries_all,
        )
        try:
            release = await canaries.begin(author.principal, trial)
        except UnavailableError:
            raise
        except SkillyardError as error:
            raise half_done(f"{skill.full_name!r} {version.version} is published", error) from error
        effects: list[Effect] = []
        if draft.operation is Operation.CREATE:
            effects += await self._effect(author.principal, draft, skill, version, {CREATED})
        entry = await self._entry(author.principal, ("release", release.id), {PROMOTED})
        return [
            *effects,
            Effect(
                kind="release",
                operation=draft.operation,
                id=release.id,
                label=f"{skill.full_name} ({release.stage})",
                version=await self._number(author.principal, skill, version),
                history=entry and entry.number,
            ),
        ]

    async def _number(self, principal: Principal, skill: Skill, version: Version) -> str:
        """What a version is called by now: one that is for all has a number of its own."""
        versions = await self._registry.versions.all(principal, skill.id)
        same = [Number.parse(each.version) for each in versions if each.digest == version.digest]
        return str(max(same))

    async def _attachment_effects(
        self, principal: Principal, skill_id: str, agents: Sequence[str | None], action: str, why: Why
    ) -> list[Effect]:
        """What these words led to; an attachment that was there before is none of it."""
        effects: list[Effect] = []
        for agent_id in dict.fromkeys(agents):
            subject = ("tenant", principal.tenant_id) if agent_id is None else ("agent", agent_id)
            entry = await self._entry(principal, subject, {action}, skill_id=skill_id)
            if entry is not None and same_words(entry.why, why):
                operation = Operation.CREATE if action == ATTACHED else Operation.DELETE
                label = f"{(entry.change.after or {})['skill']} → {entry.change.subject.label}"
                effects.append(
                    Effect(
                        kind="attachment", operation=operation, id=agent_id or "*", label=label, history=entry.number
                    )
                )
        return effects

    async def _entry(
        self,
        principal: Principal,
        subject: tuple[str, str],
        actions: set[str],
        *,
        digest: str | None = None,
        skill_id: str | None = None,
    ) -> Entry | None:
        """The last such change of a subject that still stands."""
        async with self._database.read() as session:
            entries = await entries_of(
                session, None, tenant_id=principal.tenant_id, subjects=[subject], limit=_LOOKED_AT
            )
        for entry in entries:
            after: dict[str, Any] = dict(entry.change.after or {})
            if (
                entry.done
                and entry.undone_by is None
                and entry.change.action in actions
                and digest in {None, entry.change.digest_after}
                and skill_id in {None, after.get("skill_id")}
            ):
                return entry
        return None


def _notes(draft: Draft, author: Author) -> str:
    """What a version says of itself; by the key of what it is from it is known when it is to be made again."""
    key = f" ({author.key})" if author.key else ""
    return f"{draft.summary}{key}"


def _report(draft: Draft) -> str:
    """What speaks for a version that nobody has used yet: somebody's feedback, and that it was looked over."""
    told = [str(warning["message"]) for warning in draft.warnings]
    return "\n".join(["It is from feedback, and passed the checks that every change to a skill passes.", *told])
