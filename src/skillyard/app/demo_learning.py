"""A part of the demonstration: feedback in Korean changes what an agent answers, until that is undone."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from skillyard.app.demo_scenes import Scene
from skillyard.llm.scripted import Reply, Request, ScriptedModel, ToolCall
from skillyard.remote.client import YardClient
from skillyard.remote.learning_following import at_rest

FEEDBACK: Final = "VIP 고객은 10만 원까지 승인 없이 바로 환불해 주세요."
MEANING: Final = "Please refund VIP customers at once, without approval, up to 100,000 won."
CASE: Final = {"grade": "vip", "amount": 80_000}
_AGENT: Final = {
    "id": "refund-desk",
    "name": "환불 상담원",
    "role": "환불 요청을 처리한다",
    "goal": "빠르고 공정한 환불",
}
_NOW, _ASK = "refund at once", "ask a manager"
_INPUTS: Final = [
    {"id": "grade", "type": "string", "label": "고객 등급", "values": '"vip", "regular"'},
    {"id": "amount", "type": "number", "label": "금액", "values": ">= 0"},
]
_OUTPUTS: Final = [{"id": "action", "type": "string", "label": "처리", "values": [_NOW, _ASK]}]
_RULE: Final = {
    "name": "환불 처리",
    "description": "환불 요청을 바로 처리할지 승인을 받을지 정한다.",
    "table": {
        "hit_policy": "F",
        "inputs": _INPUTS,
        "outputs": _OUTPUTS,
        "rules": [{"when": ["-", "<= 30000"], "then": [_NOW]}, {"when": ["-", "> 30000"], "then": [_ASK]}],
    },
}
_NEW_ROW: Final = {
    "hit_policy": "F",
    "inputs": _INPUTS,
    "outputs": _OUTPUTS,
    "rules": [{"when": ['"vip"', "(30000..100000]"], "then": [_NOW], "note": "VIP는 승인 없이"}],
}
_MEANT: Final = {
    "matches": [{"agent_id": _AGENT["id"], "meaning": "VIP 고객의 10만 원 이하 환불은 승인 없이 바로 처리한다."}]
}
_JUDGED: Final = {"relation": "EXCEPTION", "reason": "VIP 고객에게만 한도를 높이는 예외이다."}


def scripted_model() -> ScriptedModel:
    """A model that says what is written here, whatever it is asked."""
    return ScriptedModel(_script)


def show_learning(yard: YardClient) -> Iterator[Scene]:
    """The story, scene by scene, on a yard of its own that asks the scripted model and reviews changes to rules."""
    learning = yard.learning
    learning.approve(learning.create_rule(_RULE)["proposal_id"])
    (rule,) = learning.rules()
    before = learning.evaluate_rule(rule["id"], CASE)
    yield Scene(
        name="asked",
        title="An agent at a refund desk goes by a decision rule:",
        rows=_table_rows(rule["table"]),
        remark=f"A VIP asks for 80,000 won: {_answer(before)}.",
        facts={"rule": rule["table"], "inputs": CASE, "outputs": before["outputs"]},
    )
    given = learning.give(FEEDBACK, task="VIP 고객의 80,000원 환불 요청", agents=[_AGENT], user="mina")
    at_rest(learning, given["id"])
    told = learning.show(given["id"], transcript=True)
    (lesson,) = told["lessons"] or [None]
    yield _said(told, lesson)
    if lesson is None or lesson["state"] != "proposed":
        return
    proposal = learning.proposal(lesson["proposal_id"])
    yield _proposed(proposal)
    learning.approve(proposal["id"], reason="VIP 고객을 기다리게 하지 않는다")
    after = learning.evaluate_rule(rule["id"], CASE, keep=False)
    yield _compared("approved", "Approved. The same request again:", after, good=after["outputs"] != before["outputs"])
    learning.undo(lesson["id"], reason="This was a demonstration.")
    last = learning.evaluate_rule(rule["id"], CASE, keep=False)
    yield _compared("undone", "Undone. And once more:", last, good=last["outputs"] == before["outputs"])


def _said(told: Mapping[str, Any], lesson: Mapping[str, Any] | None) -> Scene:
    calls = [] if lesson is None else _calls(lesson["transcript"])
    went = told["stage"] == "proposed"
    scripted = "What the model does. It is scripted: no model is asked in this demo."
    return Scene(
        name="said",
        title=f"Feedback: “{FEEDBACK}”\n{MEANING}\n{scripted}",
        rows=[(name, arguments) for name, arguments in calls],
        remark="" if went else f"Nothing came of it: {told['reason'] or told['error'] or told['stage']}",
        good=None if went else False,
        facts={
            "model": "scripted",
            "feedback": FEEDBACK,
            "stage": told["stage"],
            "reason": told["reason"],
            "calls": [name for name, _ in calls],
            "spent": None if lesson is None else lesson["spent"],
        },
    )


def _proposed(proposal: Mapping[str, Any]) -> Scene:
    warnings: Sequence[Mapping[str, Any]] = proposal["warnings"]
    lines = [line for line in proposal["diff"].splitlines() if line[:1] in "+-" and line[:3] not in {"+++", "---"}]
    return Scene(
        name="proposed",
        title="Changes to rules are reviewed here, so it is proposed:",
        rows=[(line,) for line in lines],
        remark="\n".join(map(_warning, warnings)),
        facts={
            "summary": proposal["summary"],
            "diff": proposal["diff"],
            "warnings": list(warnings),
            "relations": proposal["relations"],
        },
    )


def _warning(warning: Mapping[str, Any]) -> str:
    if warning["kind"] == "case":
        return f"past case: {warning['before']['action']} → {warning['after']['action']}"
    return f"{warning['kind']}: {warning['message']}"


def _compared(name: str, title: str, done: Mapping[str, Any], *, good: bool) -> Scene:
    return Scene(
        name=name,
        title=title,
        remark=f"A VIP asks for 80,000 won: {_answer(done)}.",
        good=good,
        facts={"outputs": done["outputs"], "version": done["version"]},
    )


def _answer(done: Mapping[str, Any]) -> str:
    return f"{done['outputs']['action']} (row {', '.join(done['counted'])} of version {done['version']})"


def _table_rows(table: Mapping[str, Any]) -> list[Sequence[str]]:
    columns = [*table["inputs"], *table["outputs"]]
    head = ("", *(f"{column['id']} ({column['label']})" for column in columns))
    return [head, *((rule["id"], *rule["when"], *rule["then"]) for rule in table["rules"])]


def _calls(transcript: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The tools that were called, and with what."""
    calls = [call for entry in transcript for call in entry.get("calls", ())]
    return [(call["name"], _short(call["arguments"])) for call in calls]


