from typing import Annotated

import pytest
from pydantic import Field

from skillyard.agents.tool import as_text, told, tool_of
from skillyard.errors import InputError, NotFoundError


def repeat(
    word: Annotated[str, "What to say."],
    times: Annotated[int, Field(description="How often.", ge=1, le=3)] = 2,
    notes: dict[str, str] | None = None,
) -> list[str]:
    """Say a word some times.

    Slowly.
    """
    if word == "nothing":
        raise NotFoundError("There is no such word.", hint="Try another.")
    return [word] * times + list(notes or {})


TOOL = tool_of(repeat, title="Repeat", destructive=True)


def test_a_function_becomes_a_tool_with_its_docstring_and_its_arguments():
    assert (TOOL.name, TOOL.title, TOOL.description) == ("repeat", "Repeat", "Say a word some times.\n\nSlowly.")
    assert TOOL.destructive
    assert TOOL.parameters["required"] == ["word"]
    assert TOOL.parameters["additionalProperties"] is False
    assert TOOL.parameters["properties"]["word"] == {"description": "What to say.", "type": "string"}
    assert TOOL.parameters["properties"]["times"] == {
        "default": 2,
        "description": "How often.",
        "minimum": 1,
        "maximum": 3,
        "type": "integer",
    }


def test_a_tool_without_arguments_has_a_schema_too():
    assert tool_of(lambda: "x", name="x", description="X").parameters == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_an_argument_may_have_any_name():
    def order(copy: str, model_name: str, schema: int = 1, _x: int = 2) -> str:
        """Order."""
        return f"{copy} {model_name} {schema} {_x}"

    tool = tool_of(order)
    assert list(tool.parameters["properties"]) == ["copy", "model_name", "schema", "_x"]
    assert tool.call(copy="a", model_name="b", _x=3) == "a b 1 3"
    assert "It takes: copy, model_name, schema (optional), _x (optional)." in tool.text_or_error({})[0]


def test_a_call_takes_what_a_model_sends_and_answers_with_a_value_or_a_text():
    assert TOOL.call(word="a", times="3") == ["a", "a", "a"]
    assert TOOL.text({"word": "é", "times": 1}) == '["é"]'
    assert TOOL.text_or_error({"word": "a", "notes": {"b": "c"}}) == ('["a", "a", "b"]', True)
    assert as_text("plain") == "plain"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "word is missing"),
        ({"word": "a", "loud": True}, "there is no argument 'loud'"),
        ({"word": 7}, "word is 7: input should be a valid string"),
        ({"word": "a", "times": 9}, "times is 9: input should be less than or equal to 3"),
        ({"word": "a", "notes": {"b": 1}}, "notes.b is 1: "),
    ],
)
def test_wrong_arguments_are_told_with_those_that_there_are(arguments, said):
    with pytest.raises(InputError) as refused:
        TOOL.call(**arguments)
    assert refused.value.message.startswith(f"repeat cannot be called like this: {said}")
    assert refused.value.hint == "It takes: word, times (optional), notes (optional)."
    text, went_well = TOOL.text_or_error(arguments)
    assert not went_well
    assert text == told(refused.value)


def test_what_is_null_counts_as_not_given():
    assert TOOL.call(word="a", times=None) == ["a", "a"]
    assert "word is missing" in TOOL.text_or_error({"word": None})[0]


def test_an_error_about_arguments_is_short_however_many_are_wrong():
    wrong = {f"x{number}\n": "y" * 10_000 for number in range(1_000)}
    text, _ = TOOL.text_or_error({"word": "z" * 10_000, "times": "z" * 10_000, **wrong})
    assert len(text) < 1_000
    assert "\n" not in text
    assert "and 996 more" in text


def test_an_error_of_the_function_is_told_with_its_fix():
    assert TOOL.text_or_error({"word": "nothing"}) == ("There is no such word. Try another.", False)
