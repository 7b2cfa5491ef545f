"""Uses held against the skills that are on disk."""

import os
from datetime import UTC, datetime, timedelta

import pytest

from skillyard.agents.session_logs import skill_usage
from skillyard.agents.session_logs.log_events import How, SkillUse
from skillyard.agents.session_logs.skill_usage import SkillTally
from skillyard.library.folder import FolderLibrary

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def use(name, own_id="t1", how=How.CALLED, **more):
    return SkillUse(**{"id": own_id, "name": name, "how": how, "session": "s1", "at": NOON, **more})


@pytest.fixture
def tally(home):
    for name in ("pdf", "xlsx", "idle"):
        home.skill(name)
    return SkillTally(FolderLibrary(home.path / ".claude/skills").catalog().entries, home=home.path)


def told(tally):
    return [(used.id, len(used.uses), bool(used.location)) for used in tally.used()]


def test_skills_are_found_by_name_by_the_name_in_a_plugin_and_by_path(home, tally):
    tally.add("claude", use("pdf", "1"))
    tally.add("claude", use("docs:PDF", "2", session="s2"))
    tally.add("codex", use("x", "3", How.READ, path="~/.claude/skills/pdf/SKILL.md", at=NOON + timedelta(hours=1)))
    (used,) = tally.used()
    assert (used.id, used.agents, used.sessions, len(used.uses)) == ("pdf", ["claude", "codex"], 3, 3)
    assert used.how == {"called": 2, "read": 1}
    assert used.last_used_at == NOON + timedelta(hours=1)
    assert [entry.id for entry in tally.never_used()] == ["idle", "xlsx"]


def test_a_use_that_is_told_twice_counts_once_and_tells_its_place(home, tally):
    other = home.skill("pdf", folder="project/.claude/skills")
    tally.add("claude", use("pdf"))
    tally.add("claude", use("pdf"))
    tally.add("codex", use("pdf"))  # its own
    assert told(tally) == [("pdf", 2, True)]
    tally.add("claude", use("new", "t9"))
    tally.add("claude", use("new", "t9", path=str(other)))
    assert told(tally) == [("pdf", 2, True), ("new", 1, True)]
    assert len(tally.used()) == 2


def test_a_skill_that_is_nowhere_is_told_without_a_place_and_a_command_is_no_skill(tally):
    tally.add("claude", use("gone", "1"))
    tally.add("claude", use("lost", "2", How.READ, path="/no/such/lost/SKILL.md"))
    tally.add("claude", use("clear", "3", How.TYPED))
    tally.add("claude", use("xlsx", "4", How.TYPED))
    tally.add("claude", use("odd", "5", How.READ, path="/x/\0/SKILL.md"))
    assert sorted(told(tally)) == [("gone", 1, False), ("lost", 1, False), ("odd", 1, False), ("xlsx", 1, True)]


def test_a_use_that_was_none_is_taken_back(tally):
    tally.add("claude", use("made-up", "1"))
    tally.add("claude", use("pdf", "2"))
    for own_id in ("1", "9"):
        tally.add("claude", use("made-up", own_id, How.MISSED))
    assert told(tally) == [("pdf", 1, True)]


def test_a_skill_elsewhere_of_the_same_name_is_another(home, tally):
    other = home.skill("pdf", folder="project/.claude/skills")
    tally.add("claude", use("pdf", "1", How.READ, path=str(other)))
    (used,) = tally.used()
    assert (used.entry, used.location) == (None, str(other))
    assert "pdf" in [entry.id for entry in tally.never_used()]


def test_a_use_counts_for_the_skill_at_its_place_and_not_for_another_of_that_name(home, tally):
    other = home.skill("pdf", folder="project/.claude/skills")
    for how, own_id in [(How.CALLED, "1"), (How.TYPED, "2")]:
        tally.add("claude", use("pdf", own_id, how))
        tally.add("claude", use("pdf", own_id, how, path=str(other)))
    tally.add("claude", use("unheard-of", "3", How.TYPED))
    tally.add("claude", use("unheard-of", "3", How.TYPED, path=str(home.skill("unheard-of", folder="plugin/skills"))))
    assert [(used.location, len(used.uses)) for used in tally.used()] == [
        (str(other), 2),
        (str(home.path / "plugin/skills/unheard-of/SKILL.md"), 1),
    ]


def test_what_is_on_disk_is_told_with_its_digest_version_and_time(home, tally):
    file = home.path / ".claude/skills/pdf/SKILL.md"
    (file.parent / "notes.md").write_text("x")
    os.utime(file, (1_000_000_000, 1_000_000_000))
    os.utime(file.parent / "notes.md", (1_000_000_005, 1_000_000_005))
    tally.add("claude", use("pdf"))
    there = tally.used()[0].on_disk()
    assert there.digest.startswith("sha256:")
    assert (there.version, there.changed_at.timestamp()) == ("1.2.0", 1_000_000_005)
    file.unlink()
    assert tally.used()[0].on_disk() is None


def test_there_is_an_end_to_what_is_told_apart(tally, monkeypatch):
    monkeypatch.setattr(skill_usage, "MAX_USES", 3)
    for number in range(5):
        tally.add("claude", use("pdf", f"t{number}"))
    assert (told(tally), tally.left_out) == ([("pdf", 3, True)], 2)
