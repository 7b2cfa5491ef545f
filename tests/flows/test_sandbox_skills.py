"""Skills of a registry in a sandbox, as an agent on another machine gets them there: over MCP, with its token."""

import asyncio
import json

import pytest
from tests.private_yard import NAME, SECRET, private_yard

from skillyard.config.settings import Settings
from skillyard.library.builtin import builtin_root
from skillyard.library.disk import read_folder

pytestmark = pytest.mark.anyio
HELLO = "#!/bin/sh\necho hello from {}\n"


@pytest.fixture(scope="module")
async def yard(tmp_path_factory, new_home, anyio_backend):
    async with private_yard(Settings(home=new_home(tmp_path_factory.mktemp("home") / "yard"))) as made:
        yield made


class Agent:
    """Calls tools, and reads what they answer."""

    def __init__(self, visitor):
        self._visitor = visitor

    async def __call__(self, tool, /, **arguments):
        said = json.loads(await self._visitor.call(tool, **arguments))
        text = said["content"][0]["text"]
        assert not said.get("isError"), text
        return said.get("structuredContent") or text

    async def refused(self, tool, /, **arguments):
        said = json.loads(await self._visitor.call(tool, **arguments))
        assert said["isError"], said
        return said["content"][0]["text"]

    async def publish(self, name, version="1.0.0"):
        """A skill whose scripts say which version they are of; the other one is only in that."""
        files = {"scripts/hello.sh": HELLO.format(version), f"scripts/of-{version}.sh": HELLO.format(version)}
        await self("create_skill", name=name, description="Says hello.", content="# Hello\n", files=files)
        await self("publish_skill", skill=name, version=version)

    async def update(self, name, version):
        await self("delete_skill_file", skill=name, path="scripts/of-1.0.0.sh")
        for path in ("scripts/hello.sh", f"scripts/of-{version}.sh"):
            await self("write_skill_file", skill=name, path=path, content=HELLO.format(version))
        await self("publish_skill", skill=name, version=version)


@pytest.fixture
async def bob(yard):
    async with yard.mcp("bob") as visitor:
        yield Agent(visitor)


async def run(agent, sandbox_id, path):
    return (await agent("execute_shell", sandbox_id=sandbox_id, command=f"sh {path}"))["output"]


async def test_a_script_of_a_skill_is_put_into_a_sandbox_and_runs_there(bob):
    await bob.publish("hello")
    script = {"skill_name": "hello", "script_name": "hello.sh"}
    assert "sandbox_id" in await bob.refused("get_skill_script_path", **script)
    sandbox = (await bob("create_sandbox"))["id"]
    path = await bob("get_skill_script_path", **script, sandbox_id=sandbox)
    assert path == "/workspace/skills/hello/scripts/hello.sh"
    assert await run(bob, sandbox, path) == "hello from 1.0.0\n"
    assert await bob("get_skill_script_path", **script, sandbox_id=sandbox) == path
    await bob("execute_shell", sandbox_id=sandbox, command="rm -r skills/hello")
    assert (
        await run(bob, sandbox, await bob("get_skill_script_path", **script, sandbox_id=sandbox))
        == "hello from 1.0.0\n"
    )
    no_script = {"skill_name": "hello", "script_name": "goodbye.sh"}
    assert "hello.sh" in await bob.refused("get_skill_script_path", **no_script, sandbox_id=sandbox)
    assert "list_sandboxes" in await bob.refused("get_skill_script_path", **script, sandbox_id="sandbox-0")


async def test_a_script_of_a_skill_that_every_sandbox_has_is_where_that_is(yard, bob):
    bundle = read_folder(builtin_root() / "skill-creator").require()
    await asyncio.to_thread(yard.clients["bob"].send, bundle, "skill-creator")
    sandbox = (await bob("create_sandbox"))["id"]
    script = {"skill_name": "skill-creator", "script_name": "init_skill.py"}
    path = await bob("get_skill_script_path", **script, sandbox_id=sandbox)
    assert path == "/workspace/skills/skill-creator/scripts/init_skill.py"
    await bob("execute_shell", sandbox_id=sandbox, command=f"echo >> {path}")
    assert await bob("get_skill_script_path", **script, sandbox_id=sandbox) == path


