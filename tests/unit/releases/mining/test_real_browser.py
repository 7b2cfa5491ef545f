"""A form filled three times by hand in a real browser: one task, its variables, and the password nowhere."""

import base64
import re
from urllib.parse import quote

import pytest
from tests.demo_forms import PASSWORD, USER, demo_site
from tests.replay_rooms import replay_rooms

from skillyard.releases.mining.sequences import LoggedExecution, SessionLog, mine
from skillyard.releases.outcomes import Verdict
from skillyard.releases.payloads import VariableType
from skillyard.sandbox.executions import Asked
from skillyard.sandbox.network import parse_network
from skillyard.sandbox.sandboxes import SandboxSpec

pytestmark = pytest.mark.anyio

FORMS = [PASSWORD, quote(PASSWORD, safe=""), PASSWORD.encode().hex(), base64.b64encode(PASSWORD.encode()).decode()[:-4]]


class Person:
    """Someone at a browser, who looks before each step for what is there."""

    def __init__(self, yard, sandbox_id):
        self.yard = yard
        self.sandbox_id = sandbox_id
        self.shown = ""

    async def do(self, *commands):
        done = await self.yard.rooms.browsing.batch(self.yard.caller, self.sandbox_id, commands)
        assert done.outcome.success, done.error
        self.see(done)

    async def step(self, command):
        done = await self.yard.rooms.browsing.step(self.yard.caller, self.sandbox_id, command)
        assert done.outcome.success, done.error
        self.see(done)

    def see(self, done):
        snapshots = [step.output for step in done.outcome.steps if step.command.startswith("snapshot")]
        self.shown = snapshots[-1] if snapshots else self.shown

    def ref(self, role, name):
        found = re.search(rf'- {role} "{re.escape(name)}".*?\[ref=(e\d+)\]', self.shown)
        assert found, self.shown
        return f"@{found[1]}"

    async def log(self):
        page = await self.yard.rooms.log.page(self.sandbox_id, Asked(limit=200))
        entries = []
        for one in page.entries:
            trace = await self.yard.rooms.log.trace(self.sandbox_id, one.trace_ref) if one.trace_ref else None
            entries.append(LoggedExecution(execution=one, trace=trace))
        return SessionLog(sandbox_id=self.sandbox_id, entries=tuple(entries))


async def in_one_go(person, site, customer, quantity):
    await person.do(f"open {site.url}/", "snapshot -i")
    await person.do(
        f'fill {person.ref("textbox", "User name")} "{USER}"',
        f'fill {person.ref("textbox", "Password")} "{PASSWORD}"',
        f"click {person.ref('button', 'Sign in')}",
        "snapshot -i",
    )
    await person.do(f"click {person.ref('link', 'New order')}", "snapshot -i")
    await person.do(
        f'fill {person.ref("textbox", "Customer")} "{customer}"',
        f'fill {person.ref("spinbutton", "Quantity")} "{quantity}"',
        f'select {person.ref("combobox", "Size")} "m"',
        f"click {person.ref('button', 'Save')}",
        "snapshot",
    )


async def step_by_step(person, site, customer, quantity):
    """In another order, with a detour, a mistake and a look too many; signed in already."""
    for command in (f"open {site.url}/orders", "snapshot -i"):
        await person.step(command)
    await person.step(f"click {person.ref('link', 'New order')}")
    await person.step("snapshot -i")
    quantity_field, save = person.ref("spinbutton", "Quantity"), person.ref("button", "Save")
    await person.step(f'select {person.ref("combobox", "Size")} "m"')
    await person.step(f'fill {quantity_field} "99"')
    await person.step(f'fill {person.ref("textbox", "Customer")} "{customer}"')
    await person.step(f'fill {quantity_field} "{quantity}"')
    await person.step("scroll down")
    await person.step(f"get value {quantity_field}")
    await person.step(f"click {save}")


async def by_names(person, site, customer, quantity):
    await person.do(
        f"open {site.url}/",
        f'find label "Password" fill "{PASSWORD}"',
        f'find label "User name" fill "{USER}"',
        'find role button click --name "Sign in"',
        'find text "New order" click',
        f'fill "input[name=quantity]" "{quantity}"',
        f'find label "Customer" type "{customer}"',
        'find label "Size" select m',
        "find role button click --name Save",
        f'wait --text "saved for {customer}"',
    )


async def test_a_form_filled_three_times_becomes_one_task_that_can_be_replayed(tmp_path):
    with demo_site() as site:
        async with replay_rooms(tmp_path / "yard") as yard:
            network = parse_network({"allow": [site.url]})
            spec = SandboxSpec(profile="browser-python", network=network)
            made = await yard.rooms.sandboxes.create(yard.caller, spec)
            person = Person(yard, made.id)
            await in_one_go(person, site, "Ada & Söhne", 3)
            await step_by_step(person, site, "Bob", 12)
            await by_names(person, site, "박지민", 7)
            await yard.rooms.runs.shell(yard.caller, made.id, f"echo {PASSWORD} | base64")
            result = mine([await person.log()])

            (sequence,) = result.sequences
            assert (sequence.repeats, sequence.skill_key) == (3, "log-in-and-create-order")
            assert {name: (one.type, one.secret) for name, one in sequence.payload.variables.items()} == {
                "password": (VariableType.STRING, True),
                "customer": (VariableType.STRING, False),
                "quantity": (VariableType.INTEGER, False),
            }
            assert sequence.example_values == {
                "customer": ("Ada & Söhne", "Bob", "박지민"),
                "quantity": ("3", "12", "7"),
            }
            site.reset("reordered")
            values = {"password": PASSWORD, "customer": "Grace", "quantity": 5}
            replay = await yard.replayer.replay(yard.caller, sequence.payload, values, sandbox_id=made.id)
            assert (replay.verdict, replay.reason) == (Verdict.PASS, "")
            assert site.orders == [{"customer": "Grace", "quantity": "5", "size": "m", "gift": "", "coupon": ""}]
            site.reset("no_submit")
            replay = await yard.replayer.replay(yard.caller, sequence.payload, values, sandbox_id=made.id)
            assert replay.verdict is Verdict.STEP_FAIL
        kept = [path.read_bytes() for path in (tmp_path / "yard").rglob("*") if path.is_file()]
        assert len(kept) > 10
        assert not [form for form in FORMS for data in kept if form.encode() in data]
