"""Making the changes to skills that were drafted: published, attached, detached, deleted; for one lesson once."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from skillyard.db.database import Database
from skillyard.errors import ConflictError, NotFoundError
from skillyard.history.entries import Entry, Why
from skillyard.history.store import entries_of
from skillyard.identity.principals import Principal, Scope
from skillyard.learning.drafts import Author, Draft, Effect
from skillyard.learning.skills.attaching import EVERYONE, attach, attached_to, detach
from skillyard.learning.skills.drafting import NEW
from skillyard.learning.states import Operation, Target
from skillyard.learning.traces import same_words
from skillyard.registry.attachments import ATTACHED, DETACHED
from skillyard.registry.drafts import draft_of
from skillyard.registry.service import Registry
from skillyard.registry.skills import CREATED, DELETED, PUBLISHED, UPDATED, Skill, Version, Visibility
from skillyard.registry.working_copies import require_base
from skillyard.skill.versions import Version as Number

_LOOKED_AT: Final = 50
"""Entries of one subject among which those of a lesson are."""


class SkillApplier:
    """Publishes as whoever applies: a new skill into their own namespace, a change where the skill is."""

    target = Target.SKILL

    def __init__(self, database: Database, registry: Registry) -> None:
        self._database = database
        self._registry = registry

    async def apply(self, draft: Draft, author: Author) -> Sequence[Effect]:
        """Make a change that `SkillDrafting` worked out. The effects come in their order: undoing goes backwards."""
        author.principal.require_scope(Scope.PUBLISH)
        why = author.why if author.why.feedback else replace(author.why, feedback=author.feedback)
        if draft.operation is Operation.DELETE:
            return await self._delete(draft, author.principal, why)
        if "digest" not in draft.content:
            return await self._attach(author.principal, draft.content["attach"], [draft.content["agent_id"]], why)
        skill, version = await self._published(draft, author, why)
        effects = await self._publication_effects(author.principal, draft, skill, version)
        if draft.operation is Operation.CREATE:
            agents = list(dict.fromkeys([draft.content["agent_id"], EVERYONE]))
            effects += await self._attach(author.principal, [skill.id], agents, why)
        return effects

    async def _published(self, draft: Draft, author: Author, why: Why) -> tuple[Skill, Version]:
        principal, digest = author.principal, draft.content["digest"]
        skill = await self._present(principal, draft)
        versions = [] if skill is None else await self._registry.versions.all(principal, skill.id)
        same = [version for version in versions if version.digest == digest]
        done = next((version for version in same if author.lesson_id and version.notes == _notes(draft, author)), None)
        if skill is not None and done is not None:
            return skill, done
        if skill is not None and draft.operation is Operation.CREATE:
            raise ConflictError(
                f"There is a skill {skill.full_name!r} by now.",
                hint="Work the change out anew, against that skill.",
                details={"field": "name", "value": skill.name},
            )
        if skill is not None:
            require_base(skill, draft.base)
        wanted = draft.content["version"]
        if wanted is None and same:
            # An older state that comes back gets a number of its own: the same files would be taken for that version.
            wanted = str(max(Number.parse(version.version) for version in versions).bump("patch"))
        bundle = await self._registry.bundles.load(digest)
        publication = await self._registry.publishing.publish_bundle(
            principal,
            await asyncio.to_thread(draft_of, bundle, folder=draft.content["name"]),
            namespace=skill and skill.namespace,
            version=wanted,
            visibility=None if skill else Visibility.PUBLIC,
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
            raise _gone(draft) from None

    async def _delete(self, draft: Draft, principal: Principal, why: Why) -> list[Effect]:
        skill_id, agent_id = draft.target_id or "", draft.content["agent_id"]
        try:
            await self._registry.shelf.get(principal, skill_id)
        except NotFoundError:
            entry = await self._entry(principal, ("skill", skill_id), {DELETED})
            if entry is None or not same_words(entry.why, why):
                raise _gone(draft) from None
        else:
            agents = await attached_to(self._registry.attachments, principal, skill_id, agent_id)
            await detach(self._registry.attachments, principal, skill_id, agents, why)
            await self._registry.workbench.delete(principal, skill_id, base=draft.base, why=why)
        effects = await self._attachment_effects(principal, skill_id, [agent_id, EVERYONE], DETACHED, why)
        gone = await self._entry(principal, ("skill", skill_id), {DELETED})
        number = gone and gone.number
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
        effects: list[Effect] = []
        for actions in ({CREATED, UPDATED}, {PUBLISHED}):
            entry = await self._entry(principal, ("skill", skill.id), actions, digest=version.digest)
            if entry is not None:
                effects.append(
                    Effect(
                        kind="skill",
                        operation=draft.operation,
                        id=skill.id,
                        label=skill.full_name,
                        version=version.version,
                        history=entry.number,
                    )
                )
        return effects

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
    """What a version says of itself; by the lesson's id it is known when it is to be made again."""
    lesson = f" ({author.lesson_id})" if author.lesson_id else ""
    return f"{draft.summary}{lesson}"


def _gone(draft: Draft) -> ConflictError:
    return ConflictError(
        f"The skill {draft.target_name!r} is not there any more.",
        hint="Look again at what is known, and work the change out anew.",
        details={"field": "skill_id", "value": draft.target_id},
    )
