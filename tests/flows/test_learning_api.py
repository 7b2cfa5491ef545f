"""Learning over the API, from what somebody says to the agent's next answer, with a model that says what it is told."""

import itertools
import json
import time
from contextlib import asynccontextmanager, contextmanager
from functools import partial

import httpx
import pytest
from fastapi.testclient import TestClient

from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.errors import ConflictError, InputError, NotAllowedError, NotFoundError, UsageError
from skillyard.history.entries import Why
from skillyard.identity.agents import AgentFields
from skillyard.identity.principals import Scope
from skillyard.library.folder import FolderLibrary
from skillyard.llm.scripted import Reply, ScriptedModel, ToolCall, in_turn
from skillyard.remote.client import YardClient
from skillyard.remote.connection import Connection
from skillyard.remote.learning_taking import TakingClient
from skillyard.server.app import Application
from skillyard.server.opened import Opened

ADDRESS = "http://127.0.0.1:8321"
UNDER_WAY = {"queued", "matching", "deciding"}
TABLE = {
    "hit_policy": "F",
    "inputs": [{"id": "tier", "type": "string"}],
    "outputs": [{"id": "percent", "type": "number"}],
    "rules": [{"id": "r1", "when": ['"gold"'], "then": [10]}, {"id": "r2", "when": ["-"], "then": [0]}],
}


def matched(agent="support", meaning="환불은 5일 걸린다고 안내한다"):
    return Reply(text=json.dumps({"matches": [{"agent_id": agent, "meaning": meaning}]}))


def call(tool, **arguments):
    return Reply(calls=[ToolCall(name=tool, arguments=arguments)])


DONE = Reply(text="Done.")
REMEMBER = (
    matched(),
    call("search_similar_knowledge", query="환불 기간"),
    call("commit_to_memory", operation="CREATE", text="환불은 5일 걸린다."),
    DONE,
)


class Served:
    """A yard behind its API, and people in tenants of their own for each test."""

    def __init__(self, client, yard, model):
        self.client, self.yard, self.model = client, yard, model
        self._numbers = itertools.count(1)

    def run(self, call, *given, **named):
        return self.client.portal.call(partial(call, *given, **named))

    def tenant(self):
        return f"tenant-{next(self._numbers)}-{time.time_ns()}"

    def person(self, name, tenant, *, scope=Scope.ADMIN, admin=False):
        place = self.run(self.yard.people.ensure_tenant, tenant)
        self.run(self.yard.people.ensure_person, place, name, admin=admin)
        root = self.run(self.yard.access.operator, "root")
        made = self.run(
            self.yard.tokens.create, root, label=f"{name} {scope}", person=name, tenant=tenant, scope=scope, why=Why()
        )
        return Person(self, made.secret)


class Through(httpx.BaseTransport):
    """Brings what the client of a yard sends to the application."""

    def __init__(self, client):
        self._client = client

    def handle_request(self, request):
        headers = [(name, value) for name, value in request.headers.items() if name != "accept-encoding"]
        answer = self._client.request(request.method, str(request.url), headers=headers, content=request.read())
        return httpx.Response(answer.status_code, headers=_plain(answer.headers), content=answer.content)


def _plain(headers):
    return {
        name: value for name, value in headers.items() if name.lower() not in {"content-encoding", "content-length"}
    }


