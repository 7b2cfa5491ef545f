"""Publishing: an immutable version for a bundle."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from sqlalchemy import update

from skillyard.clock import Clock, utc_now
from skillyard.db.base import new_id
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError, InputError
from skillyard.history.entries import Change, Why
from skillyard.identity.directory import Namespace
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.registry.attempts import Attempts
from skillyard.registry.bundles import Bundles
from skillyard.registry.drafts import Draft, draft_of
from skillyard.registry.intake import Intake
from skillyard.registry.models import VersionRow
from skillyard.registry.policies import require_policy, waiver_of
from skillyard.registry.rights import require_skill_role, visible_skill, writable_namespace
from skillyard.registry.rows import add_version
from skillyard.registry.skills import ACCEPTED, PUBLISHED, Skill, Version, VersionState, Visibility
from skillyard.registry.store import latest_of, skill_named, version_taken, versions_of
from skillyard.registry.working_copies import WorkingCopies, require_base
from skillyard.skill.versions import Version as Number

_FIRST: Final = "0.1.0"


@dataclass(frozen=True, kw_only=True, slots=True)
class Publication:
    """What publishing led to."""

    skill: Skill
    version: Version
    created: bool
    """False: this very bundle had this version already."""
    changed: bool
    """False: nothing is other than before, not even who may see it."""


Then: TypeAlias = Callable[[Transaction, Publication], Awaitable[None]]


class Publishing:
    """Puts immutable labels on bundles."""

    def __init__(
        self,
        database: Database,
        bundles: Bundles,
        copies: WorkingCopies,
        intake: Intake,
        attempts: Attempts,
        *,
        clock: Clock = utc_now,
    ) -> None:
        self._database = database
        self._bundles = bundles
        self._copies = copies
        self._intake = intake
        self._attempts = attempts
        self._clock = clock

    async def publish_bundle(  # noqa: PLR0913 -- all that may be asked of a version
        self,
        principal: Principal,
        draft: Draft,
        *,
        namespace: str | None = None,
        version: str | None = None,
        visibility: Visibility | None = None,
        base: str | None = None,
        notes: str = "",
        dry_run: bool = False,
        then: Then | None = None,
        why: Why,
    ) -> Publication:
        """Publish files from elsewhere: the skill is made if need be, and its working copy becomes these files.

        A dry run answers, or refuses, just so, and writes nothing. What is to be done `then` is done in the same
        transaction: both, or neither.
        """
        principal.require_scope(Scope.PUBLISH)
        async with self._database.read() as session:
            # Publishing takes the role that showing does, whatever is to be shown.
            place = await writable_namespace(session, principal, namespace, Visibility.PUBLIC)
        number = _wanted(version, draft)

        async def published(transaction: Transaction) -> Publication:
            present = await skill_named(transaction.session, place.id, draft.name)
            versions = (await versions_of(transaction.session, [present.id]))[present.id] if present else []
            done = _done_before(versions, draft, number)
            if present and done:
                # A job that runs again must not bring an old state back: only who may see it is set anew.
                skill = await self._copies.show(transaction, principal, present, visibility, why)
                done = await self._accept(transaction, principal, skill, done, draft, why)
                return Publication(skill=skill, version=done, created=False, changed=transaction.changed)
            label = await self._label(transaction, place, draft, number, versions)
            taken = await self._intake.place(
                transaction, principal, place, draft, present, visibility=visibility, base=base, why=why
            )
            return await self._add(transaction, principal, taken.skill, versions, draft, label, notes, why)

        async def work(transaction: Transaction) -> Publication:
            publication = await published(transaction)
            if then is not None:
                await then(transaction, publication)
            return publication

        return await self._attempts.bring(principal, place, draft, PUBLISHED, why, work, dry_run=dry_run)

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
            versions = (await versions_of(transaction.session, [now.id]))[now.id]
            done = _done_before(versions, draft, number)
            if done:
                return Publication(skill=now, version=done, created=False, changed=False)
            label = await self._label(transaction, place, draft, number, versions)
            return await self._add(transaction, principal, now, versions, draft, label, notes, why)

        return await self._attempts.bring(principal, place, draft, PUBLISHED, why, work)

    async def _label(
        self,
        transaction: Transaction,
        place: Namespace,
        draft: Draft,
        wanted: Number | None,
        versions: Sequence[Version],
    ) -> Number:
        """The number that a new version gets: the wanted one, else the next that is free."""
        session = transaction.session
        if wanted is not None:
            taken = await version_taken(session, place.id, draft.name, str(wanted))
            if taken is not None:
                raise _version_taken(f"{place.name}/{draft.name}", taken, versions)
            return wanted
        newest = max((Number.parse(one.version) for one in versions), default=None)
        number = newest.bump("patch") if newest else Number.parse(_FIRST)
        while await version_taken(session, place.id, draft.name, str(number)):
            number = number.bump("patch")  # a deleted skill of this name had it
        return Number.parse(str(number))  # which refuses one that has grown too long

    async def _accept(
        self, transaction: Transaction, principal: Principal, skill: Skill, done: Version, draft: Draft, why: Why
    ) -> Version:
        """Keep why the findings in a version are accepted, where it was published before they had to be."""
        if done.waiver is not None or not why.allow_risky:
            return done
        namespace = await require_skill_role(transaction.session, principal, skill, Role.PUBLISHER, Scope.PUBLISH)
        waiver = require_policy(principal, namespace, draft, why)
        if waiver is None:
            return done
        row = update(VersionRow).where(VersionRow.id == done.id).values(waiver=waiver)
        await transaction.session.execute(row)
        change = Change(
            action=ACCEPTED,
            subject=skill.subject,
            before={"version": done.version, "waiver": None},
            after={"version": done.version, "waiver": waiver},
            digest_after=done.digest,
        )
        await self._copies.note(transaction, principal, skill.id, change, why)
        return replace(done, waiver=waiver)

    async def _add(
        self,
        transaction: Transaction,
        principal: Principal,
        skill: Skill,
        versions: Sequence[Version],
        draft: Draft,
        number: Number,
        notes: str,
        why: Why,
    ) -> Publication:
        session = transaction.session
        namespace = await require_skill_role(session, principal, skill, Role.PUBLISHER, Scope.PUBLISH)
        waiver = require_policy(principal, namespace, draft, why, waiver=waiver_of(versions, draft.bundle.digest))
        version = Version(
            id=new_id(),
            skill_id=skill.id,
            version=str(number),
            digest=draft.bundle.digest,
            state=VersionState.PENDING if namespace.policy.review else VersionState.PUBLISHED,
            notes=notes,
            requires=draft.requires,
            published_by=principal.person_id,
            published_at=self._clock(),
            waiver=waiver,
        )
        await add_version(transaction, skill, version)
        change = Change(
            action=PUBLISHED,
            subject=skill.subject,
            after={"version": version.version, "state": version.state.value, **({"waiver": waiver} if waiver else {})},
            digest_after=version.digest,
        )
        changed = await self._copies.note(transaction, principal, skill.id, change, why)
        newest = latest_of([*versions, version])
        skill = replace(skill, changed=changed, latest=newest and newest.version)
        return Publication(skill=skill, version=version, created=True, changed=True)


def _wanted(version: str | None, draft: Draft) -> Number | None:
    """The number asked for, else the one that SKILL.md states, else none."""
    if version is not None:
        return Number.parse(version)
    stated = draft.document.metadata.get("version") or draft.document.extra.get("version")
    try:
        return Number.parse(str(stated)) if stated else None
    except InputError:
        return None  # the wild writes "1.0" and "latest" there


def _done_before(versions: Sequence[Version], draft: Draft, wanted: Number | None) -> Version | None:
    """The version that these files are already, under the wanted number where one is wanted."""
    same = [
        one for one in versions if one.digest == draft.bundle.digest and wanted in {None, Number.parse(one.version)}
    ]
    standing = [one for one in same if one.state is not VersionState.REJECTED]
    if same and not standing:
        raise ConflictError(
            f"{draft.name!r} {same[0].version} was turned down in review.",
            hint="Change the skill, or publish it under another number.",
            details={"field": "version", "value": same[0].version, "digest": same[0].digest},
        )
    return standing[0] if standing else None


def _version_taken(name: str, taken: Version, versions: Sequence[Version]) -> ConflictError:
    lives = any(one.id == taken.id for one in versions)
    whose = "is published already, with other content" if lives else "belongs to a skill that was deleted"
    return ConflictError(
        f"{name!r} {taken.version} {whose}.",
        hint="A version is never replaced: publish under the next number.",
        details={"field": "version", "value": taken.version, "digest": taken.digest},
    )
