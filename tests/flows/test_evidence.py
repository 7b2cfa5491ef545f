"""What agents did is the next evidence: session logs are read in and learned from, outcomes reach health."""

import json
import os
from datetime import timedelta

import pytest

from skillyard import Skillyard
from skillyard.cli.main import main
from skillyard.clock import utc_now
from skillyard.library.disk import read_folder

KEY = "sk-live-0123456789abcdefghij"
SKILL = "---\nname: {name}\ndescription: Does one thing well.\n---\n\n# Do it\n"


class Person:
    """Someone whose agents keep logs."""

    def __init__(self, folder, capsys):
        self.folder = folder
        self.capsys = capsys

    def skill(self, name):
        file = self.put(f".claude/skills/{name}/SKILL.md", SKILL.format(name=name))
        os.utime(file, (1_000_000_000, 1_000_000_000))

    def put(self, path, text):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def claude(self, session, hours_ago, *commands):
        """A session in which a skill is called and commands are run."""
        entries, at = [], utc_now() - timedelta(hours=hours_ago)

        def add(kind, block, **more):
            moment = (at + timedelta(seconds=len(entries))).isoformat()
            message = {"role": kind, "content": [block]}
            entry = {"type": kind, "sessionId": session, "cwd": "/work/app", "timestamp": moment, "message": message}
            entries.append({**entry, **more})

        add("assistant", {"type": "tool_use", "id": f"{session}-s", "name": "Skill", "input": {"skill": "orders"}})
        for number, (command, output) in enumerate(commands):
            own_id = f"toolu_{session}_{number}"
            add("assistant", {"type": "tool_use", "id": own_id, "name": "Bash", "input": {"command": command}})
            done = {"type": "tool_result", "tool_use_id": own_id, "content": output, "is_error": False}
            add("user", done, toolUseResult={"stdout": output, "stderr": "", "interrupted": False})
        lines = [json.dumps(entry) for entry in entries]
        self.put(
            f".claude/projects/-work-app/{session}.jsonl", "\n".join([*lines[:1], '"tool_use" broken', *lines[1:], ""])
        )

    def told(self, *words, code=0):
        assert main([*words, "--json"]) == code
        return json.loads(self.capsys.readouterr().out)

    def client(self):
        return Skillyard(home=self.folder / "yard")