class Person:
    def __init__(self, served, secret):
        self.served, self.secret = served, secret
        self.connection = Connection(ADDRESS, token=secret, transport=Through(served.client), sleep=lambda _: None)
        self.learning = YardClient(self.connection).learning

    @property
    def principal(self):
        return self.served.run(self.served.yard.access.by_token, self.secret).principal

    def ask(self, method, path, **given):
        headers = {"Authorization": f"Bearer {self.secret}", **given.pop("headers", {})}
        return self.served.client.request(method, f"/api/v1/{path}", headers=headers, **given)

    def agent(self, agent_id="support"):
        fields = AgentFields(name=agent_id.title(), role="answers customers", goal="")
        create = self.served.yard.registry.agents.create
        self.served.run(create, self.principal, fields, agent_id=agent_id, why=Why())

    def settled(self, feedback_id):
        """What came of feedback, once something has."""
        deadline = time.monotonic() + 60
        while (one := self.learning.show(feedback_id, transcript=True))["stage"] in UNDER_WAY:
            assert time.monotonic() < deadline, one
        return one

    def at_rest(self):
        """Wait until nothing is under way: what is left of one test would be answered from the script of the next."""
        deadline = time.monotonic() + 60
        while UNDER_WAY & (stages := self.learning.counts()).keys():
            assert time.monotonic() < deadline, stages

    def waiting(self, feedback_id):
        """Feedback, once it waits for a model."""
        while (one := self.learning.show(feedback_id))["stage"] != "waiting_for_model":
            assert one["stage"] in UNDER_WAY
        return one

    def learn(self, *script, **more):
        self.served.model.script = in_turn(*script)
        given = {"content": "환불은 3일이 아니라 5일 걸립니다", **more}
        return self.settled(self.learning.give(**given)["id"])


@pytest.fixture(scope="module")
def model():
    with ScriptedModel(in_turn(DONE)) as model:
        yield model


@contextmanager
def serving(settings):
    made = {}

    @asynccontextmanager
    async def opening():
        async with open_yard(settings) as yard:
            app = Application(yard, FolderLibrary(settings.home), settings, person=None)
            made.update(yard=yard)
            yield app
            app.close()

    with TestClient(Opened(opening), base_url=ADDRESS, raise_server_exceptions=False) as client:
        yield client, made["yard"]


@pytest.fixture(scope="module")
def served(yard_settings, model):
    settings = yard_settings.model_copy(update={**model.settings, "sandbox_backend": "unsafe"})
    with serving(settings) as (client, yard):
        yield Served(client, yard, model)


@pytest.fixture
def tenant(served):
    return served.tenant()


@pytest.fixture
def boss(served, tenant):
    boss = served.person("boss", tenant, admin=True)
    boss.agent()
    yield boss
    boss.at_rest()


@pytest.fixture
def writer(served, tenant, boss):
    """Somebody whose lessons are only proposed."""
    return served.person("writer", tenant, scope=Scope.WRITE)


@pytest.fixture
def foreigner(served):
    return served.person("foreigner", served.tenant(), admin=True)


def test_feedback_changes_what_an_agent_recalls_until_it_is_undone(boss):
    assert boss.learning.recall("환불 기간", agent="support") == []
    one = boss.learn(*REMEMBER, task="refund", events=[{"said": "3일"}])
    assert (one["stage"], one["task"], one["events"]) == ("committed", "refund", [{"said": "3일"}])
    [lesson] = one["lessons"]
    assert (lesson["agent_id"], lesson["target"], lesson["state"]) == ("support", "MEMORY", "committed")
    assert lesson["effects"][0]["kind"] == "memory"
    assert (one["matching"]["spent"]["calls"], lesson["spent"]["calls"]) == (1, 4)
    assert one["matching"]["transcript"] == lesson["transcript"][:3]
    assert any(entry.get("name") == "commit_to_memory" for entry in lesson["transcript"])
    assert boss.ask("GET", lesson["transcript_url"].removeprefix("/api/v1/")).json()["data"] == lesson["transcript"]
    [memory] = boss.learning.recall("환불 기간", agent="support")
    assert memory["text"] == "환불은 5일 걸린다."
    assert boss.learning.undo(lesson["id"], reason="wrong")["state"] == "undone"
    assert boss.learning.recall("환불 기간", agent="support") == []


def test_the_same_feedback_is_taken_in_once(boss):
    boss.served.model.script = in_turn(Reply(text='{"matches": []}'))
    first = boss.ask("POST", "feedback", json={"content": "Say please.", "event_id": "e-1"})
    again = boss.ask("POST", "feedback", json={"content": "Say please.", "event_id": "e-1"})
    other = boss.ask("POST", "feedback", json={"content": "Say thanks.", "event_id": "e-1"})
    assert [answer.status_code for answer in (first, again, other)] == [201, 200, 409]
    assert first.json()["data"]["id"] == again.json()["data"]["id"]
    many = boss.learning.give_many([{"content": "Say please.", "event_id": "e-1"}, {"content": "Be brief."}])
    assert [each["created"] for each in many] == [False, True]
    assert sum(boss.learning.counts().values()) == 2


