"""`skillyard publish` and `registry import`: skills from a folder, an archive or git into a yard."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from skillyard.cli.options import DryRun, Token
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import inline
from skillyard.cli.text import BAD, FAINT, GOOD, count, print_rows, styled
from skillyard.cli.yard import InNamespace, NewVersion, Server, Visibility, yard_client
from skillyard.delivery import fetch_source, parse_source
from skillyard.delivery.fetched import FetchedSkill, RefusedSkill
from skillyard.delivery.source import Source, SourceKind
from skillyard.errors import ConflictError, InputError, NotFoundError, SkillyardError, UsageError
from skillyard.remote.client import YardClient
from skillyard.skill.versions import Version

if TYPE_CHECKING:
    from rich.console import Console

PUBLISHED: Final = "published"
PENDING: Final = "pending"
REJECTED: Final = "rejected"
YANKED: Final = "yanked"
STORED: Final = "stored"
WOULD: Final = "planned"
UNCHANGED: Final = "unchanged"
REFUSED: Final = "refused"
_SHORTHAND: Final = re.compile(r"[\w.-]+/[\w.-]+")
_LOOKS: Final = {
    PUBLISHED: ("✓", GOOD, "published"),
    YANKED: ("=", FAINT, "published before, and yanked"),
    REJECTED: ("✗", BAD, "turned down in review"),
    PENDING: ("…", "yellow", "waits for someone else to approve it"),
    STORED: ("✓", GOOD, "stored as working copy"),
    WOULD: ("+", GOOD, "would be published"),
    UNCHANGED: ("=", FAINT, "unchanged"),
    REFUSED: ("✗", BAD, "refused"),
}

Sources = Annotated[list[str], typer.Argument(metavar="SOURCE", help="Skill folders, archives, git or URLs.")]
Base = Annotated[
    str | None,
    typer.Option("--base", metavar="DIGEST", help="Replace unpublished edits in the yard, if they are these."),
]


def publish(
    context: typer.Context,
    source: Sources,
    *,
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="All skills below, not only one.")] = False,
    namespace: InNamespace = None,
    version: NewVersion = None,
    visibility: Visibility = None,
    notes: Annotated[str | None, typer.Option("--notes", metavar="TEXT", help="What is new in this version.")] = None,
    base: Base = None,
    dry_run: DryRun = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Publish skills as versions that never change.

    Safe to repeat: what is published already, byte for byte, is left alone. Of several skills those that can be are
    published, and the exit code is 1 when one was refused.
    """
    options = {
        "publish": True,
        "namespace": namespace,
        "version": str(Version.parse(version)) if version is not None else None,
        "visibility": visibility,
        "notes": notes,
        "base": base,
    }
    skills = _fetch(context, source)
    if len(skills) > 1 and not recursive and len(source) == 1:
        raise UsageError(
            f"{source[0]} holds {count(len(skills), 'skill')}.", hint=f"Publish all: skillyard publish -r {source[0]}"
        )
    if version is not None and len(skills) > 1:
        raise UsageError(
            f"--version {version} is one version for {count(len(skills), 'skill')}.",
            hint="Leave it out, and state versions as metadata.version in each SKILL.md.",
        )
    return _send(context, skills, options, server, token, dry_run=dry_run)


