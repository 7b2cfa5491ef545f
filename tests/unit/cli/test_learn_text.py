from skillyard.cli.learn_text import next_of


def release(stage: str) -> dict[str, object]:
    effect = {"kind": "release", "id": "sr-1", "label": f"boss/refunds ({stage})"}
    lesson = {"id": "les-1", "state": "committed", "effects": [effect]}
    return {"id": "fb-1", "stage": "committed", "lessons": [lesson]}


def test_only_a_canary_is_said_to_be_tried_by_some():
    assert next_of(release("canary"))[0].startswith("Some sandboxes try it first. See how it performs")
    assert next_of(release("stable"))[0] == "See how it performs: skillyard release health sr-1"


def test_what_was_undone_can_be_learned_again():
    lesson = {"id": "les-1", "state": "undone", "effects": []}
    assert next_of({"id": "fb-1", "stage": "undone", "lessons": [lesson]}) == [
        "Learn it again: skillyard learn retry fb-1"
    ]
