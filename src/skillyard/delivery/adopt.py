"""Planning what `skillyard skill adopt` takes over: skills that another installer tracks, or nobody."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skillyard.delivery.check import Checked, Status, compare, untracked
from skillyard.delivery.fetched import version_of
from skillyard.delivery.links import leads_to
from skillyard.delivery.lock import LockEntry
from skillyard.delivery.look import look_at
from skillyard.delivery.plan import Act, Action, Plan, blocked
from skillyard.delivery.skills_lock import ForeignEntry, lock_files, read_skills_lock
from skillyard.delivery.source import Source, SourceKind
from skillyard.delivery.target import Target
from skillyard.errors import NotAllowedError, NotFoundError
from skillyard.library.roots import Machine, project_folders
from skillyard.skill.bundle import SKILL_FILE, Bundle
from skillyard.skill.document import parse


def plan_adopt(targets: Sequence[Target], *, machine: Machine, ids: Collection[str] = ()) -> Plan:
    """What tracking the untracked skills in these folders, or those named in `ids`, would write into the locks.

    No skill is touched. Where the `npx skills` installer wrote down a source, it is taken over. A skill that was
    adopted without a source and edited since is taken as it is now when it is named.
    """
    files = lock_files(project=project_folders(machine)[-1], user_home=machine.home, env=machine.env)
    by_base = dict(zip((project_folders(machine)[-1], machine.home), map(read_skills_lock, files), strict=True))
    wanted = {skill_id.casefold() for skill_id in ids}
    found = [skill for skill in untracked(targets) if not wanted or skill.id.casefold() in wanted]
    named = [skill for skill in compare(targets) if skill.id.casefold() in wanted]
    found += [skill for skill in named if _is_own_edit(skill)]
    tracked = [skill for skill in named if not _is_own_edit(skill)]
    missing = wanted - {skill.id.casefold() for skill in (*found, *tracked)}
    if missing:
        raise NotFoundError(
            f"There is nothing to adopt here called {' or '.join(sorted(missing))}.",
            hint="`skillyard skill check` lists what is untracked.",
            details={"field": "skill", "value": sorted(missing)},
        )
    roots = [target.root for target in targets]
    adoptions = (_adoption(skill, by_base.get(skill.place.base, {}), roots) for skill in found)
    return Plan(actions=(*adoptions, *map(_tracked_already, tracked)))


def _tracked_already(skill: Checked) -> Action:
    return Action(
        act=Act.UNCHANGED,
        id=skill.id,
        place=skill.place,
        path=skill.path,
        reason="It is tracked already.",
        before=skill.entry,
        after=skill.entry,
    )


def _is_own_edit(skill: Checked) -> bool:
    is_local = skill.entry is not None and skill.entry.source.kind is SourceKind.LOCAL
    return is_local and skill.status is Status.EDITED


def _adoption(skill: Checked, foreign: Mapping[str, ForeignEntry], roots: Sequence[Path]) -> Action:
    seen = look_at(skill.path)
    action = Action(
        act=Act.ADOPT,
        id=skill.id,
        place=skill.place,
        path=skill.path,
        seen=seen.mark,
        found=seen.bundle,
        before=skill.entry,
    )
    if seen.bundle is None:
        first = seen.findings[0]
        return blocked(action, Act.REFUSED, first.message, first.fix)
    try:
        return _tracked(action, seen.bundle, foreign, roots)
    except NotAllowedError as error:
        return blocked(action, Act.REFUSED, error.message, error.hint)


def _tracked(action: Action, bundle: Bundle, foreign: Mapping[str, ForeignEntry], roots: Sequence[Path]) -> Action:
    name, version = _name_and_version(bundle)
    known = foreign.get(action.id) or foreign.get(name)
    place = action.place
    links = [root / action.id for root in roots if (root / action.id).is_relative_to(place.base)]
    entry = LockEntry(
        id=action.id,
        path=place.relative(action.path),
        source=known.source if known else Source(kind=SourceKind.LOCAL),
        digest=bundle.digest,
        version=version,
        links=tuple(sorted(place.relative(link) for link in links if leads_to(link, action.path))),
        verified=known is None or known.source.kind is SourceKind.LOCAL or known.vouches_for(bundle),
    )
    vague = known is not None and known.origin and known.source.kind is SourceKind.LOCAL
    reason = f"The npx skills installer noted {known.origin!r}, which is no exact source." if known and vague else ""
    return replace(action, after=entry, pristine=bundle, reason=reason)


def _name_and_version(bundle: Bundle) -> tuple[str, str]:
    skill_file = bundle.get(SKILL_FILE)
    document = parse(skill_file.data).document if skill_file else None
    return (document.name, version_of(document)) if document else ("", "")
