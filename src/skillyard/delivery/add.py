"""Planning what `skillyard add` does with the skills of a source."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from skillyard.command_text import command_text
from skillyard.delivery.fetched import Fetched, FetchedSkill, RefusedSkill
from skillyard.delivery.links import leads_to, same_folder
from skillyard.delivery.lock import Lock, LockEntry, is_of_this_machine, read_lock
from skillyard.delivery.look import Kind, Look, look_at
from skillyard.delivery.plan import IDLE, Act, Action, Plan, blocked
from skillyard.delivery.target import Target
from skillyard.skill.bundle import SKILL_FILE
from skillyard.skill.models import Finding, Severity, has_errors
from skillyard.skill.scan import scan

_CHOICE: Final = "The fix {}; --force replaces it, and it goes to the trash."


def plan_add(
    fetched: Fetched,
    targets: Sequence[Target],
    *,
    force: bool = False,
    allow_risky: bool = False,
    where: Sequence[str] = (),
) -> Plan:
    """What installing these skills into these folders would do. Nothing is written.

    `force` replaces what is in the way (it goes to the trash); `allow_risky`, which `force` implies, installs
    skills in which the scan found something serious. `where` are the options that name the folders, for the commands
    that are printed.
    """
    return Plan(actions=tuple(_actions(fetched, targets, where, force=force, allow_risky=allow_risky or force)))


def risk_refusal(findings: Sequence[Finding]) -> str:
    """Why a skill with these scan findings is not written unless that is allowed; empty when it is fine."""
    serious = [finding for finding in findings if has_errors([finding])]
    if not serious:
        return ""
    first = serious[0]
    more = f" and {len(serious) - 1} more" if len(serious) > 1 else ""
    return f"The scan found: {_with_place(first)}{more}"


def _with_place(finding: Finding) -> str:
    place = f"{finding.file or SKILL_FILE}:{finding.line}" if finding.line else finding.file
    return f"{finding.message} ({', '.join(filter(None, [finding.code, place]))})"


def _actions(
    fetched: Fetched, targets: Sequence[Target], where: Sequence[str], *, force: bool, allow_risky: bool
) -> Iterator[Action]:
    scanned = {skill.id: scan(skill.bundle) for skill in fetched.skills}
    for target in targets:
        lock = read_lock(target.place)
        for skill in fetched.skills:
            action = _Adding(skill, target, lock, where, force=force).action()
            risk = "" if allow_risky or action.bundle is None else risk_refusal(scanned[skill.id])
            if risk:
                fix = "Read the findings; --allow-risky installs it all the same."
                action = blocked(action, Act.REFUSED, risk, fix)
            yield replace(action, findings=(*skill.findings, *_portability(action), *scanned[skill.id]))
        for refused_skill in fetched.refused:
            yield _refused_skill(refused_skill, target)


def _portability(action: Action) -> Iterator[Finding]:
    """A warning about a source that others who get the lock do not have."""
    if action.act not in IDLE and action.after and is_of_this_machine(action.place, action.after.source):
        yield Finding(
            code="source-of-this-machine",
            severity=Severity.WARNING,
            message=f"{action.place.lock} names {action.after.source.location}, which no other machine has.",
            fix="To share the lock, copy the source into the project or publish it, and add it from there.",
        )


def _refused_skill(skill: RefusedSkill, target: Target) -> Action:
    first = next(finding for finding in skill.findings if has_errors([finding]))
    return Action(
        act=Act.REFUSED,
        id=skill.id,
        place=target.place,
        path=target.root / skill.id,
        reason=_with_place(first),
        fix=first.fix,
        findings=skill.findings,
    )


@dataclass(frozen=True, slots=True)
class _Adding:
    """One skill on its way into one folder."""

    skill: FetchedSkill
    target: Target
    lock: Lock
    where: Sequence[str]
    force: bool

    def action(self) -> Action:
        path = self._copy(self.target.root / self.skill.id)
        relative = self.target.place.relative(path)
        before = self.lock.at(relative)
        seen = look_at(path)
        links, occupied = self._links(path)
        known_links = before.links if before else ()
        after = LockEntry(
            id=self.skill.id,
            path=relative,
            source=self.skill.source.recordable,
            digest=self.skill.bundle.digest,
            resolved=self.skill.resolved,
            version=self.skill.version,
            links=tuple(sorted({*known_links, *map(self.target.place.relative, links)})),
        )
        plain = Action(
            act=Act.CREATE,
            id=self.skill.id,
            place=self.target.place,
            path=path,
            seen=seen.mark,
            found=seen.bundle,
            before=before,
            after=after,
            bundle=self.skill.bundle,
            pristine=self.skill.bundle,
            links=tuple(link for link in links if not leads_to(link, path)),
            unlinks=occupied,
        )
        own = self._own_copy(occupied) if seen.kind is Kind.ABSENT and not self.force else None
        if own is not None:
            plain = _shared_from(own, plain)
            occupied = plain.unlinks
        if occupied and not self.force:
            return _conflict(
                plain,
                f"{occupied[0]} is in the way of a link.",
                "Use --copy for separate copies, or --force to put a link there (what is there goes to the trash).",
            )
        return plain if own is not None else self._decided(plain, seen)

    def _own_copy(self, occupied: Sequence[Path]) -> LockEntry | None:
        """The copy of this skill that one of the agents has for itself, and may share from now on."""
        entries = (self.lock.at(self.target.place.relative(path)) for path in occupied if not path.is_symlink())
        return next((entry for entry in entries if entry and _same_source(entry, self.skill)), None)

    def _copy(self, path: Path) -> Path:
        """Where the skill's files are: for a link that was made for another agent's copy, that copy."""
        if self.force:
            return path
        copies = (entry for entry in self.lock.of(self.skill.id) if self.target.place.relative(path) in entry.links)
        copy = next((self.target.place.resolve(entry.path) for entry in copies), path)
        return copy if leads_to(path, copy) else path

    def _decided(self, plain: Action, seen: Look) -> Action:
        """The plain installation, or what becomes of it because of what is there."""
        if seen.kind is Kind.ABSENT:
            return plain
        if seen.digest == self.skill.bundle.digest:
            return self._same_content(plain)
        replacing = replace(plain, act=Act.REPLACE)
        if seen.is_repository:
            return _conflict(plain, f"{plain.path} is a git repository of its own.", "Move it away first.")
        if self.force:
            return replacing
        if seen.kind is Kind.LINK:
            return _conflict(plain, f"{plain.path} is a link to {seen.leads_to}.", "Use --force to replace the link.")
        if plain.before is None:
            reason = f"{plain.path} is there already and was not installed by Skillyard. {_CHOICE.format('tracks it')}"
            return _conflict(plain, reason, command_text("skill adopt", self.skill.id, options=self.where))
        if not _same_source(plain.before, self.skill):
            reason = f"{self.skill.id} is installed from another source: {plain.before.source.recordable}."
            return _conflict(plain, reason, "Use --force to take it from here instead.")
        if seen.digest != plain.before.digest or not plain.before.verified:
            reason = (
                f"{plain.path} was edited since it was installed, or may have been. {_CHOICE.format('keeps the edits')}"
            )
            return _conflict(plain, reason, command_text("update", self.skill.id, options=self.where))
        return replacing

    def _same_content(self, plain: Action) -> Action:
        kept = replace(plain, bundle=None)
        if plain.before is None:
            return replace(kept, act=Act.ADOPT, reason="The same content is there already.")
        after = plain.after
        if not _same_source(plain.before, self.skill) and not self.force:
            after = replace(plain.before, links=plain.after.links if plain.after else ())
            kept = replace(kept, pristine=None)  # the entry keeps its own source
        if after == plain.before and not plain.links and not plain.unlinks:
            return replace(kept, act=Act.UNCHANGED, after=after, pristine=None)
        return replace(kept, act=Act.RECORD, after=after, reason="The same content is there already.")

    def _links(self, path: Path) -> tuple[list[Path], tuple[Path, ...]]:
        """The links that the skill should have, and those whose places are taken by something else."""
        roots = [root for root in self.target.links if not same_folder(root, self.target.root)]
        links = [root / self.skill.id for root in roots]
        occupied = [link for link in links if os.path.lexists(link) and not leads_to(link, path)]
        return links, tuple(occupied)


def _shared_from(own: LockEntry, plain: Action) -> Action:
    """The agent's own copy, as it is, moves to the shared place and becomes a link where it was."""
    origin = plain.place.resolve(own.path)
    links = plain.after.links if plain.after else ()
    return replace(
        plain,
        act=Act.MOVE,
        origin=origin,
        reason=f"It was in {origin}, which becomes a link to it.",
        after=replace(own, path=plain.place.relative(plain.path), links=tuple(sorted({*links, own.path}))),
        bundle=None,
        pristine=None,
        unlinks=tuple(path for path in plain.unlinks if path != origin),
    )


def _same_source(entry: LockEntry, skill: FetchedSkill) -> bool:
    """Whether two come from one place; a repository may move a skill to another folder of its own."""
    ours, theirs = entry.source, skill.source.recordable
    return (ours.kind, ours.location) == (theirs.kind, theirs.location)


def _conflict(action: Action, reason: str, fix: str) -> Action:
    return blocked(action, Act.CONFLICT, reason, fix)