def test_agents_are_named_by_their_ids_or_described(boss):
    boss.served.model.script = in_turn(Reply(text='{"matches": []}'))
    agents = ["support", {"id": "billing", "role": "bills"}]
    given = boss.ask("POST", "feedback", json={"content": "Be brief.", "agents": agents})
    assert (given.status_code, given.json()["data"]["agents"]) == (201, [{"id": "support"}, agents[1]])


def test_what_is_wrong_with_one_of_several_is_said_of_that_one(boss):
    wrong = boss.ask("POST", "feedback", json=[{"content": "Be brief."}, {"task": "an e-mail"}])
    assert wrong.status_code == 422
    assert "1.content: Field required" in wrong.json()["error"]["message"]
    assert boss.learning.counts() == {}


def test_feedback_is_listed_by_where_it_stands(boss):
    one = boss.learn(Reply(text='{"matches": []}'))
    assert one["stage"] == "no_commit"
    two = boss.learn(*REMEMBER, content="Refunds take five days.")
    assert [each["id"] for each in boss.learning.feedback()] == [two["id"], one["id"]]
    assert [each["id"] for each in boss.learning.feedback(stage="no_commit")] == [one["id"]]
    assert boss.learning.counts() == {"no_commit": 1, "committed": 1}
    page = boss.ask("GET", "feedback", params={"limit": 1}).json()
    assert (page["total"], page["next_cursor"]) == (2, "1")


def test_what_came_to_nothing_can_be_tried_again(boss):
    one = boss.learn(Reply(text='{"matches": []}'))
    boss.served.model.script = in_turn(*REMEMBER)
    assert boss.learning.retry(one["id"])["stage"] == "queued"
    assert boss.settled(one["id"])["stage"] == "committed"
    with pytest.raises(ConflictError, match="nothing to try again"):
        boss.learning.retry(one["id"])


def test_a_file_is_taken_in_line_by_line(boss):
    boss.served.model.script = in_turn(Reply(text='{"matches": []}'))
    data = "피드백,agent,time\n환불은 5일,support,2026-01-31\n,,\nLate,support,yesterday\n".replace(
        "피드백", "feedback"
    )
    told = boss.learning.import_file("said.csv", data.encode("utf-16"), dry_run=True)
    assert (told["read"], told["created"], boss.learning.counts()) == (1, 0, {})
    done = boss.learning.import_file("said.csv", data.encode("utf-16"))
    assert (done["read"], done["created"], done["known"]) == (1, 1, 0)
    assert [problem["line"] for problem in done["problems"]] == [4]
    again = boss.learning.import_file("said.csv", data.encode())
    assert (again["created"], again["known"]) == (0, 1)


def test_a_proposed_row_changes_the_next_answer_when_it_is_approved(boss, writer):
    script = [matched(), call("commit_to_dmn_rule", operation="CREATE", name="할인", table=TABLE), DONE]
    one = writer.learn(*script, content="골드 등급은 10% 할인")
    assert one["stage"] == "proposed"
    proposal = boss.learning.proposal(one["lessons"][0]["proposal_id"])
    assert [warning["kind"] for warning in proposal["warnings"]] == ["overlap"]
    assert '+r1: "gold" -> 10' in proposal["diff"]
    with pytest.raises(NotAllowedError):
        writer.learning.approve(proposal["id"])
    [rule] = boss.learning.approve(proposal["id"], reason="right")["effects"]
    assert boss.learning.evaluate_rule(rule["id"], {"tier": "gold"})["outputs"] == {"percent": 10}
    with pytest.raises(ConflictError, match="approved already"):
        boss.learning.approve(proposal["id"])
    narrower = {**TABLE, "rules": [{"when": ['"gold"'], "then": [15]}]}
    script[1] = call("commit_to_dmn_rule", operation="UPDATE", rule_id=rule["id"], table=narrower, merge_mode="REFINE")
    two = writer.learn(*script, content="이제 15%")
    [waiting] = writer.learning.proposals()
    assert waiting["lesson_id"] == two["lessons"][0]["id"]
    diff = writer.learning.proposal(waiting["id"])["diff"].splitlines()
    assert [line for line in diff if line.startswith(("+r", "-r"))] == ['-r1: "gold" -> 10', '+r1: "gold" -> 15']
    assert boss.learning.reject(waiting["id"], reason="no")["state"] == "rejected"
    assert writer.learning.show(two["id"])["stage"] == "rejected"
    assert boss.learning.evaluate_rule(rule["id"], {"tier": "gold"})["outputs"] == {"percent": 10}