def import_skills(
    context: typer.Context,
    source: Sources,
    *,
    namespace: InNamespace = None,
    visibility: Visibility = None,
    base: Base = None,
    dry_run: DryRun = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Put skills into the yard as working copies.

    No version is published; `registry release` does that.
    """
    options = {"publish": False, "namespace": namespace, "visibility": visibility, "base": base}
    return _send(context, _fetch(context, source), options, server, token, dry_run=dry_run)


def _fetch(context: typer.Context, sources: Sequence[str]) -> list[FetchedSkill | RefusedSkill]:
    with sink_of(context).busy("Reading"):
        fetched = [fetch_source(_source(text)) for text in sources]
    skills = [skill for one in fetched for skill in (*one.refused, *one.skills)]
    if not skills:
        raise NotFoundError(f"There is no skill in {', '.join(sources)}.", hint="A skill is a folder with a SKILL.md.")
    return skills


def _send(
    context: typer.Context,
    skills: Sequence[FetchedSkill | RefusedSkill],
    options: dict[str, Any],
    server: str | None,
    token: str | None,
    *,
    dry_run: bool,
) -> Answer:
    with yard_client(server, token) as client:
        label = "Publishing" if options["publish"] else "Importing"
        work = _outcomes(client, skills, options, dry_run=dry_run)
        outcomes = list(sink_of(context).track(work, total=len(skills), label=label))
    summary = {status: sum(one["status"] == status for one in outcomes) for status in _LOOKS}
    return Answer(
        document={"dry_run": dry_run, "results": outcomes, "summary": summary},
        text=lambda console: _print(console, outcomes),
        exit_code=1 if summary[REFUSED] else 0,
        remarks=["Nothing was changed (--dry-run)."] if dry_run else [],
    )


def _outcomes(
    client: YardClient, skills: Sequence[FetchedSkill | RefusedSkill], options: dict[str, Any], *, dry_run: bool
) -> Iterator[dict[str, Any]]:
    own = client.me()["name"] if dry_run or not options["publish"] else ""
    for skill in skills:
        try:
            if isinstance(skill, RefusedSkill):
                raise _unfit(skill)
            yield _planned(client, skill, options, own) if dry_run else _sent(client, skill, options, own)
        except SkillyardError as error:
            if len(skills) == 1:
                raise
            yield {"skill": skill.id, "status": REFUSED, "error": error.as_dict()}


def _source(text: str) -> Source:
    """Where a skill is; a folder that is not there is not taken for somebody's repository."""
    source = parse_source(text, cwd=Path.cwd())
    if source.kind is SourceKind.GIT and _SHORTHAND.fullmatch(text):
        raise NotFoundError(
            f"There is no folder {text!r}.",
            hint=f"Check the path. For the repository write it out: https://github.com/{text}",
            details={"field": "source", "value": text},
        )
    return source


def _unfit(skill: RefusedSkill) -> InputError:
    return InputError(
        f"The skill {skill.id!r} cannot be used.",
        hint=next((finding.fix for finding in skill.findings if finding.fix), ""),
        details={"findings": [finding.as_dict() for finding in skill.findings]},
    )


def _sent(client: YardClient, skill: FetchedSkill, options: dict[str, Any], own: str) -> dict[str, Any]:
    before = None if options["publish"] else _digest_in(client, f"{options['namespace'] or own}/{skill.name}")
    answer = client.send(skill.bundle, skill.id, **options)
    version = answer["version"]
    if version is None:
        status = UNCHANGED if before == skill.bundle.digest else STORED
    elif version["state"] == REJECTED:
        raise ConflictError(
            f"{answer['full_name']} {version['version']} was turned down in review.",
            hint="Change the skill, or publish it under another number: --version X.Y.Z",
            details={"version": version["version"], "digest": version["digest"]},
        )
    else:
        status = _status_of(version, created=answer["created"])
    return {
        "skill": answer["full_name"],
        "status": status,
        "version": version["version"] if version else None,
        "digest": skill.bundle.digest,
        "visibility": answer["visibility"],
    }


def _digest_in(client: YardClient, name: str) -> str | None:
    """The digest of the working copy that the yard has; None where it has none."""
    try:
        return client.skill(name)["digest"]
    except NotFoundError:
        return None


def _status_of(version: dict[str, Any], *, created: bool) -> str:
    if version["state"] in {PENDING, REJECTED}:
        return version["state"]
    if version["yank_reason"] is not None:
        return YANKED
    return PUBLISHED if created else UNCHANGED


def _planned(client: YardClient, skill: FetchedSkill, options: dict[str, Any], own: str) -> dict[str, Any]:
    """What sending a skill would do, as far as it can be told from here."""
    name = f"{options['namespace'] or own}/{skill.name}"
    try:
        present = client.skill(name)
        versions = client.versions(present["id"])
    except NotFoundError:
        present, versions = None, []
    digest = skill.bundle.digest
    if options["publish"]:
        wanted = options["version"] or _stated(skill)
        taken = next((one for one in versions if one["version"] == wanted), None)
        if taken is not None and taken["digest"] != digest:
            raise ConflictError(
                f"{name!r} {wanted} is published already, with other content.",
                hint="A version is never replaced: publish under the next number.",
                details={"field": "version", "value": wanted, "digest": taken["digest"]},
            )
        same = taken if wanted else next((one for one in versions if one["digest"] == digest), None)
        version = same["version"] if same else wanted or _next(versions)
        status = _status_of(same, created=False) if same else WOULD
    else:
        version = None
        status = UNCHANGED if present and present["digest"] == digest else WOULD
    shown = present["visibility"] if present else "private"
    return {
        "skill": name,
        "status": status,
        "version": version,
        "digest": digest,
        "visibility": options["visibility"] or shown,
    }


def _stated(skill: FetchedSkill) -> str | None:
    """The version that SKILL.md states, if it is one."""
    try:
        return str(Version.parse(skill.version))
    except InputError:
        return None


def _next(versions: Sequence[dict[str, Any]]) -> str:
    """The number that the yard would give."""
    newest = max((Version.parse(one["version"]) for one in versions), default=None)
    return str(newest.bump("patch")) if newest else "0.1.0"


def _print(console: "Console", outcomes: Sequence[dict[str, Any]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for outcome in outcomes:
        mark, style, said = _LOOKS[outcome["status"]]
        title = styled((f"{mark} ", style), (inline(outcome["skill"]), "bold"))
        said = outcome["error"]["message"] if "error" in outcome else said
        rows.append((title, outcome.get("version") or "", styled((inline(said), FAINT if mark == "=" else ""))))
    print_rows(console, rows, cut=False)
    for outcome in outcomes:
        for line in _explained(outcome.get("error")):
            console.print(styled((f"  {inline(outcome['skill'])}: ", FAINT), inline(line)), soft_wrap=True)


def _explained(error: dict[str, Any] | None) -> Iterator[str]:
    if error is None:
        return
    for finding in error["details"].get("findings", ()):
        if finding["severity"] == "error":
            yield finding["message"]
    if error["hint"]:
        yield f"fix: {error['hint']}"
