import pytest

from skillyard.agents import yard_source
from skillyard.agents.source import require
from skillyard.errors import NotFoundError, UnavailableError
from skillyard.remote.client import YardClient
from skillyard.remote.connection import Connection
from skillyard.usage.events import UsageKind


@pytest.fixture
def own(yard_shelf):
    return yard_shelf


def test_what_is_loaded_is_the_version_that_is_shipped_and_not_the_working_copy(own, yard):
    own.put("tool", body="Published.", files={"scripts/a.py": "1"})
    published = require(own.source, "tool")
    own.put("tool", body="Draft.", publish=False)
    found = require(own.source, "tool")
    assert found.version == published.version != ""
    assert "Published." in own.source.text(found)
    assert "Published." in own.source.bundle(found).get("SKILL.md").data.decode()
    yard.release("ann/tool")
    found = require(own.source, "tool")
    assert found.version != published.version
    assert "Draft." in own.source.text(found)


def test_where_nothing_was_published_the_working_copy_is_loaded(own):
    own.put("draft-only", publish=False)
    found = require(own.source, "draft-only")
    assert (found.version, found.digest) == ("", own.source.bundle(found).digest)
    assert own.source.text(found).startswith("---\n")
    assert [file.path for file in own.source.files(found)] == ["SKILL.md"]


def test_a_bundle_is_fetched_once_for_each_state(own, yard, monkeypatch):
    own.put("tool", files={"references/A.md": "a"})
    found = require(own.source, "tool")
    first = own.source.bundle(found)
    monkeypatch.setattr(yard, "archive", None)
    assert own.source.bundle(found) is first
    assert own.source.file(found, "references/A.md") == b"a"


def test_the_bundles_that_are_kept_have_a_bound(own, monkeypatch):
    monkeypatch.setattr(yard_source, "MAX_KEPT_BYTES", 300)
    for name in ("one", "two", "three"):
        own.put(name, body="x" * 100)
    for name in ("one", "two", "three"):
        own.source.bundle(require(own.source, name))
    kept = own.source._kept
    assert kept.get(require(own.source, "one")) is None
    assert kept.get(require(own.source, "three")) is not None


def test_uses_are_counted_by_the_yard_and_a_session_is_shown_a_skill_once(own, yard):
    own.put("tool")
    found = require(own.source, "tool")
    for _ in range(2):
        own.source.record(UsageKind.LOADED, found, session="s", agent="helper\n")
        own.source.record_all(UsageKind.SHOWN, [found], session="s")
        own.source.record_all(UsageKind.SHOWN, ["ann/tool", "ann/gone"], session="s")
    own.source.close()
    days = {(day["event"], day["version"], day["agent"]): day["count"] for day in yard.usage_of("ann/tool")}
    assert days == {("loaded", found.version, "helper\\n"): 2, ("shown", found.version, ""): 1, ("shown", "", ""): 1}


def test_a_use_that_cannot_be_counted_stops_nothing(own):
    own.put("tool")
    found = require(own.source, "tool")
    own.remove("tool")
    own.source.record(UsageKind.LOADED, found)
    own.source.close()


def test_a_yard_that_does_not_answer_is_an_error_and_not_a_missing_skill():
    with Connection("http://127.0.0.1:9", sleep=lambda _: None) as connection:
        source = yard_source.YardSource(YardClient(connection))
        with pytest.raises(UnavailableError):
            source.find("tool")


def test_a_skill_that_goes_away_after_it_was_found_is_not_found(own):
    own.put("tool")
    found = require(own.source, "tool")
    own.remove("tool")
    with pytest.raises(NotFoundError):
        own.source.text(found)


def test_only_what_changed_is_asked_for_again(own, yard, monkeypatch):
    for name in ("one", "two"):
        own.put(name)
    before = dict(own.source.snapshot())
    own.put("one", "Otherwise.")
    monkeypatch.setattr(yard, "skills", None)
    after = own.source.snapshot()
    assert [key for key in after if after[key] != before[key]] == ["ann/one"]
    own.remove("two")
    assert "ann/two" not in own.source.snapshot()


def test_what_is_no_skill_changes_no_stamp(own, yard):
    own.put("tool")
    stamp = own.source.stamp()
    yard.learning.remember("The office is closed on Mondays.")
    assert own.source.stamp() == stamp
