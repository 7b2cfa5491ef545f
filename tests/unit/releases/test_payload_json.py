"""Payloads on the way in: the shapes that clients send are understood, and what is wrong with one is said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InputError, LimitError
from skillyard.releases.payload_json import MAX_STEPS, is_replayable, parse_payload, payload_document
from skillyard.releases.payloads import CheckKind, PayloadKind, StepType, VariableType
from skillyard.releases.placeholders import literal

RANCHER = {
    "kind": "hybrid_sequence",
    "variables": {
        "username": {"type": "string", "description": "Rancher username"},
        "password": {"type": "string", "description": "Rancher password", "secret": True},
    },
    "steps": [
        {"type": "browser", "cmd": "open https://rancher.example/"},
        {"type": "browser", "cmd": 'fill @e1 "{{username}}"'},
        {"type": "python", "code": "print('Login step completed')"},
    ],
}


def check(kind, value):
    return {"kind": kind, "value": value}


def shell(cmd, **more):
    return {"kind": "code", "steps": [{"type": "shell", "cmd": cmd, **more}]}


def test_a_hybrid_sequence_is_read_as_it_stands():
    payload = parse_payload(RANCHER)
    assert (payload.kind, payload.skill_type) == (PayloadKind.HYBRID, "hybrid")
    assert [(step.type.value, step.text) for step in payload.steps] == [
        ("browser", "open https://rancher.example/"),
        ("browser", 'fill @e1 "{{username}}"'),
        ("python", "print('Login step completed')"),
    ]
    assert payload.variables["password"].secret
    assert parse_payload(payload_document(payload)) == payload


@pytest.mark.parametrize(
    "document",
    [
        ["open about:blank", "snapshot -i"],
        {"commands": ["open about:blank", "snapshot -i"]},
        {"steps": [{"cmd": "open about:blank"}, {"cmd": "snapshot -i"}], "recorded_by": "a client's own"},
        {"kind": "browser", "steps": ["open about:blank", {"type": "browser", "cmd": "snapshot -i"}]},
    ],
)
def test_browser_commands_are_understood_in_every_shape_that_clients_send(document):
    payload = parse_payload(document, kind="browser")
    assert [(step.type, step.text) for step in payload.steps] == [
        (StepType.BROWSER, "open about:blank"),
        (StepType.BROWSER, "snapshot -i"),
    ]


def test_code_needs_no_types():
    payload = parse_payload({"steps": [{"cmd": "ls"}, {"code": "print(1)"}]}, kind="code")
    assert [step.type for step in payload.steps] == [StepType.SHELL, StepType.PYTHON]
    assert parse_payload({"code": "print(1)"}, kind="code").steps[0].text == "print(1)"


def test_everything_survives_being_written_and_read():
    document = {
        **RANCHER,
        "steps": [
            {
                "type": "browser",
                "cmd": 'fill @e1 "{{ username }}"',
                "element": {"role": "textbox", "name": "User {{username}}", "password": True, "within": "Login"},
                "postcondition": check("text_visible", "Hi {{username}}"),
            },
            {
                "type": "shell",
                "cmd": "false",
                "cwd": "a",
                "timeout": 5,
                "postcondition": check("exit_code", 1),
            },
        ],
        "preconditions": [check("file_exists", "in.csv")],
        "postconditions": [
            {"kind": "file_contains", "path": "out.txt", "text": "a\nb"},
            {"kind": "element_present", "role": "heading", "name": "Done"},
        ],
        "network": {"allow": ["https://rancher.example"]},
    }
    payload = parse_payload(document)
    assert payload.steps[0].text == 'fill @e1 "{{username}}"'
    assert [check.value for check in payload.postconditions] == ["out.txt\na\nb", "heading\nDone"]
    assert payload.network == ("https://rancher.example:443",)
    assert parse_payload(payload_document(payload)) == payload
    assert payload_document(parse_payload(payload_document(payload))) == payload_document(payload)


def test_defaults_are_of_their_type():
    document = shell("echo {{n}} {{on}} {{day}}") | {
        "variables": {
            "n": {"type": "integer", "default": 3},
            "on": {"type": "boolean", "default": True},
            "day": {"type": "date", "default": "2026-02-28"},
        }
    }
    variables = parse_payload(document).variables
    assert {name: variable.default for name, variable in variables.items()} == {
        "n": "3",
        "on": "true",
        "day": "2026-02-28",
    }
    assert variables["n"].type is VariableType.INTEGER
    document["variables"]["day"]["default"] = "2026-02-30"
    with pytest.raises(InputError, match=r"variables\.day\.default: '2026-02-30' is not a day"):
        parse_payload(document)


@pytest.mark.parametrize(
    ("document", "field", "said"),
    [
        ("steps", "", "is not an object"),
        ({"steps": [{"type": "shell", "cmd": "ls"}]}, "kind", "no kind of payload"),
        ({"kind": "generic", "steps": []}, "kind", "no kind of payload"),
        ({"kind": "code", "steps": []}, "steps", "is empty"),
        ({"kind": "code"}, "steps", "is not one way"),
        ({"kind": "code", "steps": [{}]}, "steps[0]", "is not one of cmd and code"),
        ({"kind": "code", "steps": [{"cmd": "a", "code": "b"}]}, "steps[0]", "is not one of cmd and code"),
        ({"kind": "code", "steps": [{"cmd": 5}]}, "steps[0].cmd", "is not a text"),
        ({"kind": "code", "steps": [{"cmd": "  "}]}, "steps[0].cmd", "is blank"),
        ({"kind": "code", "steps": [{"cmd": "a\0b"}]}, "steps[0].cmd", "zero byte"),
        ({"kind": "code", "steps": [{"type": "browser", "cmd": "open x"}]}, "steps[0].type", "no step of this kind"),
        ({"kind": "hybrid_sequence", "steps": [{"type": "perl", "cmd": "x"}]}, "steps[0].type", "no type of step"),
        ({"kind": "hybrid_sequence", "steps": [{"cmd": "ls"}]}, "steps[0].type", "is missing"),
        ({"kind": "browser", "steps": ["dance @e1"]}, "steps[0].cmd", "there is no step 'dance'"),
        (shell("ls", postconditon={}), "steps[0].postconditon", "is not known"),
        (shell("ls", timeout=0), "steps[0].timeout", "is no time"),
        (shell("ls", timeout=True), "steps[0].timeout", "is no time"),
        (shell("ls", cwd="../.."), "steps[0].cwd", "leads out"),
        (shell("ls", postcondition=check("text_visible", "x")), "steps[0].postcondition.kind", "a page"),
        (shell("ls", postcondition=check("exit_code", "x")), "steps[0].postcondition.value", "number"),
        (shell("ls", postcondition=check("feels_right", "x")), "steps[0].postcondition.kind", "no kind"),
        (
            shell("ls", postcondition=[check("output_matches", "(")]),
            "steps[0].postcondition[0].value",
            "regular",
        ),
        (
            shell("ls", postcondition=check("file_contains", "x")),
            "steps[0].postcondition.value",
            "two things",
        ),
        (shell("echo {{who}}"), "steps[0]", "names no variable"),
        (shell("echo `date {{x}}`") | {"variables": {"x": {}}}, "steps[0].cmd", "between backticks"),
        ({"kind": "code", "cmd": "ls", "variables": {"2x": {}}}, "variables", "is no name"),
        ({"kind": "code", "cmd": "ls", "variables": {"x": {"type": "int"}}}, "variables.x.type", "is no type"),
        ({"kind": "code", "cmd": "ls", "variables": {"x": {"secret": "yes"}}}, "variables.x.secret", "neither true"),
        ({"kind": "code", "cmd": "ls", "variables": ["x"]}, "variables", "is not an object"),
        ({"kind": "code", "cmd": "ls", "network": ["ftp://x"]}, "network.allow[0]", "is not of the form"),
        (shell("ls") | {"postconditions": [check("text_visible", "x")]}, "postconditions", "about a page"),
        (shell("ls") | {"preconditions": [check("exit_code", 0)]}, "preconditions[0].kind", "one step"),
    ],
)
def test_what_is_wrong_is_said_with_its_field(document, field, said):
    with pytest.raises(InputError) as caught:
        parse_payload(document)
    assert said in caught.value.message
    assert caught.value.details["field"] == field
    assert caught.value.hint


def test_a_secret_has_no_default_and_it_is_not_repeated():
    with pytest.raises(InputError, match="a secret has no default") as caught:
        parse_payload({"kind": "code", "cmd": "ls", "variables": {"p": {"secret": True, "default": "hunter2"}}})
    assert "hunter2" not in repr(caught.value.as_dict())


def test_the_kind_is_said_once_or_alike():
    assert parse_payload({"kind": "code", "cmd": "ls"}, kind="code").kind is PayloadKind.CODE
    with pytest.raises(InputError, match="is not what stands beside"):
        parse_payload({"kind": "code", "cmd": "ls"}, kind="browser")


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "browser", "commands": ["reload"] * (MAX_STEPS + 1)},
        {"kind": "code", "cmd": "ls", "variables": {f"v{number}": {} for number in range(65)}},
        {"kind": "code", "steps": [{"cmd": "x" * 200_001}]},
        {"kind": "code", "steps": [{"cmd": "x" * 190_000}] * 6},
        {"kind": "code", "steps": [{"cmd": "ls", "postcondition": [check("exit_code", 0)] * 21}]},
    ],
)
def test_there_is_a_limit_to_everything(document):
    with pytest.raises(LimitError) as caught:
        parse_payload(document)
    assert caught.value.details["limit"]


def test_a_step_depends_on_a_variable_that_there_is():
    optional = {**shell("echo {{note}}", when="note"), "variables": {"note": {"default": ""}}}
    payload = parse_payload(optional)
    assert (payload.steps[0].when, parse_payload(payload_document(payload))) == ("note", payload)
    with pytest.raises(InputError, match=r"steps\[0\].when: 'other' names no variable"):
        parse_payload({**shell("ls", when="other"), "variables": {"note": {}}})


def test_what_only_looks_like_a_placeholder_can_be_written():
    payload = parse_payload(shell(literal("docker ps --format '{{.Names}} {{json}}'")))
    assert payload.steps[0].text == "docker ps --format '{{.Names}} {{!json}}'"


def test_other_kinds_are_not_for_replay():
    assert [is_replayable(kind) for kind in ("browser", "code", "hybrid_sequence", "generic")] == [True] * 3 + [False]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["kind", "steps", "type", "cmd", "code", "variables", "postcondition", "value", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(json_values, st.sampled_from([None, "browser", "code", "hybrid_sequence"]))
def test_whatever_is_sent_it_is_read_or_refused(document, kind):
    try:
        payload = parse_payload(document, kind=kind)
    except InputError:
        return
    assert parse_payload(payload_document(payload)) == payload


def test_every_kind_of_condition_can_be_written():
    of_code = {kind.value for kind in CheckKind} - {"text_visible", "url_matches", "element_present"}
    values = {"exit_code": 0, "file_contains": "a\nb"}
    checks = [{"kind": kind, "value": values.get(kind, "x")} for kind in sorted(of_code)]
    assert len(parse_payload(shell("ls", postcondition=checks)).steps[0].checks) == len(of_code)
