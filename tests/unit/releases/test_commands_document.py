import pytest

from skillyard.errors import InputError
from skillyard.releases.commands_document import commands_document
from skillyard.releases.payload_json import parse_payload


def test_a_list_is_a_row_of_commands():
    assert [step.text for step in parse_payload(commands_document(["open about:blank", "snapshot -i"])).steps] == [
        "open about:blank",
        "snapshot -i",
    ]


def test_what_says_that_it_can_be_replayed_is_taken_at_its_word():
    said = {"kind": "code", "steps": [{"type": "shell", "cmd": "true"}]}
    assert commands_document(said) is said


def test_variables_that_no_command_names_and_fields_that_nobody_knows_are_left_out():
    given = {
        "commands": ['fill "#a" "{{city}}"', 'fill "#b" "{{pin}}"'],
        "variables": {
            "city": {"type": "place", "default_value": "Edinburgh", "arg_position": 1},
            "pin": {"secret": True, "default_value": "1234"},
            "unused": {"type": "string"},
        },
        "score": 0.9,
    }
    payload = parse_payload(commands_document(given))
    assert {name: (each.default, each.secret) for name, each in payload.variables.items()} == {
        "city": ("Edinburgh", False),
        "pin": (None, True),
    }


@pytest.mark.parametrize("document", [{}, {"a": 1}, {"commands": []}, {"commands": [1]}, [], "text", None, 7])
def test_what_holds_no_commands_is_refused(document):
    with pytest.raises(InputError):
        parse_payload(commands_document(document))
