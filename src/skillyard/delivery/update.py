"""Planning what `skillyard update` does: upstream's news in, a person's own edits kept."""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from skillyard.command_text import command_text
from skillyard.delivery.add import risk_refusal
from skillyard.delivery.depot import Depot
from skillyard.delivery.download import DownloadLimits
from skillyard.delivery.fetch import fetch_again
from skillyard.delivery.fetched import FetchedSkill, RefusedSkill, name_of
from skillyard.delivery.lock import LockEntry, read_lock
from skillyard.delivery.look import Kind, Look, look_at
from skillyard.delivery.merge import Favor, merge_bundles
from skillyard.delivery.place import LockPlace
from skillyard.delivery.plan import BLOCKED, IDLE, Act, Action, FileConflict, Plan, blocked
from skillyard.delivery.prune import installed_from
from skillyard.delivery.source import SourceKind, is_commit
from skillyard.errors import NotFoundError, SkillyardError
from skillyard.skill.bundle import Bundle
from skillyard.skill.models import Finding, has_errors
from skillyard.skill.scan import scan

_OURS = "Your version of what both changed is kept; upstream's version of it was left out."
_THEIRS = "Your edits are kept, except where upstream changed the same: there its version was taken."


@dataclass(frozen=True, kw_only=True, slots=True)
class UpdateOptions:
    favor: Favor = Favor.NEITHER
    """Who wins where a person and upstream changed the same."""
    allow_risky: bool = False
    """Install news in which the scan found something serious."""
    follow: bool = False
    """Take a skill from another source than the one this machine installed it from, if its lock says so."""
    where: Sequence[str] = ()
    """The options that name the folders, for the commands that are printed."""
    limits: DownloadLimits = field(default_factory=DownloadLimits)


def plan_update(
    places: Sequence[LockPlace], *, home: Path, ids: Collection[str] = (), options: UpdateOptions | None = None
) -> Plan:
    """What updating the skills of these places, or those of them named in `ids`, would do. Nothing is written.

    Every source is asked once. One that cannot be reached leaves its skills as they are, and says so.
    """
    options = options or UpdateOptions()
    tracked = tracked_skills(places, ids)
    moved = changed_sources(tracked, home)
    strange = {} if options.follow else moved
    skills = [
        (entry.source, entry.id)
        for place, entry in tracked
        if entry.source.kind is not SourceKind.LOCAL and (place, entry.path) not in strange
    ]
    news = fetch_again(skills, limits=options.limits)
    depot = Depot(home)

    def action(place: LockPlace, entry: LockEntry) -> Action:
        if (place, entry.path) in strange:
            return _strange(place, entry, strange[place, entry.path], options)
        found = news.get((entry.source, entry.id))
        planned = _action(place, entry, found, depot, options)
        if planned.act is Act.UNCHANGED and (place, entry.path) in moved and isinstance(found, FetchedSkill):
            return replace(planned, act=Act.RECORD, pristine=found.bundle, reason="Its new source is accepted.")
        return planned

    actions = (action(place, entry) for place, entry in tracked)
    return Plan(actions=tuple(linked for action in actions for linked in with_links(action)))


def tracked_skills(places: Sequence[LockPlace], ids: Collection[str]) -> list[tuple[LockPlace, LockEntry]]:
    """The lock entries of these places, or those in `ids`; an id without an entry is an error."""
    wanted = {skill_id.casefold() for skill_id in ids}
    entries = [(place, entry) for place in places for entry in read_lock(place).entries]
    tracked = [(place, entry) for place, entry in entries if not wanted or entry.id.casefold() in wanted]
    missing = wanted - {entry.id.casefold() for _, entry in tracked}
    if missing:
        raise NotFoundError(
            f"No installed skill is called {' or '.join(sorted(missing))}.",
            hint="`skillyard skill check` lists what is installed; `skillyard skill adopt` tracks what is not.",
            details={"field": "skill", "value": sorted(missing)},
        )
    return tracked


def changed_sources(tracked: Sequence[tuple[LockPlace, LockEntry]], home: Path) -> dict[tuple[LockPlace, str], str]:
    """The skills whose lock names another source than this machine installed them from, with the installed one."""
    known = {place: installed_from(place, home) for place in {place for place, _ in tracked}}
    return {
        (place, entry.path): before
        for place, entry in tracked
        if entry.source.kind is not SourceKind.LOCAL
        and (before := known[place].get(entry.path, ""))
        and before != entry.source.recordable.location
    }


