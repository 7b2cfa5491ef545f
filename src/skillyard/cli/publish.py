"""`skillyard publish` and `registry import`: skills from a folder, an archive or git into a yard."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from skillyard.cli.options import DryRun, Risky, Token
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import inline
from skillyard.cli.text import BAD, FAINT, GOOD, count, finding_from, findings_text, place_of, print_rows, styled
from skillyard.cli.yard import InNamespace, NewVersion, Server, Visibility, Why, yard_client
from skillyard.command_text import command_text
from skillyard.delivery import fetch_source, parse_source
from skillyard.delivery.fetched import FetchedSkill, RefusedSkill
from skillyard.delivery.source import Source, SourceKind
from skillyard.errors import InputError, NotFoundError, SkillyardError, UsageError
from skillyard.remote.client import YardClient
from skillyard.skill.models import Severity, has_errors
from skillyard.skill.versions import Version

if TYPE_CHECKING:
    from rich.console import Console

PUBLISHED: Final = "published"
PENDING: Final = "pending"
SHOWN: Final = "shown"
YANKED: Final = "yanked"
STORED: Final = "stored"
PLANNED: Final = "planned"
UNCHANGED: Final = "unchanged"
REFUSED: Final = "refused"
_SHORTHAND: Final = re.compile(r"[\w.-]+/[\w.-]+")
_LOOKS: Final = {
    PUBLISHED: ("✓", GOOD, "published"),
    PENDING: ("…", "yellow", "waits for someone else to approve it"),
    SHOWN: ("✓", GOOD, "published before; its visibility is new"),
    YANKED: ("=", FAINT, "published before, and yanked"),
    STORED: ("✓", GOOD, "stored as working copy"),
    PLANNED: ("+", GOOD, ""),
    UNCHANGED: ("=", FAINT, "unchanged"),
    REFUSED: ("✗", BAD, "refused"),
}
_WOULD: Final = {
    PUBLISHED: "would be published",
    PENDING: "would wait for someone else to approve it",
    SHOWN: "published before; its visibility would change",
    STORED: "would be stored as working copy",
}
"""What a dry run says of each status that a skill would have."""

Sources = Annotated[list[str], typer.Argument(metavar="SOURCE", help="Skill folders, archives, git or URLs.")]
Base = Annotated[
    str | None,
    typer.Option("--base", metavar="DIGEST", help="Replace unpublished edits in the yard if they have this digest."),
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
    reason: Why = "",
    allow_risky: Risky = False,
    base: Base = None,
    dry_run: DryRun = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Publish skills as versions that never change.

    Safe to repeat: what is published already, byte for byte, is left alone. Of several skills, all that can be
    published are; the exit code is 1 when one was refused. Serious findings of the scan are refused; --allow-risky
    with a reason (-m) accepts them, if you administer the namespace, and the version keeps the reason.
    """
    if allow_risky and not reason.strip():
        raise UsageError(
            "--allow-risky needs a reason, which the version keeps.", hint="Say why the findings do no harm: -m REASON"
        )
    options = {
        "publish": True,
        "namespace": namespace,
        "version": str(Version.parse(version)) if version is not None else None,
        "visibility": visibility,
        "notes": notes,
        "reason": reason,
        "allow_risky": allow_risky,
        "base": base,
    }
    skills = _fetch(context, source)
    if len(skills) > 1 and not recursive and len(source) == 1:
        everything = command_text("publish", source[0], options=["-r"])
        raise UsageError(f"{source[0]} holds {count(len(skills), 'skill')}.", hint=f"Publish all: {everything}")
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
    """Store skills in the yard as working copies.

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
    for skill in skills:
        try:
            if isinstance(skill, RefusedSkill):
                raise _unfit(skill)
            yield _outcome(client.send(skill.bundle, skill.id, **options, dry_run=dry_run))
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


def _outcome(answer: dict[str, Any]) -> dict[str, Any]:
    version = answer["version"]
    status = _status_of(answer)
    outcome = {
        "skill": answer["full_name"],
        "status": status,
        "version": version["version"] if version else None,
        "digest": version["digest"] if version else answer["digest"],
        "visibility": answer["visibility"],
        "findings": answer["findings"],
    }
    return {**outcome, "status": PLANNED, "would": status} if answer["dry_run"] and answer["changed"] else outcome


def _status_of(answer: dict[str, Any]) -> str:
    version = answer["version"]
    if version is None:
        return STORED if answer["changed"] else UNCHANGED
    if version["state"] == PENDING:
        return PENDING
    if answer["created"]:
        return PUBLISHED
    if answer["changed"]:
        return SHOWN
    return UNCHANGED if version["yank_reason"] is None else YANKED


def _print(console: "Console", outcomes: Sequence[dict[str, Any]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for outcome in outcomes:
        mark, style, said = _LOOKS[outcome["status"]]
        serious = sum(one["severity"] == Severity.ERROR for one in outcome.get("findings", ()))
        if serious and outcome["status"] == PUBLISHED:
            mark, style, said = "!", "yellow", f"published with {count(serious, 'serious finding')}"
        title = styled((f"{mark} ", style), (inline(outcome["skill"]), "bold"))
        said = outcome["error"]["message"] if "error" in outcome else _WOULD.get(outcome.get("would", ""), said)
        rows.append((title, outcome.get("version") or "", styled((inline(said), FAINT if mark == "=" else ""))))
    print_rows(console, rows, cut=False)
    for outcome in outcomes:
        findings = [finding_from(one) for one in outcome.get("findings", ())]
        worth = [one for one in findings if one.severity is not Severity.INFO]
        if worth:
            console.print(styled((f"  {inline(outcome['skill'])}:\n", FAINT)), end="", soft_wrap=True)
            console.print(findings_text(worth, indent="    ", console=console), end="", soft_wrap=True)
        if has_errors(findings) and outcome["status"] == PUBLISHED:
            undo = command_text("registry yank", outcome["skill"], outcome["version"], options=["-m", "REASON"])
            console.print(styled((f"    undo: {undo}", FAINT)), soft_wrap=True)
        for line in _explained(outcome.get("error")):
            console.print(styled((f"  {inline(outcome['skill'])}: ", FAINT), inline(line)), soft_wrap=True)


def _explained(error: dict[str, Any] | None) -> Iterator[str]:
    if error is None:
        return
    for finding in error["details"].get("findings", ()):
        if finding["severity"] == "error":
            place = place_of(finding_from(finding))
            yield f"{place}: {finding['message']}" if place else finding["message"]
    if error["hint"]:
        yield f"fix: {error['hint']}"
