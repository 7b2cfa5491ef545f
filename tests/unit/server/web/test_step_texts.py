from skillyard.server.web.step_texts import texts_of_steps, texts_of_variables
from skillyard.server.yard.skills_insight_schemas import StepDifference, VariableDifference


def step(old, new):
    return StepDifference(change="changed", old=None, new=None, old_step=old, new_step=new)


def test_a_step_is_what_is_done_and_below_it_under_which_conditions():
    python = {
        "type": "python",
        "code": "a = 1\nprint(a)",
        "postcondition": [{"kind": "exit_code", "value": "0"}, {"kind": "file_contains", "value": "out\nhi"}],
    }
    click = {"type": "browser", "cmd": "click @e1", "element": {"role": "button", "name": "Send\nit"}, "when": "note"}
    old, new = texts_of_steps([step(python, None), step(None, click)])
    assert old == ["python: a = 1", "    print(a)", "    postcondition: exit_code 0; file_contains out hi"]
    assert new == ["browser: click @e1", "    element: role button, name Send it", "    when: note"]


def test_a_variable_is_one_line_and_never_more():
    old, new = texts_of_variables(
        [
            VariableDifference(name="note", change="added", old=None, new={"type": "string", "default": "a\nb"}),
            VariableDifference(
                name="password",
                change="removed",
                old={"type": "string", "secret": True, "description": "Of the shop"},
                new=None,
            ),
        ]
    )
    assert old == ["password: secret  # Of the shop"]
    assert new == ["note: string = a b"]
