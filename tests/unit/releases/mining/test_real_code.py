"""Commands and code run three times in a real sandbox: one task each, replayed in a fresh one with new values."""

import json

import pytest
from tests.replay_rooms import replay_rooms

from skillyard.releases.mining.sequences import LoggedExecution, SessionLog, mine
from skillyard.releases.outcomes import Verdict
from skillyard.sandbox.executions import Asked
from skillyard.sandbox.runs import Wish
from skillyard.sandbox.sandboxes import SandboxSpec

pytestmark = pytest.mark.anyio

PEOPLE = [("ada", 36, "red"), ("bob", 41, "blue"), ("zoe", 22, "green")]
TOOL = """cat > tool.py <<'EOF'
import json, os, sys
person = json.load(open(sys.argv[1]))
assert os.environ["SHOP_TOKEN"]
person["greeting"] = "Hello " + person["name"]
json.dump(person, open(sys.argv[2], "w"), ensure_ascii=False)
print("wrote", sys.argv[2])
EOF"""
TOKEN = "tok-4711-abcdef"
NASTY = """O'Neil "Q" $(id) `x` {{y}} \\ 李"""


@pytest.fixture
async def yard(tmp_path):
    async with replay_rooms(tmp_path / "yard") as yard:
        yield yard


async def log_of(yard, sandbox_id):
    page = await yard.rooms.log.page(sandbox_id, Asked(limit=200))
    entries = []
    for one in page.entries:
        trace = await yard.rooms.log.trace(sandbox_id, one.trace_ref) if one.trace_ref else None
        entries.append(LoggedExecution(execution=one, trace=trace))
    return SessionLog(sandbox_id=sandbox_id, entries=tuple(entries))


async def test_commands_that_make_files_are_learned_and_replayed(yard, tmp_path):
    made = await yard.rooms.sandboxes.create(yard.caller, SandboxSpec())
    await yard.rooms.workspace.write(yard.caller, made.id, "work/.keep", b"")

    async def shell(command, **more):
        done = await yard.rooms.runs.shell(yard.caller, made.id, command, cwd="work", **more)
        assert done.execution.success, done.error

    await shell(TOOL)
    for name, age, _ in PEOPLE:
        await shell(f'cat > {name}.json <<\'EOF\'\n{{"name": "{name}", "age": {age}}}\nEOF')
        await shell("ls -la")
        wish = Wish(secrets={"SHOP_TOKEN": TOKEN})
        await shell(f"mkdir -p out && python3 tool.py {name}.json 'out/{name} done.json'", wish=wish)
    (sequence,) = mine([await log_of(yard, made.id)]).sequences
    assert sequence.repeats == 3
    assert {name: one.secret for name, one in sequence.payload.variables.items()} == {
        "name": False,
        "age": False,
        "shop_token": True,
    }
    values = {"name": "grace", "age": 85, "shop_token": TOKEN}
    fresh = await yard.rooms.sandboxes.create(yard.caller, SandboxSpec())
    replay = await yard.replayer.replay(yard.caller, sequence.payload, values, sandbox_id=fresh.id)
    assert (replay.verdict, replay.reason) == (Verdict.PASS, "")
    written = await yard.rooms.workspace.read(yard.caller, fresh.id, "work/out/grace done.json")
    assert json.loads(written) == {"name": "grace", "age": 85, "greeting": "Hello grace"}
    kept = [path.read_bytes() for path in (tmp_path / "yard").rglob("*") if path.is_file()]
    assert not [data for data in kept if TOKEN.encode() in data]


async def test_code_is_learned_and_replayed_with_any_text(yard):
    made = await yard.rooms.sandboxes.create(yard.caller, SandboxSpec())
    for name, age, colour in PEOPLE:
        for code in (
            "import json",
            f"person = {{'name': '{name}', 'age': {age}, 'likes': ['tea', '{colour}']}}",
            "with open('person.json', 'w') as file:\n    json.dump(person, file)\nprint('saved', person['name'])",
        ):
            done = await yard.rooms.runs.python(yard.caller, made.id, code)
            assert done.execution.success, done.error
    (sequence,) = mine([await log_of(yard, made.id)]).sequences
    assert list(sequence.payload.variables) == ["name", "age", "likes"]
    values = {"name": NASTY, "age": 7, "likes": "café"}
    fresh = await yard.rooms.sandboxes.create(yard.caller, SandboxSpec())
    replay = await yard.replayer.replay(yard.caller, sequence.payload, values, sandbox_id=fresh.id)
    assert (replay.verdict, replay.reason) == (Verdict.PASS, "")
    written = json.loads(await yard.rooms.workspace.read(yard.caller, fresh.id, "person.json"))
    assert written == {"name": NASTY, "age": 7, "likes": ["tea", "café"]}
