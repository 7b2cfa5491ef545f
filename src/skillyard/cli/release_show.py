"""`skillyard release show`: a candidate, a release or an evaluation, with all that is known of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from skillyard.cli.options import Token
from skillyard.cli.output import Answer
from skillyard.cli.release_screenshots import Screenshots, save_screenshots, saved_remarks
from skillyard.cli.release_text import (
    PASS,
    percent,
    print_facts,
    print_payload,
    print_runs,
    print_steps,
    print_table,
    print_title,
    promotion_advice,
    when,
)
from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.text import FAINT, count, styled
from skillyard.cli.yard import Server, yard_client
from skillyard.errors import NotFoundError
from skillyard.remote.client import YardClient

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN_EVIDENCE: Final = 5
_SHOWN_EVALUATIONS: Final = 5
_OWN: Final = "blob:"


def show(
    name: Annotated[str, typer.Argument(metavar="ID", help="A candidate (sc-…), release (sr-…) or evaluation (se-…).")],
    *,
    screenshots: Screenshots = None,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Read a candidate, a release or an evaluation.

    Its steps, its variables, and the evidence for it.
    """
    kind = _KINDS.get(name[:3])
    if kind is None:
        raise NotFoundError(
            f"There is nothing with the id {name!r}.",
            hint="List what there is: skillyard release candidates",
            details={"field": "id", "value": name},
        )
    with yard_client(server, token) as client:
        answer = kind(client, name)
        if screenshots is None:
            return answer
        saved = save_screenshots(client, answer.document.get("runs", ()), screenshots)
    return replace(
        answer, document={**answer.document, "screenshots": saved}, remarks=saved_remarks(screenshots, saved)
    )


def _show_candidate(client: YardClient, candidate_id: str) -> Answer:
    one = client.releases.candidate(candidate_id)
    payload = payload_of(client, one)
    evaluations = client.releases.evaluations(candidate_id)["items"]

    def text(console: "Console") -> None:
        print_facts(console, _candidate_facts(one))
        print_payload(console, payload)
        _print_evidence(console, one["source_execution_ids"])
        _print_evaluations(console, evaluations)

    return Answer(
        document={**one, "payload": payload, "evaluations": evaluations},
        text=text,
        remarks=_next_of(one, payload),
    )


def _candidate_facts(one: Mapping[str, Any]) -> dict[str, Any]:
    verdict = {True: "passed", False: "not passed", None: ""}[one["latest_pass"]]
    return {
        "candidate": one["id"],
        "skill": one["skill_key"],
        "delivered as": one.get("name"),
        "type": one["skill_type"],
        "status": one["status"],
        "summary": one_line(one["summary"] or ""),
        "notes": one_line(one["usage_notes"] or ""),
        "scenario": one["scenario_key"],
        "found": "by mining" if one.get("mined") else "by hand",
        "evaluated": f"{verdict} {percent(one['latest_score'])} {when(one['last_evaluated_at'])}".strip(),
        "release": one["promotion_release_id"],
        "released automatically": f"{'yes' if one['auto_release_eligible'] else 'no'}: {one['auto_release_reason']}"
        if one["auto_release_reason"]
        else "",
        "digest": one.get("digest"),
        "made": when(one["created_at"]),
        "deleted": when(one["deleted_at"]),
    }


def _show_release(client: YardClient, release_id: str) -> Answer:
    one = client.releases.release(release_id)
    candidate = client.releases.candidate(one["candidate_id"])
    payload = payload_of(client, candidate)

    def text(console: "Console") -> None:
        print_facts(console, _release_facts(one))
        print_payload(console, payload)

    return Answer(
        document={**one, "payload": payload},
        text=text,
        remarks=[f"How it performs: skillyard release health {release_id}"] if one["is_active"] else [],
    )


def _release_facts(one: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "release": one["id"],
        "skill": one["skill_key"],
        "delivered as": one.get("name"),
        "version": one["version"],
        "stage": one["stage"],
        "state": one.get("state"),
        "evidence": "a verdict from elsewhere" if one.get("external") else "replays",
        "candidate": one["candidate_id"],
        "promoted": f"{when(one['promoted_at'])}, {'by policy' if one['release_mode'] == 'auto' else 'by hand'}",
        "replaces": one["upgrade_of_release_id"],
        "rollback of": one["rollback_of"],
        "changes": one_line(one["change_summary"] or one["upgrade_reason"] or ""),
        "ended": f"{when(one.get('ended_at'))} {one_line(one.get('end_reason') or '')}".strip(),
        "digest": one.get("digest"),
    }


def _show_evaluation(client: YardClient, evaluation_id: str) -> Answer:
    one = client.releases.evaluation(evaluation_id)
    return Answer(document=one, text=lambda console: _print_evaluation(console, one))


def _print_evaluation(console: "Console", one: Mapping[str, Any]) -> None:
    facts = {
        "evaluation": one["id"],
        "candidate": one["candidate_id"],
        "kind": one["kind"],
        "state": one["state"],
        "verdict": one["verdict"],
        "score": percent(one["score"]),
        "benchmark": one["benchmark_id"],
        "compared with": one["compared_with"],
        "report": one_line(one["report"] or ""),
        "error": one_line(one["error"] or ""),
    }
    print_facts(console, facts)
    if one["runs"]:
        print_title(console, "Runs")
        print_runs(console, one["runs"])
    failed = next((run for run in one["runs"] if run["verdict"] != PASS), None)
    if failed is not None:
        print_title(console, f"Steps of run {failed['number'] + 1}")
        print_steps(console, failed)


def payload_of(client: YardClient, candidate: Mapping[str, Any]) -> Any:  # noqa: ANN401 -- any JSON
    """The payload, if the yard keeps it: others have references of their own."""
    reference = candidate["payload_ref"] or ""
    if not reference.startswith(_OWN):
        return None
    try:
        return client.releases.payloads.get(reference)["payload"]
    except NotFoundError:
        return None


def _print_evidence(console: "Console", executions: Sequence[str]) -> None:
    print_title(console, f"Evidence: {count(len(executions), 'execution')}")
    shown = ", ".join(executions[:_SHOWN_EVIDENCE])
    more = len(executions) - _SHOWN_EVIDENCE
    console.print(inline(f"{shown}, and {more} more" if more > 0 else shown), soft_wrap=True)


def _print_evaluations(console: "Console", evaluations: Sequence[Mapping[str, Any]]) -> None:
    if not evaluations:
        return
    print_title(console, "Evaluations")
    rows = [
        (
            styled((one["id"], "bold")),
            one["kind"],
            one["verdict"] or one["state"],
            percent(one["score"]),
            styled((when(one["created_at"]), FAINT)),
            one_line(one["report"] or ""),
        )
        for one in evaluations[:_SHOWN_EVALUATIONS]
    ]
    print_table(console, rows)


def _next_of(one: Mapping[str, Any], payload: Any) -> list[str]:  # noqa: ANN401 -- any JSON
    if one["is_deleted"] or one["status"] == "promoted":
        return []
    if one["latest_pass"]:
        return [promotion_advice(one["id"], payload)]
    return [f"Try it: skillyard release replay {one['id']}"]


_KINDS: Final[Mapping[str, Callable[[YardClient, str], Answer]]] = {
    "sc-": _show_candidate,
    "sr-": _show_release,
    "se-": _show_evaluation,
}
