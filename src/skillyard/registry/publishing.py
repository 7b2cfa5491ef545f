"""Publishing: an immutable version for a bundle."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from skillyard.clock import Clock, utc_now
from skillyard.db.base import new_id
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError, InputError
from skillyard.history.entries import Change, Why
from skillyard.identity.directory import Namespace
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.registry.bundles import Bundles
from skillyard.registry.drafts import Draft, draft_of
from skillyard.registry.intake import Intake
from skillyard.registry.policies import PolicyError, require_policy
from skillyard.registry.rights import require_skill_role, visible_skill, writable_namespace
from skillyard.registry.rows import add_version
from skillyard.registry.skills import PUBLISHED, Skill, Version, VersionState, Visibility, skill_subject
from skillyard.registry.store import skill_named, version_taken, versions_of
from skillyard.registry.workbench import Workbench, require_base
from skillyard.skill.versions import Version as Number

_FIRST: Final = "0.1.0"


@dataclass(frozen=True, kw_only=True, slots=True)
class Publication:
    """What publishing led to."""

    skill: Skill
    version: Version
    created: bool
    """False: this very bundle had this version already."""


class Publishing:
    """Puts immutable labels on bundles."""

    def __init__(
        self, database: Database, bundles: Bundles, workbench: Workbench, intake: Intake, *, clock: Clock = utc_now
    ) -> None:
        self._database = database
        self._bundles = bundles
        self._workbench = workbench
        self._intake = intake
        self._clock = clock

    async def publish_bundle(
        self,
        principal: Principal,
        draft: Draft,
        *,
        namespace: str | None = None,
        version: str | None = None,
        visibility: Visibility | None = None,
        base: str | None = None,
        notes: str = "",
        why: Why,
    ) -> Publication:
        """Publish files from elsewhere: the skill is made if need be, and its working copy becomes these files."""
        principal.require_scope(Scope.PUBLISH)
        async with self._database.read() as session:
            # Publishing takes the role that showing does, whatever is to be shown.
            place = await writable_namespace(session, principal, namespace, Visibility.PUBLIC)
        number = _wanted(version, draft)

        async def work(transaction: Transaction) -> Publication:
            present = await skill_named(transaction.session, place.id, draft.name)
            done = await self._done_before(transaction, present, draft, number) if present else None
            if done is not None:
                skill = await self._workbench.show_within(transaction, principal, done.skill, visibility, why)
                return replace(done, skill=skill)
            taken = await self._intake.place(
                transaction, principal, place, draft, present, visibility=visibility, base=base, why=why
            )
            return await self._label(transaction, principal, taken.skill, draft, number, notes, why)

        return await self._attempt(principal, place, draft, why, work)

    async def publish(
        self,
        principal: Principal,
        skill_id: str,
        *,
        version: str | None = None,
        base: str | None = None,
        notes: str = "",
        why: Why,
    ) -> Publication:
        """Publish the working copy of a skill as it stands."""
        async with self._database.read() as session:
            skill = await visible_skill(session, principal, skill_id)
            place = await require_skill_role(session, principal, skill, Role.PUBLISHER, Scope.PUBLISH)
        require_base(skill, base)
        draft = await asyncio.to_thread(draft_of, await self._bundles.load(skill.digest), folder=skill.name)
        number = _wanted(version, draft)

        async def work(transaction: Transaction) -> Publication:
            now = await visible_skill(transaction.session, principal, skill_id)
            require_base(now, skill.digest)
            return await self._label(transaction, principal, now, draft, number, notes, why)

        return await self._attempt(principal, place, draft, why, work)

    async def _done_before(
        self, transaction: Transaction, skill: Skill, draft: Draft, wanted: Number | None
    ) -> Publication | None:
        """What publishing these files led to before: a job that runs again must not bring an old state back."""
        versions = (await versions_of(transaction.session, [skill.id]))[skill.id]
        same = next(
            (
                one
                for one in versions
                if one.digest == draft.bundle.digest and wanted in {None, Number.parse(one.version)}
            ),
            None,
        )
        return same and Publication(skill=skill, version=same, created=False)

    async def _label(
        self,
        transaction: Transaction,
        principal: Principal,
        skill: Skill,
        draft: Draft,
        wanted: Number | None,
        notes: str,
        why: Why,
    ) -> Publication:
        """Give the bundle a version, unless it has that one already."""
        session = transaction.session
        versions = (await versions_of(session, [skill.id]))[skill.id]
        if wanted is None:
            same = next((one for one in versions if one.digest == draft.bundle.digest), None)
            if same is not None:
                return Publication(skill=skill, version=same, created=False)
            wanted = Number.parse(str(await self._next_free(transaction, skill, versions)))
        elif taken := await version_taken(session, skill.namespace_id, skill.name, str(wanted)):
            if taken.digest == draft.bundle.digest and taken.skill_id == skill.id:
                return Publication(skill=skill, version=taken, created=False)
            raise _version_taken(skill, taken)
        namespace = await require_skill_role(session, principal, skill, Role.PUBLISHER, Scope.PUBLISH)
        require_policy(namespace, draft)
        version = Version(
            id=new_id(),
            skill_id=skill.id,
            version=str(wanted),
            digest=draft.bundle.digest,
            state=VersionState.PENDING if namespace.policy.review else VersionState.PUBLISHED,
            notes=notes,
            requires=draft.requires,
            published_by=principal.person_id,
            published_at=self._clock(),
        )
        add_version(transaction, skill, version)
        change = Change(
            action=PUBLISHED,
            subject=skill.subject,
            after={"version": version.version, "state": version.state.value},
            digest_after=version.digest,
        )
        await self._workbench.note(transaction, principal, skill.id, change, why)
        return Publication(skill=await self._workbench.now(transaction, skill.id), version=version, created=True)

    async def _next_free(self, transaction: Transaction, skill: Skill, versions: Sequence[Version]) -> Number:
        newest = max((Number.parse(one.version) for one in versions), default=None)
        number = newest.bump("patch") if newest else Number.parse(_FIRST)
        while await version_taken(transaction.session, skill.namespace_id, skill.name, str(number)):
            number = number.bump("patch")  # a deleted skill of this name had it
        return number

    async def _attempt(
        self,
        principal: Principal,
        namespace: Namespace,
        draft: Draft,
        why: Why,
        work: Callable[[Transaction], Awaitable[Publication]],
    ) -> Publication:
        try:
            return await self._bundles.commit(draft.bundle, work)
        except (ConflictError, PolicyError) as error:
            async with self._database.read() as session:
                skill = await skill_named(session, namespace.id, draft.name)
            subject = skill_subject(skill.id if skill else "", f"{namespace.name}/{draft.name}", namespace.audience)
            await self._workbench.note_refusal(principal, draft.bundle, PUBLISHED, subject, why, error)
            raise


def _wanted(version: str | None, draft: Draft) -> Number | None:
    """The number asked for, else the one that SKILL.md states, else none."""
    if version is not None:
        return Number.parse(version)
    stated = draft.document.metadata.get("version") or draft.document.extra.get("version")
    try:
        return Number.parse(str(stated)) if stated else None
    except InputError:
        return None  # the wild writes "1.0" and "latest" there


def _version_taken(skill: Skill, taken: Version) -> ConflictError:
    return ConflictError(
        f"{skill.full_name!r} {taken.version} is published already, with other content.",
        hint="A version is never replaced: publish under the next number.",
        details={"field": "version", "value": taken.version, "digest": taken.digest},
    )
