"""Learned skills of a yard: found in executions, replayed, released and taken back."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

import httpx

from skillyard.remote.connection import Connection, given, json_of

_SKILLS: Final = "/v1/skills"
_PATIENCE: Final = 60.0
"""Seconds for starting a sandbox and for the way there and back, beside the time of a run."""
_RUN_SECONDS: Final = 120


class PayloadClient:
    """The steps of learned skills, as they are sent."""

    def __init__(self, connection: Connection) -> None:
        self._ask = _Asking(connection)

    def create(self, payload: Any, *, kind: str = "generic") -> dict[str, Any]:  # noqa: ANN401 -- any JSON
        """Keep one; `browser`, `code` and `hybrid_sequence` can be replayed."""
        return self._ask.send("POST", "payloads", json={"payload": payload, "kind": kind})

    def get(self, payload_ref: str) -> dict[str, Any]:
        return self._ask.send("GET", f"payloads/{quote(payload_ref, safe=':')}")


class ReleaseClient:
    """What agents did becomes a candidate, what passes is released; answers are the JSON of `/v1/skills`."""

    def __init__(self, connection: Connection) -> None:
        self.payloads = PayloadClient(connection)
        self._ask = _Asking(connection)

    def executions(self, **query: Any) -> dict[str, Any]:  # noqa: ANN401 -- query values
        """What was run, in whichever sandbox, the newest first: `entries` and their `total`.

        Narrowed by `exec_type`, `success_only`, `learn_status`, `sandbox_id` and `since`.
        """
        return self._ask.send("GET", "executions", params=given(query))

    def import_executions(self, session: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Keep what an agent ran outside of every sandbox, to be learned from; what is kept already changes nothing."""
        return self._ask.send("POST", "executions/import", json={"session": dict(session), "runs": list(runs)})

    def imported_sessions(self, **query: Any) -> dict[str, Any]:  # noqa: ANN401 -- query values
        """The sessions from which executions were read in: `sessions`, their `total`, and how many `executions`.

        Narrowed by `sandbox_id`, `agent` and `before`.
        """
        return self._ask.send("GET", "executions/import", params=given(query))

    def delete_imported(
        self, *, sandbox_id: str | None = None, agent: str | None = None, before: str | None = None
    ) -> dict[str, Any]:
        """Take executions that were read in away for good, all or only these: how many `executions` and `sessions`."""
        asked = {"sandbox_id": sandbox_id, "agent": agent, "before": before}
        return self._ask.send("DELETE", "executions/import", params=given(asked))

    def mine(
        self,
        *,
        sandbox_ids: Sequence[str] | None = None,
        execution_ids: Sequence[str] | None = None,
        since: str | None = None,
    ) -> dict[str, Any]:
        """Have executions looked through; `mining` says what came of it."""
        asked = {"sandbox_ids": sandbox_ids, "execution_ids": execution_ids, "since": since}
        return self._ask.send("POST", "mine", json=given(asked))

    def mining(self, mining_id: str) -> dict[str, Any]:
        return self._ask.send("GET", f"mine/{_quoted(mining_id)}")

    def candidates(self, **query: Any) -> dict[str, Any]:  # noqa: ANN401 -- query values
        """The newest first: `items` and their `total`; narrowed by `status` and `skill_key`."""
        return self._ask.send("GET", "candidates", params=given(query))

    def candidate(self, candidate_id: str) -> dict[str, Any]:
        return self._ask.send("GET", f"candidates/{_quoted(candidate_id)}")

    def create_candidate(
        self,
        *,
        skill_key: str,
        source_execution_ids: Sequence[str],
        payload_ref: str | None = None,
        scenario_key: str | None = None,
        summary: str | None = None,
        usage_notes: str | None = None,
        preconditions: Mapping[str, Any] | None = None,
        postconditions: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """A candidate of chosen executions."""
        body = {
            "skill_key": skill_key,
            "source_execution_ids": list(source_execution_ids),
            "payload_ref": payload_ref,
            "scenario_key": scenario_key,
            "summary": summary,
            "usage_notes": usage_notes,
            "preconditions": preconditions,
            "postconditions": postconditions,
        }
        return self._ask.send("POST", "candidates", json=given(body))

    def delete_candidate(self, candidate_id: str, *, reason: str | None = None) -> dict[str, Any]:
        return self._ask.send("DELETE", f"candidates/{_quoted(candidate_id)}", json=given({"reason": reason}))

    def evaluate(
        self,
        candidate_id: str,
        *,
        passed: bool,
        score: float | None = None,
        benchmark_id: str | None = None,
        report: str | None = None,
    ) -> dict[str, Any]:
        """Tell a verdict from elsewhere."""
        body = {"passed": passed, "score": score, "benchmark_id": benchmark_id, "report": report}
        return self._ask.send("POST", f"candidates/{_quoted(candidate_id)}/evaluate", json=given(body))

    def replay(
        self,
        candidate_id: str,
        *,
        runs: int = 5,
        variables: Mapping[str, Any] | None = None,
        secrets: Mapping[str, str] | None = None,
        benchmark: str | None = None,
        timeout: int | None = None,
    ) -> dict[str, Any]:
        """Have a candidate replayed in fresh sandboxes; `evaluation` says how far it is."""
        body = {"runs": runs, "variables": variables, "secrets": secrets, "benchmark": benchmark, "timeout": timeout}
        return self._ask.send("POST", f"candidates/{_quoted(candidate_id)}/replay", json=given(body))

    def evaluation(self, evaluation_id: str) -> dict[str, Any]:
        """An evaluation with its runs, as far as it is."""
        return self._ask.send("GET", f"evaluations/{_quoted(evaluation_id)}")

    def evaluations(self, candidate_id: str) -> dict[str, Any]:
        return self._ask.send("GET", f"candidates/{_quoted(candidate_id)}/evaluations")

    def promote(
        self,
        candidate_id: str,
        *,
        stage: str = "canary",
        upgrade_of_release_id: str | None = None,
        upgrade_reason: str | None = None,
        change_summary: str | None = None,
        allow_risky: bool = False,
    ) -> dict[str, Any]:
        """Release a candidate: as a `canary` for some, or `stable` for all.

        `allow_risky` accepts serious findings of the scan, for the `upgrade_reason`.
        """
        body = {
            "stage": stage,
            "upgrade_of_release_id": upgrade_of_release_id,
            "upgrade_reason": upgrade_reason,
            "change_summary": change_summary,
            "allow_risky": allow_risky or None,
        }
        return self._ask.send("POST", f"candidates/{_quoted(candidate_id)}/promote", json=given(body))

    def releases(self, **query: Any) -> dict[str, Any]:  # noqa: ANN401 -- query values
        """The newest first: `items` and their `total`.

        Narrowed by `skill_key`, `stage` and `active_only`; the latter shows one of each skill unless `every_stage`.
        """
        return self._ask.send("GET", "releases", params=given(query))

    def release(self, release_id: str) -> dict[str, Any]:
        return self._ask.send("GET", _release(release_id))

    def health(self, release_id: str) -> dict[str, Any]:
        """How a release does, and what is to be done with it."""
        return self._ask.send("GET", _release(release_id, "health"))

    def diff(self, old_id: str, new_id: str) -> dict[str, Any]:
        """What differs between two releases: `steps` and `variables`."""
        return self._ask.send("GET", _release(old_id, f"diff/{_quoted(new_id)}"))

    def rollback(self, release_id: str, *, reason: str | None = None) -> dict[str, Any]:
        """Take a release back; the answer is what takes its place, or the release itself, in use no more."""
        return self._ask.send("POST", _release(release_id, "rollback"), json=given({"reason": reason}))

    def kill(self, release_id: str, *, reason: str | None = None) -> dict[str, Any]:
        """Switch a release off, with nothing in its place."""
        return self._ask.send("POST", _release(release_id, "kill"), json=given({"reason": reason}))

    def kill_skill(self, skill_key: str, *, reason: str | None = None) -> dict[str, Any]:
        """Switch off all releases of a skill; the answer has those."""
        return self._ask.send("POST", f"{_quoted(skill_key)}/kill", json=given({"reason": reason}))

    def retire(self, release_id: str, *, reason: str | None = None) -> dict[str, Any]:
        return self._ask.send("POST", _release(release_id, "retire"), json=given({"reason": reason}))

    def retirements(self) -> dict[str, Any]:
        """Releases that may be retired, each with what speaks for it."""
        return self._ask.send("GET", "retirements")

    def delete_release(self, release_id: str, *, reason: str | None = None) -> dict[str, Any]:
        return self._ask.send("DELETE", _release(release_id), json=given({"reason": reason}))

    def run_skill(
        self,
        skill_key: str,
        variables: Mapping[str, Any] | None = None,
        *,
        secrets: Mapping[str, str] | None = None,
        sandbox_id: str | None = None,
        release_id: str | None = None,
        timeout: int | None = None,
    ) -> dict[str, Any]:
        """Run a learned skill, in a sandbox of yours or in a fresh one, and answer what came of it."""
        seconds = _RUN_SECONDS if timeout is None else timeout
        body = {
            "variables": dict(variables or {}),
            "secrets": dict(secrets or {}),
            "sandbox_id": sandbox_id,
            "release_id": release_id,
            "timeout": seconds,
        }
        path = f"{_quoted(skill_key)}/run"
        return self._ask.send("POST", path, seconds=seconds + _PATIENCE, json=given(body))

    execute_hybrid_skill = run_skill

    def runs(self, **query: Any) -> dict[str, Any]:  # noqa: ANN401 -- query values
        """The newest first: `items` and their `total`; narrowed by `release_id` and `candidate_id`."""
        return self._ask.send("GET", "runs", params=given(query))

    def run_screenshot(self, run_id: str) -> bytes:
        """The page as it was where a run ended, as PNG."""
        return self._ask.response("GET", f"runs/{_quoted(run_id)}/screenshot").content

    def search(self, query: str, *, limit: int = 10) -> dict[str, Any]:
        """Learned skills that fit, best first, each with its `score`."""
        return self._ask.send("GET", "search", params={"q": query, "limit": limit})

    def insights(self, *, days: int | None = None) -> dict[str, Any]:
        """How learned skills are used."""
        return self._ask.send("GET", "insights", params=given({"days": days}))

    def gaps(self) -> dict[str, Any]:
        """What was done again and again without a skill for it."""
        return self._ask.send("GET", "gaps")

    def benchmarks(self) -> dict[str, Any]:
        return self._ask.send("GET", "benchmarks")

    def benchmark(self, name: str) -> dict[str, Any]:
        return self._ask.send("GET", f"benchmarks/{_quoted(name)}")

    def save_benchmark(self, name: str, cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Keep a named set of cases, each `{variables, checks}`."""
        return self._ask.send("PUT", f"benchmarks/{_quoted(name)}", json={"cases": list(cases)})

    def delete_benchmark(self, name: str) -> None:
        self._ask.response("DELETE", f"benchmarks/{_quoted(name)}")


class _Asking:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def send(self, method: str, path: str, *, seconds: float = _PATIENCE, **options: Any) -> dict[str, Any]:  # noqa: ANN401 -- httpx's own
        return json_of(self.response(method, path, seconds=seconds, **options))

    def response(self, method: str, path: str, *, seconds: float = _PATIENCE, **options: Any) -> httpx.Response:  # noqa: ANN401 -- as above
        response = self._connection.ask(method, f"{_SKILLS}/{path}", timeout=seconds, **options)
        if not response.is_success:
            json_of(response)
        return response


def _release(release_id: str, rest: str = "") -> str:
    return f"releases/{_quoted(release_id)}{'/' if rest else ''}{rest}"


def _quoted(text: str) -> str:
    return quote(text, safe="")
