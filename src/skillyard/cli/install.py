"""`skillyard add`, `sync`, `update`, `remove`, `skill adopt` and `skill check`."""

from collections.abc import Sequence
from typing import Annotated

import typer

from skillyard.app.installing import (
    Carried,
    Where,
    carry_out,
    download_limits,
    install_targets,
    lock_places,
    reach_targets,
    removal_targets,
    remove_options,
)
from skillyard.cli.options import Agents, DryRun, FollowLock, Force, NeverAsks, OneRoot, Risky, Skills, User, Yes
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.plan_text import print_carried, print_checked
from skillyard.command_text import command_text
from skillyard.config.load import load_settings
from skillyard.delivery import (
    check_installed,
    fetch_source,
    parse_source,
    plan_add,
    plan_adopt,
    plan_remove,
    plan_sync,
    plan_update,
)
from skillyard.delivery.check import Checked, Status, compare
from skillyard.delivery.merge import Favor
from skillyard.delivery.source import SourceKind
from skillyard.delivery.source_text import is_shorthand
from skillyard.delivery.sync import SyncOptions
from skillyard.delivery.update import UpdateOptions, tracked_skills
from skillyard.errors import NotFoundError, UsageError
from skillyard.library.roots import Machine

AllowHttp = Annotated[bool, typer.Option("--allow-http", help="Also accept plain http addresses.")]


def add(
    context: typer.Context,
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A folder, an archive, owner/repo, a git address or a URL.")
    ],
    *,
    skill: Annotated[
        list[str] | None, typer.Option("--skill", "-s", metavar="NAME", help="Only this one; repeatable.")
    ] = None,
    agent: Agents = None,
    root: OneRoot = None,
    user: User = False,
    copy: Annotated[bool, typer.Option("--copy", help="A copy for each agent instead of links.")] = False,
    digest: Annotated[str, typer.Option("--digest", metavar="SHA256", help="Accept only this content.")] = "",
    force: Force = False,
    allow_risky: Risky = False,
    allow_http: AllowHttp = False,
    dry_run: DryRun = False,
    yes: NeverAsks = False,  # noqa: ARG001
) -> Answer:
    """Install skills from a folder, an archive, git or a URL.

    Without --agent or --root they go to .agents/skills of the project (with --user, of your home), with links
    for agents here that do not read that folder. skillyard.lock records what was installed from where.
    """
    settings = load_settings()
    machine = Machine.here()
    where = Where(agents=agent or (), root=root, user=user)
    targets = install_targets(where, settings, machine, copy=copy)
    wanted = parse_source(source, cwd=machine.cwd, digest=digest)
    if is_shorthand(source) and wanted.kind is SourceKind.GIT and not wanted.location.startswith("file:"):
        sink_of(context).say(f"There is no {source} here; it is read as {wanted.location}")
    with sink_of(context).busy(f"Installing from {source}"):
        fetched = fetch_source(wanted, limits=download_limits(settings, allow_http=allow_http), only=skill or ())
        plan = plan_add(fetched, targets, force=force, allow_risky=allow_risky, where=where.words)
        carried = carry_out(plan, settings, dry_run=dry_run)
    return _answer(context, carried)