def _short(arguments: Mapping[str, Any]) -> str:
    plain = {name: value for name, value in arguments.items() if isinstance(value, str)}
    table: Mapping[str, Any] = arguments.get("table", {})
    rows = [f"{', '.join(row['when'])} → {row['then'][0]}" for row in table.get("rules", ())]
    return ", ".join([*(f"{name}={value}" for name, value in plain.items()), *rows])


def _script(request: Request) -> Reply:
    """First who is meant, then: look for what is known, have it judged, commit, and stop."""
    messages: Sequence[Mapping[str, Any]] = request["messages"]
    if not request.get("tools"):
        asked_to_judge = '"relation"' in messages[0]["content"]
        return Reply(text=json.dumps(_JUDGED if asked_to_judge else _MEANT, ensure_ascii=False))
    answers = [message["content"] for message in messages if message["role"] == "tool"]
    if not answers:
        return _call("search_similar_knowledge", query="VIP 고객 환불 승인")
    found = [each["id"] for each in json.loads(answers[0])["found"] if each["type"] == "DMN_RULE"]
    if len(answers) == 1 and found:
        return _call("analyze_knowledge_conflict", knowledge_type="DMN_RULE", knowledge_id=found[0])
    if len(answers) == 2 and found:  # noqa: PLR2004 -- what it did so far
        return _call("commit_to_dmn_rule", operation="UPDATE", rule_id=found[0], table=_NEW_ROW, merge_mode="REFINE")
    return Reply(text="환불 규칙에 VIP 예외를 제안했습니다.")


def _call(name: str, **arguments: Any) -> Reply:  # noqa: ANN401 -- of any tool
    return Reply(calls=[ToolCall(name=name, arguments=arguments)])
