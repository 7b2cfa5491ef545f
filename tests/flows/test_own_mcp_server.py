"""A yard as the computer-use server and the skill server of another: our clients of MCP on our own `/mcp`."""

import json
import os
import subprocess

import pytest
from tests.commands import Command

from skillyard.errors import SandboxDiedError, UnavailableError
from skillyard.learning.skills.creator import SkillCreator
from skillyard.learning.skills.remote_computers import RemoteComputers
from skillyard.learning.skills.skill_documents import ServerDocuments
from skillyard.sandbox.computer_use.backend import ComputerUseBackend, ComputerUseSettings
from skillyard.sandbox.computer_use.tools import Tools
from skillyard.sandbox.place import Place
from skillyard.skill.bundle import Bundle, BundleFile

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def mcp(tmp_path_factory, new_home):
    """The address of a yard's MCP, served as a person would."""
    home = tmp_path_factory.mktemp("served")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SKILLYARD_")}
    places = {"SKILLYARD_HOME": str(new_home(home / "data")), "SKILLYARD_CONFIG_DIR": str(home / "config")}
    with Command(
        ["serve", "--json", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**kept, **places, "HOME": str(home)},
        cwd=home,
    ) as process:
        assert process.stdout
        try:
            yield f"{json.loads(process.stdout.readline())['url']}/mcp"
        finally:
            process.terminate()


@pytest.fixture
def computer(mcp):
    return f"{mcp}?toolsets=sandbox"


@pytest.fixture
def documents(mcp):
    return ServerDocuments(f"{mcp}?toolsets=registry", "claude-skills")


async def test_a_skill_is_made_at_a_yard_with_the_scripts_of_that_yard(computer, documents):
    skill = Bundle(
        [
            BundleFile("SKILL.md", "---\nname: handle-refunds\ndescription: 환불을 처리한다.\n---\n\nPay.\n".encode()),
            BundleFile("assets/logo.png", b"\x89PNG\0\xff" * 40_000),
            BundleFile("scripts/total.py", b"#!/usr/bin/env python3\nprint(1)\n", executable=True),
        ]
    )
    await SkillCreator(RemoteComputers(computer), documents).make(None, "handle-refunds", skill, None)


async def test_a_document_that_is_not_there_is_told_in_words_that_help(documents):
    with pytest.raises(UnavailableError, match=r"Did you mean 'scripts/init_skill\.py'"):
        await documents.read("skill-creator", "scripts/init_skil.py")
    with pytest.raises(UnavailableError, match="no skill 'skill-creatr'"):
        await documents.read("skill-creatr", "SKILL.md")


async def test_sandboxes_run_in_a_yard_elsewhere_and_keep_their_files(computer, tmp_path):
    backend = ComputerUseBackend(ComputerUseSettings(url=computer), cargos=tmp_path)
    try:
        session = await backend.start(Place(sandbox_id="one", cargo_id="cargo"))
        assert (await session.python("x = 20\nprint(x + 1)")).output == "21\n"
        await session.write_file("a.txt", b"\0\xff kept")
        await session.close()
        session = await backend.start(Place(sandbox_id="two", cargo_id="cargo"))
        assert await session.read_file("a.txt") == b"\0\xff kept"
    finally:
        await backend.close()


async def test_a_session_that_was_deleted_is_known_to_be_gone(computer):
    tools = Tools(computer, seconds=20)
    await tools.open()
    try:
        session = json.loads(await tools.call("create_session", ttl=60))["session_id"]
        assert json.loads(await tools.call("run_shell", session=session, command="echo hi"))["stdout"] == "hi\n"
        await tools.call("delete_session", session=session)
        with pytest.raises(SandboxDiedError, match="gone"):
            await tools.call("run_shell", session=session, command="echo hi")
    finally:
        await tools.close()
