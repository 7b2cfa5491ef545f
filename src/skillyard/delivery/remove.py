"""Planning what `skillyard remove` takes away."""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
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


def plan_remove(
    ids: Collection[str], targets: Sequence[Target], *, only_here: bool = False, force: bool = False
) -> Plan:
    """What removing these skills would do. Nothing is written.

    Tracked skills are found through the locks of the targets; with `only_here`, only what is in the targets' own
    folders goes, so that a link can be removed for one agent while others keep the skill. An untracked folder in
    one of them is removed only with `force`, and so is an edited one.
    """
    actions: list[Action] = []
    for skill_id in ids:
        found = list(_removals(skill_id, targets, only_here=only_here, force=force))
        if not found:
            raise _not_installed(skill_id)
        actions.extend(found)
    return Plan(actions=tuple(actions))


def _not_installed(skill_id: str) -> NotFoundError:
    details = {"field": "skill", "value": skill_id}
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


def _removals(skill_id: str, targets: Sequence[Target], *, only_here: bool, force: bool) -> Iterator[Action]:
    if not is_safe_segment(skill_id):
        return
    tracked: set[Path] = set()
    roots = [target.root for target in targets]
    for place in dict.fromkeys(target.place for target in targets):
        for entry in read_lock(place).of(skill_id):
            path = place.resolve(entry.path)
            links = _links(place, entry, path, roots)
            tracked.update([path, *links])
            if not only_here or path.parent in roots:
                yield _removal(place, entry, path, links, force=force)
            elif any(link.parent in roots for link in links):
                yield _unlinking(place, entry, path, [link for link in links if link.parent in roots])
    for target in targets:
        path = target.root / skill_id
        if os.path.lexists(path) and path not in tracked:
            yield _untracked(skill_id, target.place, path, force=force)


def _links(place: LockPlace, entry: LockEntry, path: Path, roots: Sequence[Path]) -> list[Path]:
    """The links to a skill: those in the lock, and those that a person made in the folders at hand."""
    made = [root / entry.id for root in roots if root.is_relative_to(place.base)]
    known = [place.resolve(link) for link in entry.links]
    return [link for link in dict.fromkeys([*known, *made]) if leads_to(link, path)]


def _removal(place: LockPlace, entry: LockEntry, path: Path, links: Sequence[Path], *, force: bool) -> Action:
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
    if force or seen.kind is Kind.ABSENT or seen.digest == entry.digest:
        return action
    return blocked(action, Act.CONFLICT, f"{path} was edited since it was installed.", "Use --force to remove it.")


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


def _untracked(skill_id: str, place: LockPlace, path: Path, *, force: bool) -> Action:
    seen = look_at(path)
    action = Action(act=Act.REMOVE, id=skill_id, place=place, path=path, seen=seen.mark, found=seen.bundle)
    try:
        place.relative(path)
    except NotAllowedError as error:
        return blocked(action, Act.REFUSED, error.message, error.hint)
    if force:
        return action
    reason = f"{path} was not installed by Skillyard."
    adopt = command_text("skill adopt", skill_id)
    return blocked(action, Act.CONFLICT, reason, f"Use --force to remove it, or track it: {adopt}")