def blocked_source(plain: Action, before: str, accept: str) -> Action:
    """The action, stopped because somebody changed in the lock where the skill comes from."""
    now = plain.before.source.recordable.location if plain.before else ""
    reason = f"{plain.place.lock} now takes it from {now or 'nowhere'}; here it was installed from {before}."
    return blocked(plain, Act.CONFLICT, f"{reason} The fix accepts the new source, if you trust it.", accept)


def _strange(place: LockPlace, entry: LockEntry, before: str, options: UpdateOptions) -> Action:
    path = place.resolve(entry.path)
    seen = look_at(path)
    plain = Action(
        act=Act.UNCHANGED, id=entry.id, place=place, path=path, seen=seen.mark, found=seen.bundle, before=entry
    )
    return blocked_source(plain, before, command_text("update", entry.id, options=[*options.where, "-y"]))


def _action(
    place: LockPlace,
    entry: LockEntry,
    news: FetchedSkill | RefusedSkill | SkillyardError | None,
    depot: Depot,
    options: UpdateOptions,
) -> Action:
    path = place.resolve(entry.path)
    seen = look_at(path)
    plain = Action(
        act=Act.UNCHANGED,
        id=entry.id,
        place=place,
        path=path,
        seen=seen.mark,
        found=seen.bundle,
        before=entry,
        after=entry,
    )
    if news is None:
        adopted = depot.get(entry.digest) if seen.kind is Kind.ABSENT else None
        if adopted is not None:
            return replace(plain, act=Act.CREATE, bundle=adopted, reason="Its folder was missing.")
        return replace(plain, reason="It was made or adopted here and has no source to update from.")
    if isinstance(news, SkillyardError):
        return blocked(plain, Act.REFUSED, news.message, news.hint)
    if isinstance(news, RefusedSkill):
        first = next(finding for finding in news.findings if has_errors([finding]))
        refused = blocked(plain, Act.REFUSED, f"Upstream's version is broken: {first.message}", first.fix)
        return replace(refused, findings=news.findings)
    return _Updating(plain, entry, seen, news, depot, options).gated()


def with_links(action: Action) -> Iterator[Action]:
    """The action, which also makes the links that are missing. For that no source is needed."""
    links = map(action.place.resolve, action.after.links if action.after else ())
    missing = tuple(link for link in links if not os.path.lexists(link))
    if not missing or (action.act in BLOCKED and action.found is None):
        yield action
        return
    if action.act not in IDLE:
        yield replace(action, links=missing)
        return
    relinking = replace(action, act=Act.RECORD, links=missing, reason="A link to it was missing.", fix="")
    yield replace(relinking, bundle=None, pristine=None, findings=(), conflicts=())
    if action.act in BLOCKED:
        yield action


