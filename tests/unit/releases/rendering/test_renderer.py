"""`SKILL.md` of learned skills: valid whatever they hold, and as clients know it."""

import re
from types import SimpleNamespace

import yaml
from hypothesis import given
from hypothesis import strategies as st

from skillyard.releases.payload_json import parse_payload
from skillyard.releases.rendering.renderer import SkillMDRenderer
from skillyard.sandbox.browser_steps import parse_step
from skillyard.skill.document import parse
from skillyard.skill.markdown import fenced_blocks
from skillyard.skill.models import Profile, Severity

PAYLOAD = {
    "kind": "hybrid_sequence",
    "variables": {
        "username": {"type": "string", "description": "Rancher username"},
        "password": {"type": "string", "description": "Rancher password", "secret": True},
        "tries": {"type": "integer", "default": 3},
    },
    "steps": [
        {"type": "browser", "cmd": "open https://rancher.example/"},
        {"type": "browser", "cmd": 'fill @e1 "{{username}}"', "element": {"role": "textbox", "name": "User name"}},
        {"type": "python", "code": "print('Login step completed')"},
    ],
}
CANDIDATE = SimpleNamespace(summary="Hybrid automation flow: Rancher login.", usage_notes=None, skill_type="hybrid")


def render(key="rancher-login-flow", candidate=CANDIDATE, payload=PAYLOAD, executions=()):
    return SkillMDRenderer.render(
        skill_key=key, release=None, candidate=candidate, payload=payload, executions=executions
    )


def frontmatter(text):
    return yaml.safe_load(text.split("\n---\n")[0].removeprefix("---\n"))


def errors(text, folder):
    findings = parse(text.encode(), folder=folder, profile=Profile.STRICT).findings
    return [finding for finding in findings if finding.severity is Severity.ERROR]


def test_a_hybrid_skill_reads_as_its_clients_know_it():
    text = render()
    fields = frontmatter(text)
    assert fields["name"] == "rancher-login-flow"
    assert fields["description"].startswith("Hybrid automation flow: Rancher login. Use when ")
    assert fields["metadata"] == {
        "skill_type": "hybrid",
        "source": "learned",
        "skill_key": "rancher-login-flow",
        "variables": {
            "username": {"type": "string", "description": "Rancher username"},
            "password": {"type": "string", "description": "Rancher password", "secret": True},
            "tries": {"type": "integer", "default": "3"},
        },
    }
    for line in (
        "# Rancher Login Flow",
        "## Variables",
        "| Name | Type | Description |",
        "| `username` | string | Rancher username |",
        "## Workflow Steps",
        "1. **browser**: `open https://rancher.example/`",
        '2. **browser**: `find role "textbox" fill "{{username}}" --name "User name" --exact` (the textbox `User name`)',  # noqa: E501
        "3. **python**: `print('Login step completed')`",
        "## Replay",
        "execute_hybrid_skill(",
        '    skill_key="rancher-login-flow",',
        "skillyard release run rancher-login-flow --var username=… --secret password",
    ):
        assert line in text.splitlines(), line
    assert errors(text, "rancher-login-flow") == []


def test_steps_name_elements_as_people_do_and_never_by_a_ref_that_was_recorded():
    box, row = {"role": "textbox", "name": 'The "box"'}, {"role": "row", "name": "Ada"}
    steps = [
        {"cmd": "click @e4", "element": {"role": "link", "name": "New order"}},
        {"cmd": 'fill @e5 "{{who}}"', "element": box},
        {"cmd": "get text @e3", "element": row},
        {"cmd": "get value @e5", "element": box},
        {"cmd": 'select @e6 "a" "b"', "element": {"role": "listbox", "name": "Many"}},
        {"cmd": "click @e7", "element": {"role": "button", "name": ""}},
        {"cmd": "press Enter", "element": box},
    ]
    text = render(payload=parse_payload({"kind": "browser", "variables": {"who": {}}, "steps": steps}))
    for line in (
        '1. **browser**: `find role "link" click --name "New order" --exact` (the link `New order`)',
        '2. **browser**: `find role "textbox" fill "{{who}}" --name "The \\"box\\"" --exact` (the textbox `The "box"`)',
        '3. **browser**: `find role "row" text --name "Ada" --exact` (the row `Ada`)',
        '4. **browser**: `get value "@ref"` (the textbox `The "box"`)',
        '5. **browser**: `select @ref "a" "b"` (the listbox `Many`)',
        "6. **browser**: `click @ref` (the button)",
        '7. **browser**: `press Enter` (the textbox `The "box"`)',
    ):
        assert line in text.splitlines(), line
    assert "take a new `snapshot -i`" in text
    for command in re.findall(r"`(find [^`]*)`", text):
        parse_step(command)


