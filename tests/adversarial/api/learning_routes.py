"""The routes of learning: who may ask what, and what they are asked about."""

import sqlite3
from contextlib import closing
from datetime import timedelta

from skillyard.clock import utc_now
from skillyard.learning.models import FeedbackRow

V1 = "/api/v1"
FEEDBACK = f"{V1}/feedback/{{feedback_id}}"
LESSON = f"{V1}/lessons/{{lesson_id}}"
PROPOSAL = f"{V1}/proposals/{{proposal_id}}"
MEMORY = f"{V1}/memories/{{memory_id}}"
RULE = f"{V1}/rules/{{rule_id}}"
SOURCE = f"{V1}/feedback-sources/{{source_id}}"
WORKER = "worker-1"
TABLE = {
    "hit_policy": "F",
    "inputs": [{"id": "tier", "type": "string"}],
    "outputs": [{"id": "percent", "type": "number"}],
    "rules": [{"id": "r1", "when": ["-"], "then": [1]}],
}
HELD = {"json": {"worker": WORKER}}
SEARCH = {"json": {"worker": WORKER, "arguments": {"query": "it"}}}
LEARNING_RULES = {
    "who took it": "---- .. ! !!!! x!!+ !!",
    "tenant who may write": "---- .. + ++++ x+++ ++",
    "tenant who may publish": "---- .. + ++++ xx++ ++",
}
LEARNING_SPENT = ("/retry", "/matches", "/finish", "/give-back")
LEARNING_ROUTES = [
    ("everyone who may write", f"POST {V1}/feedback", "none", {"json": {"content": "{new}"}}),
    ("everyone", f"GET {V1}/feedback", "none", {}),
    ("everyone who may write", f"POST {V1}/feedback/work", "none", {}),
    ("everyone who may write", f"POST {V1}/feedback/import", "none", {"files": {"file": ("it.csv", b"content\nx\n")}}),
    ("tenant", f"GET {FEEDBACK}", "feedback", {}),
    ("tenant who may write", f"POST {FEEDBACK}/retry", "resting feedback", {}),
    ("everyone who may write", f"POST {V1}/feedback/take", "none", {"json": {"worker": "{new}"}}),
    (
        "who took it",
        f"POST {FEEDBACK}/matches",
        "taken feedback",
        {"json": {"worker": WORKER, "matches": {}}},
    ),
    ("who took it", f"POST {FEEDBACK}/finish", "lesson", HELD),
    ("who took it", f"POST {FEEDBACK}/give-back", "taken feedback", HELD),
    ("tenant", f"GET {LESSON}", "lesson", {}),
    ("tenant", f"GET {LESSON}/transcript", "lesson", {}),
    ("who took it", f"POST {LESSON}/tools/{{tool}}", "lesson", SEARCH),
    ("tenant who may publish", f"POST {LESSON}/undo", "learned lesson", {}),
    ("everyone", f"GET {V1}/proposals", "none", {}),
    ("tenant", f"GET {PROPOSAL}", "proposal", {}),
    ("tenant who may publish", f"POST {PROPOSAL}/approve", "proposal", {}),
    ("tenant who may publish", f"POST {PROPOSAL}/reject", "proposal", {}),
    ("everyone", f"GET {V1}/memories", "none", {}),
    ("everyone who may write", f"POST {V1}/memories", "none", {"json": {"text": "{new}"}}),
    ("everyone", f"POST {V1}/memories/recall", "none", {"json": {"query": "it"}}),
    ("tenant", f"GET {MEMORY}", "memory", {}),
    ("tenant who may publish", f"PATCH {MEMORY}", "memory", {"json": {"locked": True}}),
    ("tenant who may write", f"DELETE {MEMORY}", "memory", {}),
    ("tenant who may write", f"POST {MEMORY}/judge", "memory", {"json": {"verdict": "helpful"}}),
    ("everyone", f"GET {V1}/rules", "none", {}),
    ("everyone who may write", f"POST {V1}/rules", "none", {"json": {"name": "{new}", "table": TABLE}}),
    ("everyone", f"POST {V1}/rules/check", "none", {"json": {"table": TABLE}}),
    ("tenant", f"GET {RULE}.dmn", "rule", {}),
    ("tenant", f"GET {RULE}", "rule", {}),
    ("tenant who may write", f"PUT {RULE}", "rule", {"json": {"description": "{new}"}}),
    ("tenant who may write", f"DELETE {RULE}", "rule", {}),
    ("tenant", f"POST {RULE}/evaluate", "rule", {"json": {"inputs": {"tier": "gold"}}}),
    ("tenant", f"GET {RULE}/versions", "rule", {}),
    ("tenant", f"GET {RULE}/cases", "rule", {}),
    ("tenant who may publish", f"POST {RULE}/cases/{{case_id}}/pin", "rule", {}),
    ("operator", f"GET {V1}/feedback-sources", "none", {}),
    (
        "operator",
        f"POST {V1}/feedback-sources",
        "none",
        {"json": {"name": "{new}", "kind": "url", "place": {"url": "http://127.0.0.1:9/"}}},
    ),
    ("operator", f"GET {SOURCE}", "source", {}),
    ("operator", f"PATCH {SOURCE}", "source", {"json": {"every_seconds": 61}}),
    ("operator", f"DELETE {SOURCE}", "source", {}),
    ("operator", f"POST {SOURCE}/poll", "source", {}),
    ("operator", f"GET {SOURCE}/dead-letters", "source", {}),
    ("operator", f"DELETE {SOURCE}/dead-letters", "source", {}),
]