@dataclass(frozen=True, slots=True)
class _Updating:
    """One installed skill and its news."""

    plain: Action
    entry: LockEntry
    seen: Look
    news: FetchedSkill
    depot: Depot
    options: UpdateOptions

    def gated(self) -> Action:
        """The update, unless it brings something serious that was not there before."""
        action = self._action()
        if action.bundle is None:
            return replace(action, findings=self.news.findings)
        findings = scan(action.bundle)
        risk = "" if self.options.allow_risky else risk_refusal(self._not_here_before(findings))
        if risk:
            action = blocked(action, Act.REFUSED, risk, "Read the findings; --allow-risky updates it all the same.")
        return replace(action, findings=(*self.news.findings, *findings))

    def _not_here_before(self, findings: Sequence[Finding]) -> list[Finding]:
        """The findings in what will be written that are not in what is there: a person's own are theirs to judge."""
        here = self.seen.bundle or self.depot.get(self.entry.digest)
        known = {(finding.code, finding.file, finding.message) for finding in (scan(here) if here else ())}
        return [finding for finding in findings if (finding.code, finding.file, finding.message) not in known]

    def _action(self) -> Action:
        upstream = self.news.bundle
        after = replace(
            self.entry,
            source=self.news.source.recordable,
            digest=upstream.digest,
            resolved=self.news.resolved,
            version=self.news.version,
            verified=True,
        )
        writing = replace(self.plain, after=after, bundle=upstream, pristine=upstream)
        if self.seen.kind is Kind.ABSENT:
            if self._is_another_skill():
                return self._other(writing)
            return replace(writing, act=Act.CREATE, reason="Its folder was missing.")
        if self.seen.bundle is None:
            return blocked(
                writing,
                Act.CONFLICT,
                f"{self.plain.path} is not a folder that can be read as a skill. The fix moves it to the trash.",
                command_text("sync", self.entry.id, options=[*self.options.where, "--force"]),
            )
        if upstream.digest in {self.seen.digest, self.entry.digest if self.entry.verified else ""}:
            return self._nothing_new(writing)
        if self._is_another_skill():
            return self._other(writing)
        if self.seen.is_repository:
            reason = f"{self.plain.path} is a git repository of its own."
            return blocked(writing, Act.CONFLICT, reason, "Update it with git, or move it away.")
        if self.entry.verified and self.seen.digest == self.entry.digest:
            return replace(writing, act=Act.REPLACE)
        return self._edited(writing, self.seen.bundle)

    def _is_another_skill(self) -> bool:
        """Whether the source now gives a skill of another name than the one that is installed."""
        bundles = (self.seen.bundle, self.depot.get(self.entry.digest))
        known = {self.entry.id, *(name_of(bundle) for bundle in bundles if bundle is not None)}
        return self.news.id != self.entry.id and self.news.name not in known

    def _other(self, writing: Action) -> Action:
        source, *skill = self.news.source.words
        reason = f"Its source now has another skill there, {self.news.name!r}. This one stays as it is."
        fix = command_text("add", source, options=skill)
        return blocked(writing, Act.CONFLICT, f"{reason} The fix installs that one too.", fix)

    def _nothing_new(self, writing: Action) -> Action:
        reason = "" if self.seen.digest == self.news.bundle.digest else "Upstream has nothing new; your edits stay."
        kept = replace(writing, bundle=None, reason=reason)
        if writing.after == self.entry:
            return replace(kept, act=Act.UNCHANGED, pristine=None)
        return replace(kept, act=Act.RECORD)

    def _edited(self, writing: Action, ours: Bundle) -> Action:
        base = (self.depot.get(self.entry.digest) or self._fetched_base()) if self.entry.verified else None
        if base is None:
            return self._without_base(writing)
        merge = merge_bundles(base, ours, self.news.bundle, favor=self.options.favor)
        if merge.bundle is None:
            what = "lines" if all(conflict.merged for conflict in merge.conflicts) else "files"
            conflict = blocked(writing, Act.CONFLICT, f"You and upstream changed the same {what}.", self._choice)
            return replace(conflict, conflicts=merge.conflicts)
        settled = self.options.favor is not Favor.NEITHER and merge_bundles(base, ours, self.news.bundle).bundle is None
        if merge.bundle.digest == ours.digest:
            reason = _OURS if settled else "Your version has all that is new."
            return replace(writing, act=Act.RECORD, bundle=None, reason=reason)
        reason = (_OURS if self.options.favor is Favor.OURS else _THEIRS) if settled else "Your edits are kept."
        return replace(writing, act=Act.MERGE, bundle=merge.bundle, reason=reason)

    def _fetched_base(self) -> Bundle | None:
        """What was installed, from the commit it came from: on another machine than the one that installed it."""
        if self.entry.source.kind is not SourceKind.GIT or not is_commit(self.entry.resolved):
            return None
        source = replace(self.entry.source, ref=self.entry.resolved, digest=self.entry.digest)
        (base,) = fetch_again([(source, self.entry.id)], limits=self.options.limits).values()
        return base.bundle if isinstance(base, FetchedSkill) else None

    def _without_base(self, writing: Action) -> Action:
        """Differences whose author nobody knows: only a person can choose."""
        if self.options.favor is Favor.THEIRS:
            return replace(writing, act=Act.REPLACE, reason="Your version goes to the trash.")
        if self.options.favor is Favor.OURS:
            return replace(writing, act=Act.RECORD, bundle=None, reason="Your version stays.")
        reason = "It differs from upstream, and what was installed is not known here, so your edits cannot be told."
        conflict = blocked(writing, Act.CONFLICT, reason, self._choice)
        files = conflict.diff.files if conflict.diff else ()
        differing = tuple(FileConflict(path=file.path, reason="Not as upstream has it") for file in files)
        return replace(conflict, conflicts=differing)

    @property
    def _choice(self) -> str:
        theirs, ours = (
            command_text("update", self.entry.id, options=[*self.options.where, side])
            for side in ("--theirs", "--ours")
        )
        return f"Take upstream's version of it: {theirs} - or keep yours: {ours}"
