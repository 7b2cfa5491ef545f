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
    "who took it": "---- .. x xxxx x!!+ xx",
    "its person with write": "---- .. x xxxx x+++ xx",
    "its person with publish": "---- .. x xxxx xx++ xx",
    "its person with publish, tenant admins": "---- .. x xxxx xx++ ++",
    "public editors with publish": "---- .. x x+++ xx++ xx",
    "public admins with publish": "---- .. x xxx+ xx++ xx",
    "public admins, or proposed": "---- .. x xxx+ x+++ xx",
}
"""What is learned is everybody's to read, unless it is private, and changed by those with a role where it lives."""
LEARNING_SPENT = ("/retry", "/matches", "/finish", "/give-back")
LEARNING_ROUTES = [
    ("everyone who may write", f"POST {V1}/feedback", "none", {"json": {"content": "{new}"}}),
    ("everyone", f"GET {V1}/feedback", "none", {}),
    ("everyone who may write", f"POST {V1}/feedback/work", "none", {}),
    ("everyone who may write", f"POST {V1}/feedback/import", "none", {"files": {"file": ("it.csv", b"content\nx\n")}}),
    ("tenant", f"GET {FEEDBACK}", "feedback", {}),
    ("its person with write", f"POST {FEEDBACK}/retry", "resting feedback", {}),
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
    ("its person with publish", f"POST {LESSON}/undo", "learned lesson", {}),
    ("everyone", f"GET {V1}/proposals", "none", {}),
    ("tenant", f"GET {PROPOSAL}", "proposal", {}),
    ("its person with publish, tenant admins", f"POST {PROPOSAL}/approve", "proposal", {}),
    ("its person with publish, tenant admins", f"POST {PROPOSAL}/reject", "proposal", {}),
    ("everyone", f"GET {V1}/memories", "none", {}),
    ("everyone who may write", f"POST {V1}/memories", "none", {"json": {"text": "{new}"}}),
    ("everyone", f"POST {V1}/memories/recall", "none", {"json": {"query": "it"}}),
    ("tenant", f"GET {MEMORY}", "memory", {}),
    ("its person with publish", f"PATCH {MEMORY}", "memory", {"json": {"locked": True}}),
    ("its person with write", f"DELETE {MEMORY}", "memory", {}),
    ("its person with write", f"POST {MEMORY}/judge", "memory", {"json": {"verdict": "helpful"}}),
    ("everyone", f"GET {V1}/rules", "none", {}),
    ("everyone who may write", f"POST {V1}/rules", "none", {"json": {"name": "{new}", "table": TABLE}}),
    ("everyone", f"POST {V1}/rules/check", "none", {"json": {"table": TABLE}}),
    ("tenant", f"GET {RULE}.dmn", "rule", {}),
    ("tenant", f"GET {RULE}", "rule", {}),
    ("its person with write", f"PUT {RULE}", "rule", {"json": {"description": "{new}"}}),
    ("its person with write", f"DELETE {RULE}", "rule", {}),
    ("tenant", f"POST {RULE}/evaluate", "rule", {"json": {"inputs": {"tier": "gold"}}}),
    ("tenant", f"GET {RULE}/versions", "rule", {}),
    ("tenant", f"GET {RULE}/cases", "rule", {}),
    ("its person with publish", f"POST {RULE}/cases/{{case_id}}/pin", "rule", {}),
    # In a team, for all to read.
    ("team editors", f"POST {V1}/feedback", "none", {"json": {"content": "{new}", "namespace": "crew"}}),
    ("team editors", f"POST {V1}/memories", "none", {"json": {"text": "{new}", "namespace": "crew"}}),
    ("team editors", f"POST {V1}/rules", "none", {"json": {"name": "{new}", "table": TABLE, "namespace": "crew"}}),
    ("tenant", f"GET {RULE}", "crew rule", {}),
    ("public editors", f"PUT {RULE}", "crew rule", {"json": {"description": "{new}"}}),
    ("public editors", f"DELETE {RULE}", "crew rule", {}),
    ("public editors with publish", f"POST {RULE}/cases/{{case_id}}/pin", "crew rule", {}),
    ("public editors with publish", f"PUT {RULE}", "crew rule", {"json": {"locked": False}}),
    ("public editors", f"POST {MEMORY}/judge", "crew memory", {"json": {"verdict": "helpful"}}),
    ("public editors", f"DELETE {MEMORY}", "crew memory", {}),
    # Locked there: its administrators' alone.
    ("public admins with publish", f"PUT {RULE}", "locked rule", {"json": {"locked": True}}),
    ("public admins, or proposed", f"PUT {RULE}", "locked rule", {"json": {"description": "{new}"}}),
    ("public admins, or proposed", f"DELETE {RULE}", "locked rule", {}),
    ("public admins with publish", f"POST {RULE}/cases/{{case_id}}/pin", "locked rule", {}),
    ("public admins with publish", f"PATCH {MEMORY}", "locked memory", {"json": {"locked": True}}),
    ("public admins, or proposed", f"DELETE {MEMORY}", "locked memory", {}),
    ("public admins with publish", f"POST {V1}/history/{{number}}/undo", "locked memory", {}),
    # Private to it: for everybody else it is not there.
    ("team", f"GET {FEEDBACK}", "private feedback", {}),
    ("team", f"GET {RULE}", "private rule", {}),
    ("team", f"GET {RULE}.dmn", "private rule", {}),
    ("team", f"GET {RULE}/versions", "private rule", {}),
    ("team", f"GET {RULE}/cases", "private rule", {}),
    ("team", f"POST {RULE}/evaluate", "private rule", {"json": {"inputs": {"tier": "gold"}}}),
    ("team", f"POST {V1}/rules/check", "private rule", {"json": {"table": TABLE, "rule_id": "{rule_id}"}}),
    ("team editors", f"PUT {RULE}", "private rule", {"json": {"description": "{new}"}}),
    ("team editors", f"DELETE {RULE}", "private rule", {}),
    ("team", f"GET {MEMORY}", "private memory", {}),
    ("team editors", f"POST {MEMORY}/judge", "private memory", {"json": {"verdict": "helpful"}}),
    ("team editors", f"DELETE {MEMORY}", "private memory", {}),
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

    def _memory(self, **place):
        made = self.did("owner", "POST", "memories", json={"text": self.new(), **place})["memory"]["id"]
        return {"memory_id": made, "number": str(self.served.number())}

    def _rule(self, **place):
        rule = self.did("owner", "POST", "rules", json={"name": self.new(), "table": TABLE, **place})["rule"]["id"]
        self.did("owner", "POST", f"rules/{rule}/evaluate", json={"inputs": {"tier": "gold"}})
        return {"rule_id": rule, "case_id": self.did("owner", "GET", f"rules/{rule}/cases")[0]["id"]}

    def _crew_memory(self):
        return self._memory(namespace="crew")

    def _crew_rule(self):
        return self._rule(namespace="crew")

    def _locked_memory(self):
        made = self._crew_memory()
        self.did("owner", "PATCH", f"memories/{made['memory_id']}", json={"locked": True})
        return {**made, "number": str(self.served.number())}

    def _locked_rule(self):
        made = self._crew_rule()
        self.did("owner", "PUT", f"rules/{made['rule_id']}", json={"locked": True})
        return made

    def _private_feedback(self):
        said = {"content": self.new(), "namespace": "crew", "visibility": "private"}
        return {"feedback_id": self.did("owner", "POST", "feedback", json=said)["id"]}

    def _private_memory(self):
        return self._memory(namespace="crew", visibility="private")

    def _private_rule(self):
        return self._rule(namespace="crew", visibility="private")

    def _source(self):
        file = self.served.home / "desk.sqlite"
        with closing(sqlite3.connect(file)) as database:
            database.execute("CREATE TABLE IF NOT EXISTS comments (id INTEGER PRIMARY KEY, body TEXT)")
        fields = {"event_id": "id", "content": "body"}
        place = {"database": f"sqlite:///{file}", "table": "comments", "fields": fields}
        made = {"name": self.new(), "kind": "table", "place": place}
        return {"source_id": self.did("operator", "POST", "feedback-sources", json=made)["id"]}
