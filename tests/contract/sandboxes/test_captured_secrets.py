"""Secrets that nobody declared: typed into fields for them, or recognised in what is run. None of them is kept."""

import base64
import json
from dataclasses import replace
from urllib.parse import quote

import pytest
from tests.contract.sandboxes.browsers import Browsers, BrowserSession

from skillyard.sandbox.executions import Said
from skillyard.sandbox.models import ExecutionNoteRow, ExecutionRow, TraceRow
from skillyard.sandbox.runs import Wish
from skillyard.sandbox.sandboxes import SandboxSpec
from skillyard.sandbox.session import BrowserOutcome, Ending

pytestmark = pytest.mark.anyio

PASSWORD = 'hünter "2" & more'
SITE = "http://127.0.0.1:8000"
FIELDS = {
    "@e1": {"role": "textbox", "name": "User name", "is_password": False},
    "@e2": {"role": "textbox", "name": "Password", "is_password": True},
    "@e3": {"role": "textbox", "name": "Code", "is_password": False, "autocomplete": "one-time-code"},
    "@e4": {"role": "textbox", "name": "API token", "is_password": False},
    "@e5": {"role": "textbox", "name": "비밀번호 확인", "is_password": False},
    "@e6": {"role": "textbox", "name": "", "field": "user[password]", "is_password": False},
    "@e7": {"role": "button", "name": "Log in", "is_password": False},
}


class Page(BrowserSession):
    """A session whose browser tells what it acted on, and shows all that was typed."""

    def __init__(self):
        super().__init__()
        self.typed = ""

    async def browse(self, step, *, seconds, secrets):
        if step.verb == "find":
            target, value = FIELDS["@e2"], step.arguments[-1]
        else:
            target, value = FIELDS.get(step.arguments[0] if step.arguments else ""), step.arguments[-1:]
            value = value[0] if value else ""
        if step.verb in {"fill", "type", "find"} and target:
            self.typed = value
        found = step.verb not in {"fill", "type", "click"} or target is not None
        target = {**target, "url_after": f"{SITE}/?user=me&password={quote(self.typed)}"} if target else None
        return BrowserOutcome(
            success=found,
            output=f"The page says {self.typed!r}, {self.typed}." if found else "",
            error=None if found else f"There is no {step.arguments[0]}.",
            ending=Ending.EXITED,
            target=target if found else None,
            screenshot=None,
            seconds=0.1,
        )


@pytest.fixture
async def made(world, here):
    here.choice.backend = Browsers(Page())
    return await here.sandboxes.create(world.editor, SandboxSpec(profile="browser-python"))


@pytest.fixture
def stored(world, tables):
    """All that is kept of the runs in a sandbox."""

    async def everything(made):
        rows = [row for row in await tables.all(ExecutionRow) if row.sandbox_id == made.id]
        ids = {row.id for row in rows}
        rows += [row for row in await tables.all(ExecutionNoteRow) if row.execution_id in ids]
        traces = [row for row in await tables.all(TraceRow) if row.sandbox_id == made.id]
        blobs = [(await world.yard.blobs.get(row.sha256)).decode() for row in traces]
        texts = [str(value) for row in rows for value in vars(row).values()]
        return "\n".join([*texts, *blobs, *(json.dumps(json.loads(blob), ensure_ascii=True) for blob in blobs)])

    return everything


def assert_absent(secret, text):
    raw = secret.encode()
    forms = [secret, quote(secret), quote(secret, safe=""), raw.hex(), json.dumps(secret)[1:-1], repr(secret)[1:-1]]
    encoded = base64.b64encode(raw).decode().rstrip("=")[:-1]
    assert not [form for form in (*forms, encoded) if form in text]


def command(text):
    return text.replace("PASSWORD", PASSWORD.replace('"', '\\"'))


@pytest.mark.parametrize(
    ("step", "kept"),
    [
        ('fill @e2 "PASSWORD"', 'fill @e2 "{{secret:password}}"'),
        ('type @e2 "PASSWORD"', 'type @e2 "{{secret:password}}"'),
        ('find label "Password" fill "PASSWORD"', 'find label "Password" fill "{{secret:password}}"'),
        ('fill @e3 "PASSWORD"', 'fill @e3 "{{secret:code}}"'),
        ('fill @e4 "PASSWORD"', 'fill @e4 "{{secret:api_token}}"'),
        ('fill @e5 "PASSWORD"', 'fill @e5 "{{secret:password}}"'),
        ('fill @e6 "PASSWORD"', 'fill @e6 "{{secret:password}}"'),
        ('fill @e99 "PASSWORD"', 'fill @e99 "{{secret}}"'),
        ('fill @e2 "PASSWORD', "fill @e2 {{secret}}"),
        ('insert @e2 "PASSWORD"', "insert @e2 {{secret}}"),
    ],
)
async def test_what_is_typed_into_a_field_for_secrets_or_an_unknown_one_is_not_kept(
    world, here, made, stored, step, kept
):
    done = await here.browsing.step(world.editor, made.id, command(step))
    assert done.execution.code == kept
    assert_absent(PASSWORD, await stored(made))


