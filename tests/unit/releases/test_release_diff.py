from skillyard.releases.payload_json import parse_payload
from skillyard.releases.release_diff import diff_payloads


def payload(*commands, **variables):
    steps = [{"type": "shell", "cmd": command} for command in commands]
    return parse_payload({"kind": "code", "variables": variables, "steps": steps})


def changes(differences):
    return [(each.change, each.old and each.old["cmd"], each.new and each.new["cmd"]) for each in differences]


def test_steps_that_stay_are_the_same_wherever_others_come_and_go():
    diff = diff_payloads(payload("a", "b", "c"), payload("a", "x", "b", "d"))
    assert changes(diff.steps) == [
        ("same", "a", "a"),
        ("added", None, "x"),
        ("same", "b", "b"),
        ("changed", "c", "d"),
    ]
    assert diff.changed


def test_variables_are_compared_by_name():
    old = payload("echo {{a}} {{b}}", a={"type": "string"}, b={"type": "string"})
    new = payload("echo {{b}} {{c}}", b={"type": "integer"}, c={"type": "string"})
    told = [(each.name, each.change) for each in diff_payloads(old, new).variables]
    assert told == [("a", "removed"), ("b", "changed"), ("c", "added")]


def test_nothing_differs_from_itself_and_all_from_nothing():
    same = payload("a", "b")
    assert not diff_payloads(same, same).changed
    assert not diff_payloads(None, None).changed
    assert [each.change for each in diff_payloads(same, None).steps] == ["removed", "removed"]
