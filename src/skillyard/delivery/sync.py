"""Plans `skillyard sync`: every skill exactly as the lock has it, and none moved to another version."""

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from skillyard.command_text import command_text
from skillyard.delivery.add import risk_refusal
from skillyard.delivery.depot import Depot
from skillyard.delivery.download import DownloadLimits
from skillyard.delivery.fetch import fetch_again
from skillyard.delivery.fetched import FetchedSkill, RefusedSkill
from skillyard.delivery.links import leads_to
from skillyard.delivery.lock import LockEntry, is_of_this_machine
from skillyard.delivery.look import Kind, Look, look_at
from skillyard.delivery.place import LockPlace
from skillyard.delivery.plan import IDLE, Act, Action, Plan, blocked
from skillyard.delivery.source import Source, SourceKind, is_commit
from skillyard.delivery.update import blocked_source, changed_sources, tracked_skills, with_links
from skillyard.errors import ConflictError, InputError, SkillyardError
from skillyard.skill.bundle import Bundle
from skillyard.skill.models import Finding, Severity, has_errors
from skillyard.skill.scan import scan

Given = FetchedSkill | RefusedSkill | SkillyardError


@dataclass(frozen=True, kw_only=True, slots=True)
class SyncOptions:
    force: bool = False
    """Replace edits and whatever is in the way with the lock's content; both go to the trash."""
    follow: bool = False
    """Take a skill from another source than the one this machine installed it from, if its lock says so."""
    allow_risky: bool = False
    """Install content new to this machine in which the scan found something serious."""
    where: Sequence[str] = ()
    """The options that name the folders, for the commands that are printed."""
    limits: DownloadLimits = field(default_factory=DownloadLimits)


def plan_sync(
    places: Sequence[LockPlace], *, home: Path, ids: Collection[str] = (), options: SyncOptions | None = None
) -> Plan:
    """The plan that makes the skills of these places, or those of them in `ids`, what their locks say.

    The locks stay as they are. What this machine does not keep is fetched from the pinned commit, version or
    archive, and is used only with the digest that the lock has.
    """
    options = options or SyncOptions()
    depot = Depot(home)
    tracked = tracked_skills(places, ids)
    strange = {} if options.follow else changed_sources(tracked, home)
    syncing = [
        _EntrySync(place, entry, depot, options, strange.get((place, entry.path), "")) for place, entry in tracked
    ]
    wanted = {(one.pinned, one.entry.id) for one in syncing if one.needs_source}
    given = fetch_again(sorted(wanted, key=str), limits=options.limits)
    return Plan(actions=tuple(action for one in syncing for action in one.actions(given)))


