"""Learning in a yard: feedback, what became of it, and what agents go by since."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from skillyard.remote.connection import API, Connection, json_of

_XML: Final = "application/xml"
_POLL_SECONDS: Final = 600.0
Rule: TypeAlias = Mapping[str, Any] | str
"""A rule as JSON, or as DMN XML."""


class LearningClient:
    """What can be asked about learning, call by call; answers are the JSON of `/api/v1`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def give(
        self,
        content: str,
        *,
        task: str = "",
        description: str = "",
        events: Sequence[Any] = (),
        agents: Sequence[Mapping[str, Any]] = (),
        user: str = "",
        time: str | None = None,
        event_id: str | None = None,
        source: str | None = None,
        **place: str | None,
    ) -> dict[str, Any]:
        """Give one piece of feedback; `created` is false where it had come before.

        It lives in your own `namespace`, unless another is named, and so does what is learned from it; with the
        `visibility` private, only the members of that see it.
        """
        body = {
            "content": content,
            "task": task,
            "description": description,
            "events": list(events),
            "agents": [dict(agent) for agent in agents],
            "user": user,
            "time": time,
            "event_id": event_id,
            **place,
        }
        return self._change("POST", "/feedback", body, source=source)

    def give_many(self, items: Sequence[Mapping[str, Any]], *, source: str | None = None) -> list[dict[str, Any]]:
        """Give several pieces, all or none."""
        return self._change("POST", "/feedback", [dict(item) for item in items], source=source)

    def import_file(
        self, name: str, data: bytes, *, encoding: str | None = None, dry_run: bool = False
    ) -> dict[str, Any]:
        """Give what is in a file: CSV, Excel, JSON lines or a JSON list; lines that are no feedback are told."""
        path = "/feedback/import"
        return self._connection.upload(path, name, data, encoding=encoding, dry_run=dry_run or None)["data"]

    def feedback(self, *, stage: str | None = None) -> Iterator[dict[str, Any]]:
        """The newest first."""
        return self._connection.pages("/feedback", stage=stage, limit=200)

    def counts(self) -> dict[str, int]:
        """How much feedback stands where."""
        return self._connection.send("GET", "/feedback", query={"limit": 1})["counts"]

    def show(self, feedback_id: str, *, transcript: bool = False) -> dict[str, Any]:
        """One piece of feedback with its lessons."""
        return self._connection.get(_path("feedback", feedback_id), transcript=transcript or None)

    def retry(self, feedback_id: str) -> dict[str, Any]:
        """Learn from it again."""
        return self._change("POST", _path("feedback", feedback_id, "retry"))

    def work(self) -> dict[str, Any]:
        """Begin with what nobody works on; a server does so by itself."""
        return self._change("POST", "/feedback/work")

    def undo(self, lesson_id: str, *, reason: str = "") -> dict[str, Any]:
        """Take back all that a lesson changed."""
        return self._change("POST", _path("lessons", lesson_id, "undo"), reason=reason)

    def proposals(self, *, state: str | None = "open") -> Iterator[dict[str, Any]]:
        """What waits for someone's word, or without a state all that ever did; the newest first."""
        return self._connection.pages("/proposals", state=state, limit=200)

    def proposal(self, proposal_id: str) -> dict[str, Any]:
        """One proposal, with its diff."""
        return self._connection.get(_path("proposals", proposal_id))

    def approve(self, proposal_id: str, *, reason: str = "") -> dict[str, Any]:
        return self._change("POST", _path("proposals", proposal_id, "approve"), {"reason": reason})

    def reject(self, proposal_id: str, *, reason: str = "") -> dict[str, Any]:
        return self._change("POST", _path("proposals", proposal_id, "reject"), {"reason": reason})

    def memories(self, *, agent: str | None = None, everything: bool = False) -> Iterator[dict[str, Any]]:
        """What is remembered, the newest first; `everything`, also what was superseded or has expired."""
        return self._connection.pages("/memories", agent=agent, everything=everything or None, limit=200)

    def memory(self, memory_id: str) -> dict[str, Any]:
        return self._connection.get(_path("memories", memory_id))

    def remember(
        self,
        text: str,
        *,
        agent: str | None = None,
        expires_at: str | None = None,
        namespace: str | None = None,
        visibility: str = "public",
        reason: str = "",
    ) -> dict[str, Any]:
        """Keep something for one agent, or for all, in a namespace: your own, unless another is named."""
        place = {"namespace": namespace, "visibility": visibility}
        body = {"text": text, "agent_id": agent, "expires_at": expires_at, **place}
        return self._change("POST", "/memories", body, reason=reason)

    def change_memory(self, memory_id: str, fields: Mapping[str, Any], *, reason: str = "") -> dict[str, Any]:
        """Set `text`, `expires_at` or `locked`; another text makes another memory, which takes its place."""
        return self._change("PATCH", _path("memories", memory_id), fields, reason=reason)

    def forget(self, memory_id: str, *, reason: str = "") -> dict[str, Any]:
        return self._change("DELETE", _path("memories", memory_id), reason=reason)

    def recall(self, query: str, *, agent: str | None = None, limit: int = 10) -> list[dict[str, Any]]:
        """What is remembered about something, the most fitting first."""
        return self._change("POST", "/memories/recall", {"query": query, "agent": agent, "limit": limit})

    def judge(self, memory_id: str, verdict: str) -> dict[str, Any]:
        """Say that a memory was `helpful`, or `harmful`."""
        return self._change("POST", _path("memories", memory_id, "judge"), {"verdict": verdict})

    def rules(self, *, agent: str | None = None) -> list[dict[str, Any]]:
        """Decision rules, by name."""
        return self._connection.get("/rules", agent=agent)

    def rule(self, rule_id: str) -> dict[str, Any]:
        return self._connection.get(_path("rules", rule_id))

    def create_rule(self, rule: Rule, *, reason: str = "") -> dict[str, Any]:
        """Keep a decision table: `name`, `table` and more, or DMN XML."""
        return self._send_rule("POST", "/rules", rule, reason=reason)

    def change_rule(self, rule_id: str, rule: Rule, *, base: str | None = None, reason: str = "") -> dict[str, Any]:
        """Set `table` (and `merge_mode`), `name`, `description` or `locked`; `base`, only if that version is in use."""
        return self._send_rule("PUT", _path("rules", rule_id), rule, base=base, reason=reason)

    def delete_rule(self, rule_id: str, *, base: str | None = None, reason: str = "") -> dict[str, Any]:
        return self._change("DELETE", _path("rules", rule_id), base=base, reason=reason)

    def check_rule(self, rule: Rule) -> dict[str, Any]:
        """What there is to say about a table; nothing is kept."""
        return self._send_rule("POST", "/rules/check", rule)

    def evaluate_rule(self, rule_id: str, inputs: Mapping[str, Any], *, keep: bool = True) -> dict[str, Any]:
        """What a rule says to a case."""
        return self._change("POST", _path("rules", rule_id, "evaluate"), {"inputs": dict(inputs), "keep": keep})

    def rule_versions(self, rule_id: str) -> list[dict[str, Any]]:
        return self._connection.get(_path("rules", rule_id, "versions"))

    def rule_cases(self, rule_id: str) -> list[dict[str, Any]]:
        """The cases that it decided: the pinned ones, then the latest."""
        return self._connection.get(_path("rules", rule_id, "cases"))

    def pin_case(self, rule_id: str, case_id: str, *, pinned: bool = True) -> dict[str, Any]:
        """Have a case hold whatever the rule becomes, or no longer."""
        return self._change("POST", _path("rules", rule_id, "cases", case_id, "pin"), {"pinned": pinned})

    def rule_dmn(self, rule_id: str) -> str:
        """A rule as DMN XML."""
        return self._connection.download(f"{_path('rules', rule_id)}.dmn").decode()

    def sources(self) -> list[dict[str, Any]]:
        """What feedback is polled from, by name; for whoever runs the yard."""
        return self._connection.get("/feedback-sources")

    def source(self, source_id: str) -> dict[str, Any]:
        return self._connection.get(_path("feedback-sources", source_id))

    def create_source(self, fields: Mapping[str, Any], *, reason: str = "") -> dict[str, Any]:
        """Have an address or a table polled: `name`, `kind`, `place` and `every_seconds`."""
        return self._change("POST", "/feedback-sources", fields, reason=reason)

    def change_source(self, source_id: str, fields: Mapping[str, Any], *, reason: str = "") -> dict[str, Any]:
        return self._change("PATCH", _path("feedback-sources", source_id), fields, reason=reason)

    def delete_source(self, source_id: str, *, reason: str = "") -> dict[str, Any]:
        return self._change("DELETE", _path("feedback-sources", source_id), reason=reason)

    def poll_source(self, source_id: str) -> dict[str, Any]:
        """Look at a source now."""
        path = f"{API}{_path('feedback-sources', source_id, 'poll')}"
        return json_of(self._connection.ask("POST", path, timeout=_POLL_SECONDS))["data"]

    def dead_letters(self, source_id: str) -> Iterator[dict[str, Any]]:
        """What could not be taken in, the newest first."""
        return self._connection.pages(_path("feedback-sources", source_id, "dead-letters"), limit=200)

    def delete_dead_letters(self, source_id: str) -> dict[str, Any]:
        return self._change("DELETE", _path("feedback-sources", source_id, "dead-letters"))

    def _send_rule(
        self, method: str, path: str, rule: Rule, *, base: str | None = None, reason: str = ""
    ) -> dict[str, Any]:
        if not isinstance(rule, str):
            return self._change(method, path, rule, base=base, reason=reason)
        headers = {"Content-Type": _XML, **_condition(base)}
        params = {"reason": reason} if reason else {}
        response = self._connection.ask(method, f"{API}{path}", content=rule.encode(), headers=headers, params=params)
        return json_of(response)["data"]

    def _change(
        self,
        method: str,
        path: str,
        body: Any = None,  # noqa: ANN401 -- any JSON
        *,
        base: str | None = None,
        reason: str = "",
        **query: Any,  # noqa: ANN401 -- query values
    ) -> Any:  # noqa: ANN401 -- any JSON
        asked = {"reason": reason or None, **query}
        return self._connection.send(method, path, query=asked, body=body, headers=_condition(base))["data"]


def _condition(base: str | None) -> dict[str, str]:
    return {"If-Match": f'"{base}"'} if base else {}


def _path(*parts: str) -> str:
    return "/" + "/".join(quote(part, safe="") for part in parts)