def remove(
    context: typer.Context,
    skills: Annotated[list[str], typer.Argument(metavar="SKILL", help="Their ids.")],
    *,
    agent: Agents = None,
    root: OneRoot = None,
    user: User = False,
    force: Force = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Answer:
    """Remove installed skills.

    They go to the trash in Skillyard's home. Skills that you edited, or installed in another way, need --force.
    """
    settings = load_settings()
    where = Where(agents=agent or (), root=root, user=user)
    machine = Machine.here()
    targets = removal_targets(where, settings, machine)
    plan = plan_remove(skills, targets, remove_options(where, machine, force=force))
    if plan.changes and not dry_run:
        folders = ", ".join(str(action.origin or action.path) for action in plan.changes)
        sink_of(context).confirm(f"Remove {folders}?", yes=yes)
    return _answer(context, carry_out(plan, settings, dry_run=dry_run))


def sync(
    context: typer.Context,
    skills: Skills = None,
    *,
    agent: Agents = None,
    root: OneRoot = None,
    user: User = False,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; exit code 1 if anything differs.")] = False,
    force: Force = False,
    allow_risky: Risky = False,
    allow_http: AllowHttp = False,
    dry_run: DryRun = False,
    yes: FollowLock = False,
) -> Answer:
    """Install exactly what skillyard.lock says.

    The same digests, from the pinned commit, version or archive; only `update` moves to newer ones. Skills that you
    edited are reported and kept: the exit code is 5.
    """
    settings = load_settings()
    where = Where(agents=agent or (), root=root, user=user)
    targets = reach_targets(where, settings, Machine.here())
    places = lock_places(targets)
    if not any(place.lock.exists() for place in places):
        locks = " or ".join(str(place.lock) for place in places)
        raise NotFoundError(f"There is no {locks}.", hint="Run the command in the project's folder.")
    if check:
        tracked_skills(places, skills or ())
        return _checked(context, [item for item in compare(targets) if _is_named(item, skills)], where)
    options = SyncOptions(
        force=force,
        follow=yes,
        allow_risky=allow_risky or force,
        where=where.words,
        limits=download_limits(settings, allow_http=allow_http),
    )
    with sink_of(context).busy("Installing what is locked"):
        plan = plan_sync(places, home=settings.home, ids=skills or (), options=options)
        carried = carry_out(plan, settings, dry_run=dry_run)
    return _answer(context, carried)


def update(
    context: typer.Context,
    skills: Skills = None,
    *,
    agent: Agents = None,
    root: OneRoot = None,
    user: User = False,
    ours: Annotated[bool, typer.Option("--ours", help="If both changed the same lines, keep yours.")] = False,
    theirs: Annotated[bool, typer.Option("--theirs", help="If both changed the same lines, take upstream's.")] = False,
    allow_risky: Risky = False,
    allow_http: AllowHttp = False,
    dry_run: DryRun = False,
    yes: FollowLock = False,
) -> Answer:
    """Bring installed skills up to date, keeping your edits.

    Your edits and upstream's are merged. If both changed the same lines, nothing is written, the conflict is
    shown and the exit code is 5.
    """
    if ours and theirs:
        raise UsageError("--ours and --theirs contradict each other.", hint="Use one of them.")
    settings = load_settings()
    where = Where(agents=agent or (), root=root, user=user)
    targets = reach_targets(where, settings, Machine.here())
    options = UpdateOptions(
        follow=yes,
        where=where.words,
        favor=Favor.OURS if ours else Favor.THEIRS if theirs else Favor.NEITHER,
        allow_risky=allow_risky,
        limits=download_limits(settings, allow_http=allow_http),
    )
    with sink_of(context).busy("Updating"):
        plan = plan_update(lock_places(targets), home=settings.home, ids=skills or (), options=options)
        carried = carry_out(plan, settings, dry_run=dry_run)
    return _answer(context, carried)


def adopt(
    context: typer.Context,
    skills: Skills = None,
    *,
    agent: Agents = None,
    root: OneRoot = None,
    user: User = False,
    dry_run: DryRun = False,
) -> Answer:
    """Start tracking skills that are already installed.

    The files stay as they are. What the `npx skills` installer recorded in skills-lock.json is used.
    """
    settings = load_settings()
    machine = Machine.here()
    targets = reach_targets(Where(agents=agent or (), root=root, user=user), settings, machine)
    plan = plan_adopt(targets, machine=machine, ids=skills or ())
    return _answer(context, carry_out(plan, settings, dry_run=dry_run))


def check(
    context: typer.Context, skills: Skills = None, *, agent: Agents = None, root: OneRoot = None, user: User = False
) -> Answer:
    """Check which installed skills were edited or are missing.

    Exit code 1 when a skill was edited, is missing or lost its links. Untracked skills are only reported.
    """
    settings = load_settings()
    where = Where(agents=agent or (), root=root, user=user)
    targets = reach_targets(where, settings, Machine.here())
    found = check_installed(targets, home=settings.home, named=root is not None)
    checked = [item for item in found if _is_named(item, skills)]
    missing = {name.casefold() for name in skills or ()} - {item.id.casefold() for item in checked}
    if missing:
        raise NotFoundError(
            f"No skill here is called {' or '.join(sorted(missing))}.",
            hint="`skillyard skill check` without a name lists them all.",
            details={"field": "skill", "value": sorted(missing)},
        )
    return _checked(context, checked, where)


def _is_named(item: Checked, names: Sequence[str] | None) -> bool:
    return not names or item.id.casefold() in {name.casefold() for name in names}


def _checked(context: typer.Context, checked: Sequence[Checked], where: Where) -> Answer:
    install = command_text("sync", options=where.words)
    drifted = [item for item in checked if item.status not in {Status.OK, Status.UNTRACKED}]
    return Answer(
        document={"skills": [item.as_dict() for item in checked], "drifted": len(drifted)},
        text=lambda console: print_checked(console, checked, sink_of(context), install=install),
        exit_code=1 if drifted else 0,
    )


def _answer(context: typer.Context, carried: Carried) -> Answer:
    return Answer(
        document=carried.as_dict(),
        text=lambda console: print_carried(console, carried, sink_of(context)),
        exit_code=carried.exit_code,
    )