async def test_a_secret_of_one_run_is_in_no_later_one_of_the_session(world, here, made, stored):
    steps = ['fill @e1 "ada"', command('fill @e2 "PASSWORD"'), "click @e7", "get value @e1"]
    done = await here.browsing.batch(world.editor, made.id, steps)
    assert done.execution.code.splitlines()[0] == 'fill @e1 "ada"'
    assert PASSWORD in done.outcome.steps[-1].output, "whoever typed it is told what there is"
    for step in ("snapshot -i", command('wait --text "PASSWORD"'), command('fill @e1 "PASSWORD"')):
        await here.browsing.step(world.editor, made.id, step)
    said = Said(description=f"signs in with {PASSWORD}", notes=PASSWORD)
    later = await here.browsing.step(world.editor, made.id, "snapshot", Wish(said=said))
    assert later.execution.description == "signs in with {{secret:password}}"
    assert_absent(PASSWORD, await stored(made))


class Echoing(Page):
    """A page that shows what was typed in other forms, also in the names of its elements."""

    async def browse(self, step, *, seconds, secrets):
        outcome = await super().browse(step, seconds=seconds, secrets=secrets)
        shown = f"Order as {self.typed[::-1]}, {base64.b32encode(self.typed.encode()).decode()}"
        target = {**(outcome.target or {}), "role": "button"} if outcome.target else None
        if target and step.verb == "click":
            target |= {
                "name": shown,
                "within": " ".join(self.typed),
                "url_after": f"{SITE}/?as={quote(self.typed[::-1])}",
            }
        return replace(outcome, output=f"- button {shown!r}\n{outcome.output}", target=target)


async def test_a_typed_secret_that_a_page_shows_backwards_or_encoded_is_not_kept(world, here, stored):
    here.choice.backend = Browsers(Echoing())
    made = await here.sandboxes.create(world.editor, SandboxSpec(profile="browser-python"))
    steps = [f"open {SITE}", command('fill @e2 "PASSWORD"'), "snapshot -i", "click @e7"]
    done = await here.browsing.batch(world.editor, made.id, steps, trace=True)
    later = await here.browsing.batch(world.editor, made.id, ["snapshot -i", "click @e7"])
    assert done.execution.success
    assert later.execution.success
    kept = await stored(made)
    assert "Order as {{secret:password}}, {{secret:password}}" in kept
    encoded = base64.b32encode(PASSWORD.encode()).decode().rstrip("=")[:-2]
    for form in (PASSWORD, PASSWORD[::-1], quote(PASSWORD[::-1]), encoded, " ".join(PASSWORD)):
        assert form not in kept
        assert json.dumps(form)[1:-1] not in kept


async def test_what_comes_after_a_failure_is_not_kept_either(world, here, made, stored):
    steps = ["click @e99", command('fill @e2 "PASSWORD"'), f"open {SITE}/?token=abcdefgh"]
    done = await here.browsing.batch(world.editor, made.id, steps)
    assert done.execution.code.splitlines() == [
        "click @e99",
        'fill @e2 "{{secret}}"',
        f"open {SITE}/?token={{{{secret:token}}}}",
    ]
    assert_absent(PASSWORD, await stored(made))


async def test_a_run_that_dies_keeps_nothing_that_was_to_be_typed(world, here, made, stored, monkeypatch):
    async def die(step, **_):
        raise OSError

    monkeypatch.setattr(here.choice.backend.page, "browse", die)
    with pytest.raises(Exception, match="did not do as it should"):
        await here.browsing.batch(world.editor, made.id, [command('fill @e2 "PASSWORD"')])
    assert_absent(PASSWORD, await stored(made))


async def test_what_was_typed_into_another_field_is_kept(world, here, made):
    done = await here.browsing.step(world.editor, made.id, 'fill @e1 "ada@example.org"')
    assert done.execution.code == 'fill @e1 "ada@example.org"'


@pytest.mark.parametrize("run", ["shell", "python"])
async def test_a_secret_in_what_is_run_is_not_kept_and_not_in_what_it_prints_later(world, here, tables, stored, run):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    first, second, kept = {
        "shell": (
            "API_KEY=s3cr3t-v4lue; echo done >&2; echo $API_KEY",
            "printf s3cr3t-v4lue | base64",
            "API_KEY={{secret:API_KEY}}; echo done >&2; echo $API_KEY",
        ),
        "python": (
            "api_key = 's3cr3t-v4lue'\nprint(api_key)",
            "print(api_key.encode().hex())",
            'api_key = "{{secret:api_key}}"\nprint(api_key)',
        ),
    }[run]
    run = getattr(here.runs, run)
    done = await run(world.editor, made.id, first)
    assert (done.output, done.execution.code) == ("s3cr3t-v4lue\n", kept)
    assert (await run(world.editor, made.id, second)).execution.success
    assert_absent("s3cr3t-v4lue", await stored(made))


async def test_where_and_with_what_a_command_was_run_is_kept(world, here, stored):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    await here.workspace.write(world.editor, made.id, "sub/a.txt", b"x")
    done = await here.runs.shell(
        world.editor,
        made.id,
        "ls",
        Wish(secrets={"TOKEN": "declared-one"}, learn=True),
        cwd="sub",
        environment={"LANG": "C", "DB_PASSWORD": "hunter2x"},
    )
    trace = await here.log.trace(made.id, done.execution.trace_ref)
    assert trace == {
        "kind": "shell_exec_trace",
        "cwd": "sub",
        "environment": ["LANG=C", "DB_PASSWORD={{secret:DB_PASSWORD}}"],
        "secrets": ["TOKEN"],
    }
    assert (done.execution.learn, done.execution.learn_status) == (True, "pending")
    assert_absent("hunter2x", await stored(made))
    assert_absent("declared-one", await stored(made))
    plain = await here.runs.shell(world.editor, made.id, "ls")
    assert plain.execution.trace_ref is None