async def test_what_ran_after_it_was_put_there_has_the_skill_in_its_record(yard, bob):
    await bob.publish("recorded")
    sandbox = (await bob("create_sandbox"))["id"]
    await bob("execute_shell", sandbox_id=sandbox, command="true")
    await bob("get_skill_script_path", skill_name="recorded", script_name="hello.sh", sandbox_id=sandbox)
    ran = await bob("execute_shell", sandbox_id=sandbox, command="true")
    kept = await bob("get_execution", sandbox_id=sandbox, execution_id=ran["execution_id"])
    assert "recorded" in {each["name"] for each in kept["skills"]}


@pytest.mark.parametrize(("tool", "key"), [("create_sandbox", "id"), ("create_session", "session_id")])
async def test_a_sandbox_is_made_with_skills_in_the_version_that_is_named(bob, tool, key):
    name = tool.replace("_", "-")
    await bob.publish(name)
    await bob.update(name, "2.0.0")
    latest = (await bob(tool, skills=[name]))[key]
    assert await run(bob, latest, f"/workspace/skills/{name}/scripts/hello.sh") == "hello from 2.0.0\n"
    older = (await bob(tool, skills=[f"{name}@>=1, <2"]))[key]
    for script in ("hello.sh", "of-1.0.0.sh"):
        path = await bob("get_skill_script_path", skill_name=name, script_name=script, sandbox_id=older)
        assert await run(bob, older, path) == "hello from 1.0.0\n"
    newer = {"skill_name": name, "script_name": "of-2.0.0.sh", "sandbox_id": older}
    assert "of-1.0.0.sh" in await bob.refused("get_skill_script_path", **newer)
    assert "list_skill_versions" in await bob.refused(tool, skills=[f"{name}@3.0.0"])
    assert "list_skills" in await bob.refused(tool, skills=["nothing"])


async def test_a_sandbox_has_the_skills_of_an_agent(yard, bob):
    await bob.publish("attached")
    boss = yard.clients["boss"]
    greeter = {"id": "greeter", "name": "greeter", "role": "", "goal": ""}
    await asyncio.to_thread(boss.create_agent, greeter)
    await asyncio.to_thread(yard.clients["bob"].show_to, "attached", "public")
    await asyncio.to_thread(boss.attach, "bob/attached", "greeter")
    sandbox = (await bob("create_sandbox", agent="greeter"))["id"]
    assert await run(bob, sandbox, "/workspace/skills/attached/scripts/hello.sh") == "hello from 1.0.0\n"
    assert "nobody" in await bob.refused("create_sandbox", agent="nobody")


async def test_more_skills_than_a_label_has_room_for_are_told(bob):
    names = [f"a-rather-long-name-of-a-skill-that-says-hello-{number}" for number in range(6)]
    for name in names:
        await bob("create_skill", name=name, description="Says hello.", content="# Hello\n")
        await bob("publish_skill", skill=name)
    assert "get_skill_script_path" in await bob.refused("create_sandbox", skills=names)
    assert (await bob("create_sandbox", skills=names[:4]))["labels"]


@pytest.mark.parametrize("who", ["bob", "eve"])
async def test_a_private_skill_of_somebody_else_gets_into_no_sandbox(yard, who):
    async with yard.mcp(who) as visitor:
        other, sandboxes = Agent(visitor), yard.clients[who].sandboxes
        sandbox = (await other("create_sandbox"))["id"]
        for hers in yard.things["skill"]:
            script = {"skill_name": hers, "script_name": "run.py", "sandbox_id": sandbox}
            assert SECRET not in await other.refused("get_skill_script_path", **script)
            assert SECRET not in await other.refused("create_sandbox", skills=[hers])
            assert SECRET not in await other.refused("create_session", skills=[hers])
            (loaded,) = await asyncio.to_thread(sandboxes.load_skills, sandbox, [hers])
            assert (loaded["loaded"], loaded["path"], loaded["digest"]) == (False, None, None)
        labels = {"skillyard.skills": f"ann/{NAME}"}
        labelled = (await asyncio.to_thread(sandboxes.create, labels=labels))["id"]
        for each in (sandbox, labelled):
            listed = await other("execute_shell", sandbox_id=each, command="ls skills; grep -r . skills")
            assert NAME not in listed["output"]
            assert SECRET not in listed["output"]
    async with yard.mcp("ann") as visitor:
        script = {"skill_name": NAME, "script_name": "run.py", "sandbox_id": sandbox}
        assert "list_sandboxes" in await Agent(visitor).refused("get_skill_script_path", **script)