@pytest.fixture
def person(tmp_path, monkeypatch, capsys):
    for name in [name for name in os.environ if name.startswith(("SKILLYARD_", "CLAUDE_", "CODEX_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SKILLYARD_HOME", str(tmp_path / "yard"))
    monkeypatch.chdir(tmp_path)
    made = Person(tmp_path, capsys)
    for name in ("orders", "idle"):
        made.skill(name)
    for number, who in enumerate(("Ada", "Grace"), start=1):
        made.claude(
            f"aaaa-{number}",
            number,
            (f"printf '%s;%s\\n' '{who}' {number} > next.csv", ""),
            ("cat next.csv", f"{who};{number}\n"),
            (f"curl -H 'Authorization: Bearer {KEY}' https://shop.example.org/", f"welcome, {KEY}"),
        )
    return made


def test_session_logs_tell_which_skills_were_used_and_which_never(person):
    found = person.told("skill", "usage")
    assert [(one["id"], one["uses"], one["agents"], one["changed_since"]) for one in found["used"]] == [
        ("orders", 2, ["claude"], False)
    ]
    assert [one["id"] for one in found["never_used"]] == ["idle"]
    assert (found["logs"]["files"], found["logs"]["broken"]) == (2, 2)
    assert not (person.folder / "yard/registry.sqlite").exists()
    assert person.told("skill", "usage", "--agent", "codex")["used"] == []
    assert person.told("skill", "usage", "--agent", "cursor", code=2)["error"]["code"] == "usage"


def test_session_logs_become_executions_once_and_what_was_done_twice_becomes_a_candidate(person):
    plan = person.told("release", "import", "--dry-run")
    assert (plan["executions"]["found"], plan["executions"]["recorded"]) == (6, 0)
    assert sorted(one["session"] for one in plan["sessions"]) == ["aaaa-1", "aaaa-2"]
    assert person.told("release", "executions")["total"] == 0
    assert person.told("release", "import", code=2)["error"]["hint"] == "Add -y to answer yes."
    with person.client() as client:
        client.send(read_folder(person.folder / ".claude/skills/orders").bundle, "orders", version="1.0.0")
    first = person.told("release", "import", "-y")
    assert (first["executions"]["recorded"], first["uses"]["recorded"]) == (6, 2)
    again = person.told("release", "import", "-y")
    assert (again["executions"]["recorded"], again["executions"]["repeated"]) == (0, 6)
    assert (again["uses"]["recorded"], again["uses"]["repeated"]) == (0, 2)
    with person.client() as client:
        assert [(day["event"], day["version"], day["agent"]) for day in client.usage_of("orders")][:1] == [
            ("activated", "1.0.0", "claude")
        ]
    found = person.told("release", "mine")
    (candidate,) = found["found"]
    assert found["examined"] == 6
    assert len(candidate["source_execution_ids"]) >= 4
    assert [
        path for path in (person.folder / "yard").rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()
    ] == []


def test_what_was_read_in_can_be_taken_away_and_what_was_learned_from_it_stays(person):
    person.told("release", "import", "-y")
    person.told("release", "mine")
    (candidate,) = person.told("release", "candidates")["items"]
    plan = person.told("release", "forget", "--dry-run")
    assert (plan["total"], plan["executions"]) == (2, 6)
    assert {one["session"] for one in plan["sessions"]} == {"aaaa-1", "aaaa-2"}
    assert person.told("release", "forget", code=2)["error"]["hint"] == "Add -y to answer yes."
    assert person.told("release", "forget", "--agent", "codex", code=3)["error"]["code"] == "not_found"
    with person.client() as client:
        misspelt = client.connection.ask("DELETE", "/v1/skills/executions/import", params={"sesion": "x"})
    assert misspelt.status_code == 422
    one = plan["sessions"][0]["sandbox_id"]
    assert person.told("release", "forget", "--session", one, "-y") == {"executions": 3, "sessions": 1}
    assert person.told("release", "forget", "--before", "2026-01-01", code=3)["error"]["code"] == "not_found"
    assert person.told("release", "forget", "-y") == {"executions": 3, "sessions": 1}
    assert person.told("release", "executions")["total"] == 0
    assert person.told("release", "show", candidate["id"])["id"] == candidate["id"]
    assert person.told("release", "mine")["found"] == []
    assert person.told("release", "import", "-y")["executions"]["recorded"] == 6


def test_an_outcome_of_a_skill_that_was_loaded_reaches_the_health_of_its_release(person):
    person.told("release", "import", "-y")
    with person.client() as client:
        execution = client.releases.executions(limit=1)["entries"][0]["id"]
        steps = {"kind": "code", "variables": {}, "steps": [{"type": "shell", "cmd": "echo hi"}]}
        payload = client.releases.payloads.create(steps, kind="code")
        made = client.releases.create_candidate(
            skill_key="say-hi", source_execution_ids=[execution], payload_ref=payload["payload_ref"]
        )
        client.releases.evaluate(made["id"], passed=True)
        release = client.releases.promote(made["id"], stage="canary")
        skill = client.skill("say-hi")
        load = {
            "skill": skill["id"],
            "event": "loaded",
            "session": "s1",
            "version": client.versions("say-hi")[0]["version"],
        }
        assert client.report_usage([load])["recorded"] == 1
        told = client.report_outcome("say-hi", succeeded=False, session="s1", agent="helper", detail="It did not.")
        assert (told["release_id"], told["remark"]) == (release["id"], "")
        lone = client.report_outcome("say-hi", succeeded=True, session="s1")
        assert lone["run_id"] is None
        health = client.releases.health(release["id"])
        assert (health["samples"], health["told"], health["success_rate"]) == (1, 1, 0.0)
        (run,) = client.releases.runs(release_id=release["id"])["items"]
        assert (run["id"], run["origin"], run["verdict"], run["session"]) == (told["run_id"], "told", "TASK_FAIL", "s1")
        (totals,) = [one for one in client.connection.get("/usage") if one["id"] == skill["id"]]
        assert (totals["succeeded"], totals["failed"]) == (1, 1)
