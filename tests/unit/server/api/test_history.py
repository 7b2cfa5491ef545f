from datetime import timedelta

import pytest

from skillyard.clock import utc_now
from skillyard.errors import ConflictError
from skillyard.history.entries import Why
from skillyard.identity.principals import Scope
from skillyard.registry.refused import RefusedContent
from skillyard.registry.skills import Visibility
from skillyard.skill.bundle import BundleFile

WHY = Why(reason="clearer", feedback="I did not understand it")


def problem(answer):
    return answer.status_code, answer.json()["error"]["code"]


def edit(served, owner, skill, body):
    return served.run(served.yard.registry.workbench.edit, owner.principal, skill.id, fields={}, body=body, why=WHY)


def show(served, owner, skill, visibility):
    return served.run(served.yard.registry.workbench.show, owner.principal, skill.id, visibility, why=WHY)


def actions(caller, query=""):
    return [entry["action"] for entry in caller.data(f"history{query}")]


def test_an_entry_tells_who_what_why_and_how_it_was_before(served):
    ana = served.token("ana")
    skill = served.skill(ana, "notes")
    edited = edit(served, ana, skill, "# Better\n")
    entry = ana.data("history?limit=1")[0]
    assert entry["actor"]["name"] == "ana"
    assert entry["action"] == "skill.updated"
    assert entry["outcome"] == "done"
    assert entry["subject"] == {"kind": "skill", "id": skill.id, "label": "ana/notes"}
    assert (entry["reason"], entry["feedback"]) == ("clearer", "I did not understand it")
    assert (entry["digest_before"], entry["digest_after"]) == (skill.digest, edited.digest)
    assert entry["before"]["name"] == entry["after"]["name"] == "notes"
    assert entry["undoable"] is True
    assert (entry["undoes"], entry["undone_by"], entry["error"]) == (None, None, None)


def test_one_entry_shows_what_changed_in_the_files(served):
    ana = served.token("ana")
    skill = served.skill(ana, "notes")
    edit(served, ana, skill, "# Better\n")
    file = BundleFile("data.bin", b"\0\1")
    served.run(served.yard.registry.workbench.put_file, ana.principal, skill.id, file, why=WHY)
    number = served.number()
    added = ana.data(f"history/{number}")["diff"]["files"]
    assert [(one["path"], one["change"], one["binary"]) for one in added] == [("data.bin", "added", True)]
    [changed] = ana.data(f"history/{number - 1}")["diff"]["files"]
    assert "-# notes" in changed["diff"]
    assert "+# Better" in changed["diff"]
    made = ana.data(f"history/{number - 2}")["diff"]
    assert [(one["path"], one["change"]) for one in made["files"]] == [("SKILL.md", "added")]
    show(served, ana, skill, Visibility.PUBLIC)
    assert ana.data(f"history/{number + 1}")["diff"] is None


def test_bundles_too_large_to_compare_are_not_fetched(served, monkeypatch):
    ana = served.token("ana")
    skill = served.skill(ana, "notes")
    edit(served, ana, skill, "# Better\n")
    monkeypatch.setattr("skillyard.registry.chronicle.MAX_DIFF_BYTES", 10)
    assert ana.data(f"history/{served.number()}")["diff"] is None


def test_a_refused_attempt_is_told_with_its_content_and_cannot_be_undone(served):
    ana = served.token("ana")
    served.skill(ana, "notes")
    with pytest.raises(ConflictError):
        served.skill(ana, "notes")
    entry = ana.data(f"history/{served.number()}")
    assert entry["outcome"] == "refused"
    assert entry["error"]["code"] == "conflict"
    assert entry["undoable"] is False
    assert [one["path"] for one in entry["diff"]["files"]] == ["SKILL.md"]
    assert entry["has_content"] is True
    assert problem(ana.post(f"history/{entry['number']}/undo")) == (409, "conflict")


def test_a_refused_attempt_whose_content_is_no_longer_kept_says_so(served):
    ana = served.token("ana")
    skill = served.skill(ana, "notes")
    stale = {"if-match": f'"sha256:{"0" * 64}"'}
    assert problem(ana.put(f"skills/{skill.id}", json={"content": "# Late"}, headers=stale)) == (409, "conflict")
    much_later = RefusedContent(served.yard.database, keep=timedelta(0), clock=lambda: utc_now() + timedelta(days=1))
    assert served.run(much_later.sweep) == 1
    entry = ana.data(f"history/{served.number()}")
    assert (entry["outcome"], entry["has_content"], entry["diff"]) == ("refused", False, None)


def test_undo_and_undo_of_the_undo(served):
    ana = served.token("ana")
    skill = served.skill(ana, "notes")
    edited = edit(served, ana, skill, "# Better\n")
    number = served.number()
    answer = ana.post(f"history/{number}/undo?reason=worse")
    back = answer.json()["data"]
    assert (back["undoes"], back["reason"], back["digest_after"]) == (number, "worse", skill.digest)
    undone = ana.data(f"history/{number}")
    assert (undone["undone_by"], undone["undoable"]) == (back["number"], False)
    assert problem(ana.post(f"history/{number}/undo")) == (409, "conflict")
    again = ana.post(f"history/{back['number']}/undo").json()["data"]
    assert again["digest_after"] == edited.digest