class LearningTargets:
    """What is learned in the tenant; for `World`, which makes it when it is asked for."""

    def _feedback(self):
        return {"feedback_id": self.did("owner", "POST", "feedback", json={"content": self.new()})["id"]}

    def _resting_feedback(self):
        return self._set(self._feedback(), state="done", stage="needs_review")

    def _taken_feedback(self):
        until = utc_now() + timedelta(hours=1)
        holder = self.served.principal(self.secrets["owner"])
        held = {"taken_by": WORKER, "holder_id": holder.person_id, "holder_token": holder.token_id}
        return self._set(self._feedback(), state="waiting", stage="matching", taken_until=until, **held)

    def _lesson(self):
        made = self._taken_feedback()
        agent = self.target("agent", fresh=False)["agent_id"]
        begin = self.served.yard.learning.lessons.begin
        principal = self.served.principal(self.secrets["owner"])
        [lesson] = self.served.run(begin, principal, made["feedback_id"], {agent: "Be brief."})
        return {**made, "lesson_id": lesson, "tool": "search_similar_knowledge"}

    def _learned_lesson(self):
        made = self._lesson()
        said = {"worker": WORKER, "arguments": {"operation": "ADD", "text": self.new()}}
        self.did("owner", "POST", f"lessons/{made['lesson_id']}/tools/commit_to_memory", json=said)
        return made

    def _set(self, made, **columns):
        async def set_columns():
            async with self.served.yard.database.write(bookkeeping=True) as transaction:
                row = await transaction.session.get_one(FeedbackRow, made["feedback_id"])
                for name, value in columns.items():
                    setattr(row, name, value)

        self.served.run(set_columns)
        return made

    def _proposal(self):
        made = self.did("owner_write", "POST", "memories", json={"text": self.new()})
        return {"proposal_id": made["proposal_id"]}

    def _memory(self):
        return {"memory_id": self.did("owner", "POST", "memories", json={"text": self.new()})["memory"]["id"]}

    def _rule(self):
        rule = self.did("owner", "POST", "rules", json={"name": self.new(), "table": TABLE})["rule"]["id"]
        self.did("owner", "POST", f"rules/{rule}/evaluate", json={"inputs": {"tier": "gold"}})
        return {"rule_id": rule, "case_id": self.did("owner", "GET", f"rules/{rule}/cases")[0]["id"]}

    def _source(self):
        file = self.served.home / "desk.sqlite"
        with closing(sqlite3.connect(file)) as database:
            database.execute("CREATE TABLE IF NOT EXISTS comments (id INTEGER PRIMARY KEY, body TEXT)")
        fields = {"event_id": "id", "content": "body"}
        place = {"database": f"sqlite:///{file}", "table": "comments", "fields": fields}
        made = {"name": self.new(), "kind": "table", "place": place}
        return {"source_id": self.did("operator", "POST", "feedback-sources", json=made)["id"]}