def test_what_other_tenants_learn_is_not_there(boss, writer, foreigner):
    rule = boss.learning.create_rule({"name": "Discount", "table": TABLE})["rule"]["id"]
    proposed = writer.learning.remember("Be brief.")["proposal_id"]
    one = boss.learn(*REMEMBER)
    lesson = one["lessons"][0]
    asked = [
        *(
            ("GET", f"feedback/{one['id']}"),
            ("POST", f"feedback/{one['id']}/retry"),
            ("GET", f"lessons/{lesson['id']}"),
        ),
        *(("POST", f"lessons/{lesson['id']}/undo"), ("GET", f"lessons/{lesson['id']}/transcript")),
        *(("GET", f"memories/{lesson['effects'][0]['id']}"), ("DELETE", f"memories/{lesson['effects'][0]['id']}")),
        *(("GET", f"rules/{rule}"), ("GET", f"rules/{rule}.dmn"), ("DELETE", f"rules/{rule}")),
        *(("GET", f"rules/{rule}/cases"), ("GET", f"rules/{rule}/versions")),
        *(("GET", f"proposals/{proposed}"), ("POST", f"proposals/{proposed}/approve")),
    ]
    for method, path in asked:
        answer = foreigner.ask(method, path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found"), path
    for listed in (foreigner.learning.feedback(), foreigner.learning.proposals(state=None)):
        assert list(listed) == []
    assert (foreigner.learning.rules(), foreigner.learning.recall("환불")) == ([], [])


def test_memories_are_kept_changed_and_forgotten_by_hand(boss, writer):
    assert boss.ask("POST", "namespaces", json={"name": "desk"}).is_success
    assert boss.ask("PUT", "namespaces/desk/members/writer", json={"role": "editor"}).is_success
    made = boss.learning.remember("Refunds take three days.", agent="support", namespace="desk", reason="policy")
    memory = made["memory"]
    assert (made["state"], memory["agent_id"], memory["provenance"]["by"]) == ("committed", "support", "boss")
    changed = boss.learning.change_memory(memory["id"], {"text": "Refunds take five days.", "locked": True})
    assert (changed["memory"]["text"], changed["memory"]["locked"]) == ("Refunds take five days.", True)
    assert boss.learning.memory(memory["id"])["superseded_by"] == changed["memory"]["id"]
    assert [each["id"] for each in boss.learning.memories()] == [changed["memory"]["id"]]
    assert len(list(boss.learning.memories(everything=True))) == 2
    assert boss.learning.judge(changed["memory"]["id"], "helpful")["helpful"] == 1
    proposed = writer.learning.forget(changed["memory"]["id"])
    assert (proposed["state"], proposed["memory"]) == ("proposed", None)
    assert "-Refunds take five days." in boss.learning.proposal(proposed["proposal_id"])["diff"]
    stale = boss.ask("DELETE", f"memories/{changed['memory']['id']}", headers={"If-Match": '"2020-01-01"'})
    assert stale.status_code == 409
    assert boss.learning.forget(changed["memory"]["id"])["effects"][0]["operation"] == "DELETE"
    with pytest.raises(NotFoundError):
        boss.learning.memory(changed["memory"]["id"])
    with pytest.raises(NotFoundError, match="no agent"):
        boss.learning.remember("Be brief.", agent="nobody")


def test_an_agent_recalls_its_own_memories_and_those_of_all(boss):
    boss.agent("orders")
    boss.learning.remember("Support greets first.", agent="support")
    boss.learning.remember("Orders are counted twice.", agent="orders")
    boss.learning.remember("Everyone is polite.")
    recalled = boss.learning.recall("", agent="support")
    assert {each["text"] for each in recalled} == {"Support greets first.", "Everyone is polite."}


def test_rules_are_made_and_changed_by_hand_with_the_same_checks(boss):
    made = boss.learning.create_rule({"name": "Discount", "table": TABLE})
    rule = made["rule"]
    assert (rule["version"], [each["kind"] for each in made["warnings"]]) == ("1.0.0", ["overlap"])
    with pytest.raises(InputError, match="different things"):
        boss.learning.create_rule({"name": "Unsure", "table": {**TABLE, "hit_policy": "U"}})
    same = boss.learning.change_rule(rule["id"], {"table": TABLE})
    assert (same["effects"], same["rule"]["version"]) == ([], "1.0.0")
    refined = {**TABLE, "rules": [{"when": ['"silver"'], "then": [5]}]}
    changed = boss.learning.change_rule(rule["id"], {"table": refined, "merge_mode": "REFINE"}, base="1.0.0")
    assert changed["rule"]["version"] == "1.0.1"
    assert boss.learning.evaluate_rule(rule["id"], {"tier": "silver"})["outputs"] == {"percent": 5}
    with pytest.raises(ConflictError, match=r"1\.0\.1"):
        boss.learning.change_rule(rule["id"], {"name": "Late"}, base="1.0.0")
    tag = boss.ask("GET", f"rules/{rule['id']}").headers["etag"]
    assert boss.ask("PUT", f"rules/{rule['id']}", json={"name": "Rebate"}, headers={"If-Match": tag}).status_code == 200
    assert [each["version"] for each in boss.learning.rule_versions(rule["id"])] == ["1.0.2", "1.0.1", "1.0.0"]
    assert boss.learning.change_rule(rule["id"], {"locked": True})["rule"]["locked"]
    assert boss.learning.delete_rule(rule["id"])["state"] == "committed"
    assert boss.learning.rules() == []


def test_past_cases_are_tried_before_a_rule_changes_and_pinned_ones_hold(boss):
    rule = boss.learning.create_rule({"name": "Discount", "table": TABLE})["rule"]["id"]
    boss.learning.evaluate_rule(rule, {"tier": "gold"})
    boss.learning.evaluate_rule(rule, {"tier": "none"}, keep=False)
    [case] = boss.learning.rule_cases(rule)
    assert (case["inputs"], case["outputs"], case["times"]) == ({"tier": "gold"}, {"percent": 10}, 1)
    other = {**TABLE, "rules": [{"when": ["-"], "then": [1]}]}
    told = boss.learning.check_rule({"table": other, "rule_id": rule})
    assert [(each["before"], each["after"]) for each in told["cases"]] == [({"percent": 10}, {"percent": 1})]
    assert (told["removed"], told["decides"]) == (["r2"], True)
    assert boss.learning.pin_case(rule, case["id"])["pinned"]
    with pytest.raises(InputError, match="pinned"):
        boss.learning.change_rule(rule, {"table": other})
    boss.learning.pin_case(rule, case["id"], pinned=False)
    changed = boss.learning.change_rule(rule, {"table": other})
    assert [warning["kind"] for warning in changed["warnings"]] == ["case"]
    with pytest.raises(NotFoundError, match="case"):
        boss.learning.pin_case(rule, "case-000000000000")


def test_rules_come_and_go_as_dmn(boss):
    rule = boss.learning.create_rule({"name": "할인", "table": TABLE})["rule"]
    xml = boss.learning.rule_dmn(rule["id"])
    assert "DMN/20191111" in xml
    copy = boss.learning.create_rule(xml)["rule"]
    assert (copy["name"], copy["digest"]) == ("할인", rule["digest"])
    assert boss.learning.check_rule(xml)["decides"]
    again = boss.learning.change_rule(copy["id"], xml.replace(">10<", ">12<"), base="1.0.0", reason="from outside")
    assert again["rule"]["version"] == "2.0.0"
    assert boss.learning.evaluate_rule(copy["id"], {"tier": "gold"})["outputs"] == {"percent": 12}
    with pytest.raises(InputError, match="DTD"):
        boss.learning.check_rule('<!DOCTYPE x [<!ENTITY a "b">]><definitions/>')
    refused = boss.ask("POST", "rules", content=b"name=x", headers={"Content-Type": "text/csv"})
    assert refused.status_code == 422


@pytest.fixture
def without_model(new_home, tmp_path):
    """A yard whose feedback waits."""
    with serving(Settings(home=new_home(tmp_path / "home"), sandbox_backend="unsafe")) as (client, yard):
        yield Served(client, yard, None)


def test_a_connected_agent_learns_by_the_same_tools(without_model):
    boss = without_model.person("boss", "acme", admin=True)
    boss.agent()
    given = boss.waiting(boss.learning.give("환불은 5일")["id"])
    agent, other = TakingClient(boss.connection, "claude-1"), TakingClient(boss.connection, "codex-1")
    taken = agent.take_next()
    assert (taken["feedback"]["id"], taken["feedback"]["taken_by"]) == (given["id"], "claude-1")
    assert [each["id"] for each in taken["agents"]] == ["support"]
    assert other.take_next() is None
    with pytest.raises(ConflictError, match="not in the hands"):
        other.give(given["id"], {"support": "환불은 5일 걸린다"})
    with pytest.raises(InputError, match="nobody"):
        agent.give(given["id"], {"nobody": "환불은 5일 걸린다"})
    [lesson] = agent.give(given["id"], {"support": "환불은 5일 걸린다"})
    assert "found" in agent.call(lesson["id"], "search_similar_knowledge", {"query": "환불"})
    for wrong in ({"operation": "ERASE"}, {"operation": "CREATE", "text": [5]}, {"memory": "x"}):
        assert json.loads(agent.call(lesson["id"], "commit_to_memory", wrong))["status"] == "refused"
    unwritten = agent.call(lesson["id"], "commit_to_skill", {"operation": "CREATE"})
    assert "skill_artifact is missing" in unwritten
    with pytest.raises(NotFoundError, match="no tool"):
        agent.call(lesson["id"], "delete_everything", {})
    done = agent.call(lesson["id"], "commit_to_memory", {"operation": "CREATE", "text": "환불은 5일 걸린다."})
    assert json.loads(done)["status"] == "committed"
    assert "already" in agent.call(lesson["id"], "commit_to_memory", {"operation": "CREATE", "text": "Again."})
    assert agent.finish(given["id"])["stage"] == "committed"
    [memory] = boss.learning.recall("환불", agent="support")
    assert memory["text"] == "환불은 5일 걸린다."
    transcript = boss.learning.show(given["id"], transcript=True)["lessons"][0]["transcript"]
    assert [entry["name"] for entry in transcript if entry["role"] == "tool"][-1] == "commit_to_memory"
    assert agent.take_next() is None


def test_what_a_connected_agent_gives_back_or_finds_nothing_in_is_not_lost(without_model):
    boss = without_model.person("boss", "acme", admin=True)
    boss.agent()
    given = boss.waiting(boss.learning.give("Thanks!")["id"])
    agent = TakingClient(boss.connection, "claude-1")
    agent.take_next()
    assert agent.give_back(given["id"])["taken_by"] is None
    boss.waiting(given["id"])
    agent.take_next()
    with pytest.raises(UsageError, match="whom this feedback is for"):
        agent.finish(given["id"])
    assert agent.give(given["id"], {}) == []
    assert boss.learning.show(given["id"])["stage"] == "no_commit"