class _EntrySync:
    """One entry of a lock and what is in its folder."""

    def __init__(
        self, place: LockPlace, entry: LockEntry, depot: Depot, options: SyncOptions, installed_from: str
    ) -> None:
        self.place, self.entry, self._depot, self._options = place, entry, depot, options
        self._installed_from = installed_from
        self._path = place.resolve(entry.path)
        self._seen: Look = look_at(self._path)
        self._is_right = self._seen.digest == entry.digest
        self._obstacle = "" if self._is_right or options.force else self._obstacle_reason()
        self._kept: Bundle | None = None if self._is_right else depot.get(entry.digest)

    @property
    def pinned(self) -> Source:
        """The source of the exact content in the lock."""
        source = replace(self.entry.source, digest=self.entry.digest)
        if source.kind is SourceKind.GIT and is_commit(self.entry.resolved):
            return replace(source, ref=self.entry.resolved)
        if source.kind is SourceKind.INDEX and not source.ref and self.entry.version:
            with suppress(InputError):  # what an author calls a version need not be one of the index
                return replace(source, ref=self.entry.version)
        return source

    @property
    def needs_source(self) -> bool:
        """Whether the content has to be fetched."""
        stopped = self._is_right or self._obstacle or self._seen.is_repository or self._installed_from
        return not stopped and self._kept is None and self.entry.source.kind is not SourceKind.LOCAL

    def actions(self, given: dict[tuple[Source, str], Given]) -> Sequence[Action]:
        """What is to be done to the folder and to its links."""
        action = self._action(given.get((self.pinned, self.entry.id)))
        links = map(self.place.resolve, self.entry.links)
        occupied = tuple(link for link in links if os.path.lexists(link) and not leads_to(link, self._path))
        if not occupied:
            return tuple(with_links(action))
        if self._options.force and (action.act not in IDLE or action.act is Act.UNCHANGED):
            act = Act.RECORD if action.act in IDLE else action.act
            (action,) = with_links(replace(action, act=act))
            return (replace(action, links=(*action.links, *occupied), unlinks=occupied),)
        reason = f"{occupied[0]} is in the way of a link. The fix makes the link and moves it to the trash."
        return (*with_links(action), blocked(self._plain, Act.CONFLICT, reason, self._command("--force")))

    @property
    def _plain(self) -> Action:
        return Action(
            act=Act.UNCHANGED,
            id=self.entry.id,
            place=self.place,
            path=self._path,
            seen=self._seen.mark,
            found=self._seen.bundle,
            before=self.entry,
            after=self.entry,
        )

    def _action(self, given: Given | None) -> Action:
        plain = self._plain
        if self._is_right:
            return plain
        if self._seen.is_repository:
            reason = f"{self._path} is a git repository of its own."
            return blocked(plain, Act.CONFLICT, reason, "Move it away first.")
        if self._obstacle:
            return blocked(plain, Act.CONFLICT, *self._way_out())
        if self._kept is not None:
            action = self._write(plain, self._kept)
            return action if self._options.follow else replace(action, pristine=None)  # its source was not asked
        if self._installed_from:
            return blocked_source(plain, self._installed_from, self._command("-y"))
        if isinstance(given, FetchedSkill):
            return self._after_scan(self._write(plain, given.bundle), given)
        return self._unavailable(plain, given)

    def _obstacle_reason(self) -> str:
        """Why the folder cannot be written without a decision; empty if nobody's work would be lost."""
        if self._seen.kind is Kind.ABSENT:
            return ""
        if self._seen.bundle is None:
            return f"{self._path} is not a folder that can be read as a skill."
        if self._depot.get(self._seen.digest) is not None:
            return ""  # what some source gave: the lock has moved on, and nobody edited it
        return f"{self._path} was edited, and the edits are kept. The lock has {self.entry.digest}."

    def _way_out(self) -> tuple[str, str]:
        """What is in the way, and a command that loses nothing."""
        drop = self._command("--force")
        if self._seen.bundle is None:
            return f"{self._obstacle} The fix moves it to the trash.", drop
        is_local = self.entry.source.kind is SourceKind.LOCAL
        keep = command_text("skill adopt" if is_local else "update", self.entry.id, options=self._options.where)
        fate = "records them in the lock" if is_local else "updates the skill and keeps them"
        return f"{self._obstacle} The fix {fate}; to move them to the trash: {drop}", keep

    def _write(self, plain: Action, bundle: Bundle) -> Action:
        if self._seen.kind is Kind.ABSENT:
            return replace(plain, act=Act.CREATE, bundle=bundle, pristine=bundle, reason="Its folder was missing.")
        return replace(plain, act=Act.REPLACE, bundle=bundle, pristine=bundle, reason="It was not as the lock says.")

    def _after_scan(self, action: Action, given: FetchedSkill) -> Action:
        """Content that is new to this machine is scanned, as `add` does."""
        findings = scan(given.bundle)
        risk = "" if self._options.allow_risky else risk_refusal(findings)
        if risk:
            allow = self._command("--allow-risky", *(("--force",) if self._options.force else ()))
            action = blocked(action, Act.REFUSED, f"{risk}. Read the findings; the fix accepts them.", allow)
        return replace(action, findings=(*given.findings, *self._name_findings(given), *findings))

    def _name_findings(self, given: FetchedSkill) -> Iterator[Finding]:
        if self.entry.id not in {given.id, given.name}:
            message = f"The lock calls the skill {self.entry.id!r}, but its own SKILL.md calls it {given.name!r}."
            fix = "Check in the history of the lock who changed its source, and why."
            yield Finding(code="name-folder", severity=Severity.WARNING, message=message, fix=fix)

    def _unavailable(self, plain: Action, given: RefusedSkill | SkillyardError | None) -> Action:
        entry = self.entry
        if given is None:
            reason = f"{entry.digest} is not kept on this machine, and the skill has no source to fetch it from."
            forget = command_text("remove", entry.id, options=[*self._options.where, "-y"])
            return blocked(plain, Act.REFUSED, f"{reason} Put the folder back; the fix forgets the skill.", forget)
        if isinstance(given, RefusedSkill):
            first = next(finding for finding in given.findings if has_errors([finding]))
            return blocked(plain, Act.REFUSED, f"What {entry.source} has is broken: {first.message}", first.fix)
        if isinstance(given, ConflictError) and "found" in given.details:
            reason = (
                f"The lock has {entry.digest}, but {entry.source} has {_received_digest(given)}. Nothing was written."
            )
            move = command_text("update", entry.id, options=self._options.where)
            return blocked(plain, Act.CONFLICT, f"{reason} The fix moves to what is there now, if you trust it.", move)
        if is_of_this_machine(self.place, entry.source):
            reason = f"{given.message} {self.place.lock} names a path that only the machine that added the skill has."
            return blocked(plain, Act.REFUSED, reason, "Add it from a source that others have too, on that machine.")
        return blocked(plain, Act.REFUSED, given.message, given.hint)

    def _command(self, *options: str) -> str:
        return command_text("sync", self.entry.id, options=[*self._options.where, *options])


def _received_digest(mismatch: ConflictError) -> str:
    """The digest of the skill that came instead."""
    found = mismatch.details["found"]
    return str(cast("Sequence[str]", found)[-1])
