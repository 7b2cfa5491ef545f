"""Reading logs into a yard: without secrets, in pieces, once."""

import os
from datetime import UTC, datetime

import pytest

from skillyard.agents.session_logs import importing
from skillyard.agents.session_logs.importing import SessionImport
from skillyard.agents.session_logs.session_files import log_files
from skillyard.agents.session_logs.skill_usage import SkillTally
from skillyard.errors import NotFoundError
from skillyard.library.disk import read_folder
from skillyard.library.folder import FolderLibrary
from skillyard.sandbox.executions import MAX_CODE, MAX_KEPT

KEY = "sk-live-0123456789abcdefghij"


class Yard:
    """Takes what is sent."""

    def __init__(self):
        self.sent = []
        self.events = []
        self.known = set()
        self.digests = {}
        self.releases = self

    def import_executions(self, session, runs):
        new = {run["id"] for run in runs} - self.known
        self.known |= new
        self.sent.append((session, runs))
        return {"recorded": len(new), "repeated": len(runs) - len(new)}

    def skill(self, name):
        if name not in self.digests:
            raise NotFoundError(f"no {name}")
        return {"id": f"id-of-{name}"}

    def versions(self, skill_id):
        digest = self.digests[skill_id.removeprefix("id-of-")]
        return [{"version": "1.0.0", "digest": "sha256:old"}, {"version": "2.0.0", "digest": digest}]

    def report_usage(self, events):
        self.events += events
        return {"recorded": len(events), "repeated": 0, "refused": []}


@pytest.fixture
def work(home):
    def read(yard, **more):
        entries = FolderLibrary(home.path / ".claude/skills").catalog().entries
        one = SessionImport(SkillTally(entries, home=home.path), yard=yard, **more)
        for log in log_files(home.machine):
            one.read(log)
        one.report_uses()
        return one.done

    return read


def test_runs_are_sent_by_session_without_their_secrets(home, work, claude, codex):
    session = claude().ran(f"curl -H 'Authorization: Bearer {KEY}' https://x.example/", f"sent {KEY}")
    home.write(session.ran(f"echo {KEY}", f"{KEY}\n"), "a")
    home.write(claude("aaaa-2").ran("ls", "x\ud800"), "b")
    yard = Yard()
    done = work(yard)
    (first, runs), (second, others) = sorted(yard.sent, key=lambda sent: sent[0]["session"])
    assert first == {"agent": "claude", "session": "aaaa-1", "folder": "/work/app"}
    assert second["session"] == "aaaa-2"
    assert KEY not in str(yard.sent)
    assert runs[1]["code"] == "echo {{secret:api_key}}"
    assert others[0]["output"].encode()
    assert (done.runs, done.recorded, done.repeated, len(done.sessions)) == (3, 3, 0, 2)
    assert (work(yard).recorded, len(yard.known)) == (0, 3)


def test_a_rehearsal_counts_and_sends_nothing(home, work, claude):
    home.write(claude().ran("ls").call("s", "Skill", skill="pdf"))
    done = work(None)
    (session,) = done.sessions.values()
    assert (session.runs, session.skills, session.folder) == (1, {"pdf"}, "/work/app")
    assert (done.runs, done.recorded, done.files) == (1, 0, 1)


def test_what_is_sent_at_once_is_bounded(home, work, claude, monkeypatch):
    monkeypatch.setattr(importing, "_RUNS", 2)
    session = claude()
    for number in range(5):
        session.ran(f"echo {number}")
    home.write(session)
    yard = Yard()
    assert work(yard).recorded == 5
    assert [len(runs) for _, runs in yard.sent] == [2, 2, 1]
    monkeypatch.setattr(importing, "_CHARACTERS", 1)
    yard = Yard()
    work(yard)
    assert [len(runs) for _, runs in yard.sent] == [1] * 5


def test_outputs_are_shortened_and_commands_that_are_too_long_are_counted(home, work, claude):
    home.write(claude().ran("x" * (MAX_CODE + 5)).ran("long", "y" * (2 * MAX_KEPT)))
    yard = Yard()
    done = work(yard)
    assert (done.runs, done.too_large, done.recorded) == (2, 1, 1)
    assert len(yard.sent[0][1][0]["output"]) < MAX_KEPT + 200


def test_only_what_was_run_since_then_and_in_that_folder_is_taken(home, work, claude):
    home.write(claude("a", "/work/app").ran("one"), "a")
    home.write(claude("b", "/work/app/deep").ran("two"), "b")
    home.write(claude("c", "/work/application").ran("three"), "c")
    yard = Yard()
    work(yard, folder="/work/app/")
    assert sorted(run["code"] for _, runs in yard.sent for run in runs) == ["one", "two"]
    assert work(Yard(), since=datetime(2027, 1, 1, tzinfo=UTC)).runs == 0


def test_uses_of_skills_that_the_yard_has_are_counted_with_the_version_on_disk(home, work, claude, codex):
    pdf, own = home.skill("pdf"), home.skill("own")
    for file in (pdf, own):
        os.utime(file, (1_000_000_000, 1_000_000_000))
    session = claude().call("s1", "Skill", skill="pdf").call("s2", "Skill", skill="own")
    home.write(session.call("s3", "mcp__skillyard__load_skill", name="pdf"))
    home.write(codex().call("c1", "exec_command", cmd=f"cat {pdf}"))
    yard = Yard()
    yard.digests = {"pdf": read_folder(pdf.parent).bundle.digest, "own": "sha256:another"}
    done = work(yard)
    told = [
        (event["skill"], event["event"], event["version"], event["agent"], event["session"]) for event in yard.events
    ]
    assert told == [
        ("id-of-pdf", "activated", "2.0.0", "claude", "aaaa-1"),
        ("id-of-pdf", "loaded", "2.0.0", "codex", "cdx-1"),
    ]
    assert (done.uses_recorded, done.uses_elsewhere) == (2, 1)
    again = Yard()
    again.digests = yard.digests
    work(again)
    assert [event["id"] for event in again.events] == [event["id"] for event in yard.events]


def test_a_use_from_before_the_skill_was_changed_has_no_version(home, work, claude):
    pdf = home.skill("pdf")  # just now
    home.write(claude().call("s1", "Skill", skill="pdf"))
    yard = Yard()
    yard.digests = {"pdf": read_folder(pdf.parent).bundle.digest}
    work(yard)
    assert [event["version"] for event in yard.events] == [""]


def test_sessions_beyond_many_are_counted_together(home, work, claude, monkeypatch):
    monkeypatch.setattr(importing, "_SESSIONS", 2)
    for number in range(5):
        home.write(claude(f"s{number}").ran("ls"), f"f{number}")
    done = work(None)
    assert (len(done.sessions), done.runs) == (3, 5)