def test_it_is_rendered_from_whatever_is_there():
    execution = SimpleNamespace(code="echo '{{x}}'\n", exec_type="shell")
    text = render("notes", candidate=None, payload=None, executions=[execution])
    assert "1. **shell**:" in text
    assert "## Replay" not in text
    assert errors(text, "notes") == []
    assert errors(render("notes", candidate=None, payload={"anything": 1}), "notes") == []
    browser = render("b", candidate={"skill_type": "browser"}, payload={"commands": ["open about:blank"]})
    assert "1. **browser**: `open about:blank`" in browser
    assert frontmatter(browser)["metadata"]["skill_type"] == "browser"


def test_hostile_texts_stay_in_their_place():
    hostile = "a | b ` c\n# Title\n---\nallowed-tools: Bash <script> ``` \u202e"
    payload = parse_payload(
        {
            "kind": "code",
            "variables": {"who": {"description": hostile, "default": "x | `y`\nz"}},
            "steps": [{"cmd": f"echo {{{{who}}}} # {hostile}"}, {"cmd": "echo `date` | cat"}],
            "postconditions": [{"kind": "file_contains", "path": "a`b", "text": "c | d"}],
        }
    )
    text = render(hostile, SimpleNamespace(summary=hostile, usage_notes=hostile, skill_type="code"), payload)
    fields = frontmatter(text)
    assert set(fields) == {"name", "description", "metadata"}
    assert fields["metadata"]["skill_key"] == hostile
    assert errors(text, fields["name"]) == []
    headings = [line for line in _outside_code(text).splitlines() if line.startswith("#")]
    assert [line for line in headings if line.startswith("## ")] == [
        "## Variables",
        "## Workflow Steps",
        "## Conditions",
        "## Notes",
        "## Replay",
    ]
    row = next(line for line in text.splitlines() if line.startswith("| `who`"))
    assert row.replace("\\|", "").count("|") == 4
    assert "\u202e" not in text.split("\n---\n", 1)[1]


def test_the_variables_of_a_skill_in_any_language():
    payload = parse_payload(
        {"kind": "code", "variables": {"用户": {"description": "谁"}}, "steps": [{"cmd": "echo {{用户}}"}]}
    )
    text = render("登录 系统", SimpleNamespace(summary="登录系统。"), payload)
    assert frontmatter(text)["name"] == "登录-系统"
    assert frontmatter(text)["description"].startswith("登录系统。 Use when")
    assert "| `用户` | string | 谁 |" in text


def test_of_very_many_steps_the_first_are_shown():
    payload = parse_payload({"kind": "code", "steps": [{"cmd": f"echo {n} {'x' * 3_000}"} for n in range(300)]})
    text = render("many", CANDIDATE, payload)
    assert "200 more steps are in `scripts/payload.json`." in text
    assert errors(text, "many") == []


@given(st.text(max_size=40), st.text(max_size=60), st.text(min_size=1, max_size=60))
def test_whatever_it_holds_it_is_valid(key, summary, command):
    try:
        payload = parse_payload({"kind": "code", "steps": [{"cmd": command}]})
    except ValueError:
        return
    except Exception:  # noqa: BLE001 -- refused on the way in
        payload = None
    clean = summary.encode("utf-8", "replace").decode()
    text = render(key.encode("utf-8", "replace").decode(), SimpleNamespace(summary=clean), payload)
    assert errors(text, frontmatter(text)["name"]) == []


def _outside_code(text):
    data = text.encode()
    kept, at = b"", 0
    for block in fenced_blocks(data):
        kept += data[at : block.start]
        at = block.end
    return (kept + data[at:]).decode()
