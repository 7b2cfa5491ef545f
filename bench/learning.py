"""How long it takes from feedback to what was learned from it, with a model that answers at once.

`python bench/learning.py` serves a yard on this machine and sends it feedback over loopback, one piece after the other.
"""

import argparse
import json
import random
import re
import statistics
import string
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from load import ask, get, post_json
from results import table, write_part
from servers import Server, skillyard

from skillyard.llm.scripted import Reply, Request, ScriptedModel, ToolCall

REPORT = """## Learning

A yard on SQLite learns from {times} pieces of feedback of each kind, sent one after the other; the model is a scripted
one on this machine. Counted is from sending the feedback to seeing it committed, by a client that asks every 50
milliseconds; "model" is how much of it the model's answers took, median. Less than a second without the model is the
aim. The first piece that a server learns from, while it imports what it needs for that, took {first:,.0f} ms and is not
among them.

{table}
"""
_NEAR = re.compile(r'knowledge_id=\\?"([^"\\]+)')
WORDS = random.Random(3)
UNDER_WAY = {"queued", "matching", "deciding"}
BODY = "# Kindness\n\n## When to use\n\nAlways.\n\n## Steps\n\n1. Say please.\n2. Say thanks.\n"
TABLE = {
    "hit_policy": "F",
    "inputs": [{"id": "tier"}],
    "outputs": [{"id": "percent", "type": "number"}],
    "rules": [{"id": "gold", "when": ['"gold"'], "then": [10]}],
}


class Mind:
    """Says what becomes of feedback by its last word, of which it was told what kind of thing it is."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.kinds: dict[str, str] = {}

    def __call__(self, request: Request) -> Reply:
        began = time.perf_counter()
        reply = self._reply(request)
        self.seconds += time.perf_counter() - began
        return reply

    def _reply(self, request: Request) -> Reply:
        system, user, *rest = request["messages"]
        asked, _ = json.JSONDecoder().raw_decode(user["content"])
        if request.get("tools"):
            return self._decide(_word(user["content"]), rest[-1]["content"] if rest else "")
        if system["content"].startswith("You judge"):
            return Reply(text=json.dumps({"relation": "UNRELATED", "reason": "It is about something else."}))
        if system["content"].startswith("You decide which agents"):
            meaning = asked["feedback"]["content"]
            return Reply(text=json.dumps({"matches": [{"agent_id": "support", "meaning": meaning}]}))
        word = _word(user["content"])
        fields = {"name": word, "description": f"How to {word}. Use for every {word}.", "body_markdown": BODY}
        return Reply(text=json.dumps(fields))

    def _decide(self, word: str, heard: str) -> Reply:
        """Commit; where it is said first what is to be looked at, look at that, and commit then."""
        if near := _NEAR.findall(heard):
            about = ({"knowledge_type": "SKILL", "knowledge_id": name} for name in near)
            return Reply(calls=[ToolCall(name="analyze_knowledge_conflict", arguments=each) for each in about])
        return Reply(calls=[self._commit(word)]) if not heard or "UNRELATED" in heard else Reply(text="Done.")

    def _commit(self, word: str) -> ToolCall:
        ways: dict[str, tuple[str, dict[str, Any]]] = {
            "memory": ("commit_to_memory", {"text": f"Remember {word}."}),
            "rule": ("commit_to_dmn_rule", {"name": word, "table": TABLE}),
            "skill": ("commit_to_skill", {}),
        }
        tool, arguments = ways[self.kinds[word]]
        return ToolCall(name=tool, arguments={"operation": "CREATE", **arguments})


def _word(text: str) -> str:
    """The last word of the feedback, wherever in a question it stands."""
    return text.split("Learn ", 1)[1].split(".", 1)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--write", type=Path, help="also write the results to this file")
    options = parser.parse_args()
    mind = Mind()
    with (
        tempfile.TemporaryDirectory(prefix="skillyard-bench-") as scratch,
        ScriptedModel(mind) as model,
        skillyard(Path(scratch), **model.settings, model_api_key="none") as server,
    ):
        ask(server.port, post_json("/api/v1/agents", {"id": "support", "name": "Support"}), status=201)
        first = _learn(server, mind, "memory")
        rows = [_row(server, mind, kind, options.times) for kind in ("memory", "rule", "skill")]
    report = REPORT.format(
        times=options.times, first=first, table=table(["learned", "median ms", "p95 ms", "model ms"], rows)
    )
    sys.stdout.write(report)
    if options.write:
        write_part(options.write, "learning", report)


def _row(server: Server, mind: Mind, kind: str, times: int) -> list[str]:
    taken: list[float] = []
    answering: list[float] = []
    for _ in range(times):
        mind.seconds = 0.0
        taken.append(_learn(server, mind, kind))
        answering.append(mind.seconds * 1000)
    high = statistics.quantiles(taken, n=20)[-1]
    return [kind, *(f"{each:.1f}" for each in (statistics.median(taken), high, statistics.median(answering)))]


def _learn(server: Server, mind: Mind, kind: str) -> float:
    """The milliseconds until feedback is learned from, about something that nobody has heard of."""
    word = "".join(WORDS.choices(string.ascii_lowercase, k=12))
    mind.kinds[word] = kind
    began = time.perf_counter()
    feedback = {"content": f"Learn {word}."}
    made = ask(server.port, post_json("/api/v1/feedback", feedback), status=201).data["data"]
    while (seen := ask(server.port, get(f"/api/v1/feedback/{made['id']}")).data["data"])["stage"] in UNDER_WAY:
        time.sleep(0.05)
    if seen["stage"] != "committed":
        raise SystemExit(f"A {kind} is {seen['stage']}: {seen['reason']}")
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    main()
