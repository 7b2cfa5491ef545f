from datetime import timedelta

import pytest

from skillyard.clock import utc_now
from skillyard.history.entries import Why
from skillyard.identity.principals import Role
from skillyard.identity.standing import ACTING
from skillyard.registry.skills import Visibility
from skillyard.server.api.events import _number

WHY = Why()


def show(served, owner, skill, visibility):
    return served.run(served.yard.registry.workbench.show, owner.principal, skill.id, visibility, why=WHY)


def label(event):
    return event[2]["subject"]["label"]


def test_events_come_in_the_order_of_the_changes_and_carry_their_numbers(served):
    ana = served.token("ana")
    stream = served.stream(ana)
    assert stream.status == 200
    assert stream.headers["content-type"].startswith("text/event-stream")
    assert stream.headers["cache-control"] == "no-store"
    start = served.number()
    for name in ("one", "two", "three"):
        served.skill(ana, name)
    events = [stream.event() for _ in range(3)]
    assert [event[0] for event in events] == [start + 1, start + 2, start + 3]
    assert [label(event) for event in events] == ["ana/one", "ana/two", "ana/three"]
    assert {(event[1], event[2]["action"]) for event in events} == {("change", "skill.created")}


def test_a_reader_sees_only_what_is_theirs_to_know(served):
    ana, bob = served.token("ana"), served.token("bob")
    stream = served.stream(bob)
    served.skill(ana, "secret")
    served.skill(ana, "notes", visibility=Visibility.PUBLIC)
    assert label(stream.event()) == "ana/notes"


def test_a_stream_goes_on_where_the_last_one_ended(served):
    ana = served.token("ana")
    start = served.number()
    for name in ("one", "two", "three"):
        served.skill(ana, name)
    assert label(served.stream(ana, last_event_id=str(start + 1)).event()) == "ana/two"
    assert label(served.stream(ana, f"since={start + 2}").event()) == "ana/three"
    assert label(served.stream(ana, f"since={start + 2}", last_event_id=str(start)).event()) == "ana/one"


def test_a_position_from_the_future_is_now(served):
    ana = served.token("ana")
    stream = served.stream(ana, "since=999999")
    served.skill(ana, "one")
    assert label(stream.event()) == "ana/one"


def test_who_loses_sight_of_a_skill_is_told_that_it_is_gone_and_nothing_else(served):
    ana, bob = served.token("ana"), served.token("bob")
    skill = served.skill(ana, "notes", visibility=Visibility.PUBLIC)
    theirs, mine = served.stream(bob), served.stream(ana)
    show(served, ana, skill, Visibility.PRIVATE)
    number = served.number()
    gone = {"number": number, "type": "removed", "subject": {"kind": "skill", "id": skill.id}}
    assert theirs.event() == (number, "removed", gone)
    assert mine.event()[2]["action"] == "skill.visibility"


def test_rights_that_are_given_or_taken_count_at_once(served):
    ana, bob = served.token("ana"), served.token("bob")
    ana.post("namespaces", json={"name": "crew"})
    stream = served.stream(bob)
    served.skill(ana, "before", namespace="crew")
    served.skill(ana, "shown", visibility=Visibility.PUBLIC)
    assert label(stream.event()) == "ana/shown"  # by now it has passed over what came before
    ana.put("namespaces/crew/members/bob", json={"role": Role.VIEWER})
    served.skill(ana, "within", namespace="crew")
    events = [stream.event(), stream.event()]
    assert [event[2].get("action") for event in events] == ["member.set", "skill.created"]
    ana.delete("namespaces/crew/members/bob")
    number = served.number()
    assert stream.event()[:2] == (number, "removed")
    served.skill(ana, "after", namespace="crew")
    served.skill(ana, "public", visibility=Visibility.PUBLIC)
    assert label(stream.event()) == "ana/public"


def test_the_stream_of_an_ended_token_ends(served):
    ana, other = served.token("ana"), served.token("ana")
    stream = served.stream(ana)
    other.delete(f"tokens/{ana.id}")
    assert stream.event() is None


def test_the_stream_of_a_disabled_person_ends(served):
    ana, adam = served.token("ana"), served.token("adam", admin=True)
    stream = served.stream(ana)
    adam.post("people/ana/disable")
    assert stream.event() is None


def test_silence_is_broken_by_heartbeats_that_move_the_position_on(served):
    served.app.streams._heartbeat = 0.01
    ana = served.token("ana")
    stream = served.stream(ana)
    assert stream.block() == f": alive\nid: {served.number()}\n\n"
    assert stream.block() == f": alive\nid: {served.number()}\n\n"


def test_a_reader_who_leaves_is_forgotten(served):
    ana = served.token("ana")
    stream = served.stream(ana)
    assert sum(served.app.streams._open.values()) == 1
    stream.close()
    assert not served.app.streams._open
    assert stream._task.done()


def test_a_person_has_only_so_many_streams(served):
    served.app.streams._most = 2
    ana, second, bob = served.token("ana"), served.token("ana"), served.token("bob")
    first = served.stream(ana)
    served.stream(second)
    refused = served.stream(ana)
    assert refused.status == 429
    assert refused.headers["retry-after"] == "30"
    assert served.stream(bob).status == 200
    first.close()
    assert served.stream(ana).status == 200


def test_all_streams_end_when_the_server_stops(served):
    ana = served.token("ana")
    stream = served.stream(ana)

    async def stop():
        served.app.close()

    served.run(stop)
    assert stream.event() is None


@pytest.mark.parametrize(("given", "number"), [("7", 7), ("", None), ("x", None), ("-1", None), ("²", None)])
def test_a_position_that_is_no_number_is_none(given, number):
    assert _number(given) == number


def test_a_position_beyond_all_numbers_is_taken_as_the_largest():
    assert _number("9" * 5000) == 2**63 - 1


def test_the_stream_of_a_token_that_expires_ends_with_the_next_heartbeat(served, monkeypatch):
    served.app.streams._heartbeat = 0.01
    ana = served.token("ana", expires_in=timedelta(hours=1))
    stream = served.stream(ana)
    assert stream.block().startswith(": alive")
    later = utc_now() + timedelta(hours=2)
    monkeypatch.setattr(served.yard.access, "_clock", lambda: later)
    assert stream.event() is None


def test_a_page_that_was_read_with_rights_that_changed_meanwhile_is_read_again(served):
    ana, bob = served.token("ana"), served.token("bob")
    ana.post("namespaces", json={"name": "crew"})
    ana.put("namespaces/crew/members/bob", json={"role": Role.VIEWER})
    chronicle, namespaces, owner = served.yard.registry.chronicle, served.yard.namespaces, ana.principal
    read = chronicle.feed

    async def slow_feed(principal, *, since):
        """While the page is read, bob is taken out of the team, which then makes a skill."""
        chronicle.feed = read
        ACTING.set(None)  # it is not bob who does this
        await namespaces.remove_member(owner, "crew", "bob", why=WHY)
        fields = {"name": "secret", "description": "Is not for bob."}
        await served.yard.registry.workbench.create_written(owner, fields, "", namespace="crew", why=WHY)
        return await read(principal, since=since)

    chronicle.feed = slow_feed
    start = served.number()
    stream = served.stream(bob)
    assert stream.event()[:2] == (start + 1, "removed")
    served.skill(ana, "public", visibility=Visibility.PUBLIC)
    assert label(stream.event()) == "ana/public"