def test_undo_needs_the_rights_of_the_change(served):
    ana, bob = served.token("ana"), served.token("bob")
    reader = served.token("ana", scope=Scope.READ)
    skill = served.skill(ana, "notes", visibility=Visibility.PUBLIC)
    edit(served, ana, skill, "# Better\n")
    number = served.number()
    assert problem(bob.post(f"history/{number}/undo")) == (403, "not_allowed")
    assert problem(reader.post(f"history/{number}/undo")) == (403, "not_allowed")
    assert ana.post(f"history/{number}/undo").status_code == 200


def test_undo_of_members_and_policy_over_the_api(served):
    ana = served.token("ana")
    served.token("bob")
    ana.post("namespaces", json={"name": "crew"})
    ana.put("namespaces/crew/members/bob", json={"role": "editor"})
    ana.post(f"history/{served.number()}/undo").raise_for_status()
    assert [one["name"] for one in ana.data("namespaces/crew/members")] == ["ana"]
    ana.put("namespaces/crew/policy", json={"review": True})
    ana.post(f"history/{served.number()}/undo").raise_for_status()
    assert ana.data("namespaces/crew")["policy"]["review"] is False


def test_a_stranger_learns_nothing_of_what_is_private(served):
    ana, bob = served.token("ana"), served.token("bob")
    served.skill(ana, "secret")
    number = served.number()
    assert "secret" not in bob.get("history").text
    assert problem(bob.get(f"history/{number}")) == problem(bob.get("history/9999")) == (404, "not_found")
    assert problem(bob.post(f"history/{number}/undo")) == (404, "not_found")


def test_what_was_public_is_hidden_with_the_skill_and_comes_back_with_it(served):
    ana, bob = served.token("ana"), served.token("bob")
    since = served.number()
    skill = served.skill(ana, "notes", visibility=Visibility.PUBLIC)
    edit(served, ana, skill, "# Better\n")
    number = served.number()
    assert actions(bob, "?actor=ana") == ["skill.updated", "skill.created"]
    show(served, ana, skill, Visibility.PRIVATE)
    assert actions(bob, "?actor=ana") == []
    assert problem(bob.get(f"history/{number}")) == (404, "not_found")
    assert [one["type"] for one in bob.data(f"changes?since={since}")["changes"]] == ["removed"]
    show(served, ana, skill, Visibility.PUBLIC)
    assert actions(bob, "?actor=ana") == ["skill.visibility", "skill.updated", "skill.created"]
    show(served, ana, skill, Visibility.PRIVATE)
    served.run(served.yard.registry.workbench.delete, ana.principal, skill.id, why=WHY)
    assert actions(bob, "?actor=ana") == []
    assert actions(ana)[0] == "skill.deleted"


def test_entries_are_paged_and_filtered(served):
    ana, bob = served.token("ana"), served.token("bob")
    skills = [served.skill(ana, f"s-{number}", visibility=Visibility.PUBLIC) for number in range(3)]
    served.skill(bob, "other", visibility=Visibility.PUBLIC)
    first = ana.get("history?limit=2").json()
    assert [entry["subject"]["label"] for entry in first["data"]] == ["bob/other", "ana/s-2"]
    second = ana.get(f"history?limit=2&cursor={first['next_cursor']}&actor=ana").json()
    assert second == ana.get(f"history?limit=2&before={first['next_cursor']}&actor=ana").json()
    assert [entry["subject"]["label"] for entry in second["data"]] == ["ana/s-1", "ana/s-0"]
    for query in (f"skill={skills[1].id}", "skill=ana/s-1", f"subject_kind=skill&subject_id={skills[1].id}"):
        answer = bob.get(f"history?{query}").json()
        assert [entry["subject"]["label"] for entry in answer["data"]] == ["ana/s-1"]
        assert answer["next_cursor"] is None
    assert problem(ana.get("history?skill=none")) == (404, "not_found")
    assert problem(ana.get("history?subject_kind=skill")) == (422, "invalid_input")
    for number in ("0", "x", str(2**63)):
        assert problem(ana.get(f"history/{number}")) == (422, "invalid_input")


def test_the_audit_log_has_everything_for_administrators_alone(served):
    ana, adam = served.token("ana"), served.token("adam", admin=True)
    served.skill(ana, "secret")
    number = served.number()
    entries = adam.data("audit?limit=200")
    assert [entry["number"] for entry in entries] == list(range(number, 0, -1))
    assert "ana/secret" not in {entry["subject"]["label"] for entry in adam.data("history?limit=200")}
    assert problem(ana.get("audit")) == (403, "not_allowed")


def test_changes_say_how_far_they_looked(served):
    ana, bob = served.token("ana"), served.token("bob")
    since = served.number()
    served.skill(ana, "secret")
    served.skill(ana, "notes", visibility=Visibility.PUBLIC)
    page = bob.data(f"changes?since={since}&limit=1")
    assert page == {"changes": [], "next": since + 1}
    page = bob.data(f"changes?since={page['next']}")
    assert [one["subject"]["label"] for one in page["changes"]] == ["ana/notes"]
    assert page["next"] == served.number()
    assert bob.data(f"changes?since={page['next']}") == {"changes": [], "next": page["next"]}
    assert problem(bob.get("changes?since=-1")) == (422, "invalid_input")
