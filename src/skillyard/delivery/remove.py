"""Planning what `skillyard remove` takes away."""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skillyard.command_text import command_text
from skillyard.delivery.links import leads_to
from skillyard.delivery.lock import LockEntry, read_lock
from skillyard.delivery.look import Kind, look_at
from skillyard.delivery.place import LockPlace
from skillyard.delivery.plan import Act, Action, Plan, blocked
from skillyard.delivery.target import Target
from skillyard.errors import NotAllowedError, NotFoundError
from skillyard.library.builtin import builtin_root
from skillyard.skill.bundle import SKILL_FILE
from skillyard.skill.paths import is_safe_segment


@dataclass(frozen=True, kw_only=True, slots=True)
class Reader:
    """An agent that keeps its skills, and the folders that it reads."""

    label: str
    roots: tuple[Path, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoveOptions:
    only_here: bool = False
    """Remove only what is in the targets' own folders, because these were named."""
    for_agents: bool = False
    """Remove it for the agents whose own folders these are; other agents keep it."""
    readers: Sequence[Reader] = ()
    """The other agents of this machine that read the folder that agents share."""
    shared: Sequence[Path] = ()
    """The folders that agents share."""
    switches: Sequence[str] = ()
    """The agents whose own settings can turn the skill off instead."""
    force: bool = False
    where: Sequence[str] = ()
    """The options that name the folders, for the commands that are printed."""


def plan_remove(ids: Collection[str], targets: Sequence[Target], options: RemoveOptions | None = None) -> Plan:
    """What removing these skills would do. Nothing is written.

    Tracked skills are found through the locks of the targets; with `only_here`, a link is removed for one agent
    while others keep the skill, and a folder that others link to moves to one of them. An untracked folder is
    removed only with `force`, and so is an edited one.
    """
    options = options or RemoveOptions()
    actions: list[Action] = []
    for skill_id in ids:
        found = list(_removals(skill_id, targets, options))
        if not found:
            raise _not_installed(skill_id, options)
        actions.extend(found)
    return Plan(actions=tuple(actions))


def _not_installed(skill_id: str, options: RemoveOptions) -> NotFoundError:
    details = {"field": "skill", "value": skill_id}
    if options.for_agents:
        return NotFoundError(
            f"These agents have no {skill_id!r} in folders of their own.",
            hint=f"See what they read and where it is: {command_text('audit', options=['--why', skill_id])}",
            details=details,
        )
    if is_safe_segment(skill_id) and (builtin_root() / skill_id / SKILL_FILE).is_file():
        return NotFoundError(
            f"The skill {skill_id!r} is built into Skillyard and cannot be removed.",
            hint=f"Switch it off: {command_text('skill disable', skill_id)}",
            details=details,
        )
    return NotFoundError(
        f"No skill {skill_id!r} is installed here.",
        hint="`skillyard list` shows the skills and where they are.",
        details=details,
    )


def _removals(skill_id: str, targets: Sequence[Target], options: RemoveOptions) -> Iterator[Action]:
    if not is_safe_segment(skill_id):
        return
    tracked: set[Path] = set()
    roots = [target.root for target in targets]
    for place in dict.fromkeys(target.place for target in targets):
        for entry in read_lock(place).of(skill_id):
            path = place.resolve(entry.path)
            links = _links(place, entry, path, roots)
            tracked.update([path, *links])
            kept = [link for link in links if link.parent not in roots]
            if options.only_here and path.parent not in roots:
                if len(kept) < len(links):
                    yield _unlinking(place, entry, path, [link for link in links if link not in kept])
                continue
            losing = _readers_that_lose_it(path, roots, options) if options.for_agents else []
            if losing:
                yield _shared(place, entry, path, losing, options)
            elif options.for_agents and kept and path.is_dir():
                yield _move(place, entry, path, kept, links)
            else:
                yield _removal(place, entry, path, links, options)
    for target in targets:
        path = target.root / skill_id
        if os.path.lexists(path) and path not in tracked:
            yield _untracked(skill_id, target.place, path, options)


def _links(place: LockPlace, entry: LockEntry, path: Path, roots: Sequence[Path]) -> list[Path]:
    """The links to a skill: those in the lock, and those that a person made in the folders at hand."""
    made = [root / entry.id for root in roots if root.is_relative_to(place.base)]
    known = [place.resolve(link) for link in entry.links]
    return [link for link in dict.fromkeys([*known, *made]) if leads_to(link, path)]


def _readers_that_lose_it(path: Path, roots: Sequence[Path], options: RemoveOptions) -> list[str]:
    """The other agents that see the skill only in this folder, which agents share."""
    if path.parent not in options.shared:
        return []
    readers = (reader for reader in options.readers if path.parent in reader.roots)
    return [
        reader.label
        for reader in readers
        if not any((root / path.name).exists() for root in reader.roots if root not in roots)
    ]


def _shared(place: LockPlace, entry: LockEntry, path: Path, losing: Sequence[str], options: RemoveOptions) -> Action:
    shown = Action(act=Act.REMOVE, id=entry.id, place=place, path=path, before=entry)
    for_all = command_text("remove", entry.id)
    reason = f"{path.parent} is also read by {' and '.join(losing)}, which would lose the skill."
    if not options.switches:
        return blocked(shown, Act.CONFLICT, f"{reason} The fix removes it for all agents.", for_all)
    off = " && ".join(command_text("skill disable", entry.id, options=["-a", name]) for name in options.switches)
    return blocked(shown, Act.CONFLICT, f"{reason} To remove it for all agents: {for_all}", off)


def _move(place: LockPlace, entry: LockEntry, path: Path, kept: Sequence[Path], links: Sequence[Path]) -> Action:
    """Take the folder to the first of the agents that keep the skill; the others link to it there."""
    first, *others = kept
    return Action(
        act=Act.MOVE,
        id=entry.id,
        place=place,
        path=first,
        origin=path,
        reason=f"It leaves {path.parent} and stays for the agents that linked to it.",
        seen=look_at(first).mark,
        after=replace(entry, path=place.relative(first), links=tuple(sorted(place.relative(link) for link in others))),
        links=tuple(others),
        unlinks=tuple(link for link in links if link != first),
    )


def _removal(place: LockPlace, entry: LockEntry, path: Path, links: Sequence[Path], options: RemoveOptions) -> Action:
    seen = look_at(path)
    action = Action(
        act=Act.REMOVE,
        id=entry.id,
        place=place,
        path=path,
        seen=seen.mark,
        found=seen.bundle,
        before=entry,
        unlinks=tuple(links),
    )
    if options.force or seen.kind is Kind.ABSENT or seen.digest == entry.digest:
        return action
    reason = f"{path} was edited since it was installed. The fix moves it to the trash."
    return blocked(action, Act.CONFLICT, reason, _by_force(entry.id, options))


def _by_force(skill_id: str, options: RemoveOptions) -> str:
    return command_text("remove", skill_id, options=[*options.where, "--force", "-y"])


def _unlinking(place: LockPlace, entry: LockEntry, path: Path, links: Sequence[Path]) -> Action:
    """Take the skill from some agents only: the folder stays for the others."""
    gone = {place.relative(link) for link in links}
    return Action(
        act=Act.RECORD,
        id=entry.id,
        place=place,
        path=path,
        reason="Only the link is removed; the skill stays for other agents.",
        seen=look_at(path).mark,
        before=entry,
        after=replace(entry, links=tuple(link for link in entry.links if link not in gone)),
        unlinks=tuple(links),
    )


def _untracked(skill_id: str, place: LockPlace, path: Path, options: RemoveOptions) -> Action:
    seen = look_at(path)
    action = Action(act=Act.REMOVE, id=skill_id, place=place, path=path, seen=seen.mark, found=seen.bundle)
    try:
        place.relative(path)
    except NotAllowedError as error:
        return blocked(action, Act.REFUSED, error.message, error.hint)
    if options.force:
        return action
    reason = f"{path} was not installed by Skillyard. The fix moves it to the trash."
    return blocked(action, Act.CONFLICT, reason, _by_force(skill_id, options))
