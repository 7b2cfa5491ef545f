"""MCP at a running server: official conformance, clients of both generations, and streams that end with it."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.subscriptions import ResourcesListChanged
from tests.commands import Command
from tests.mcp_peers import conformance_suite, old_client

PATIENCE = 60
OLD_SCRIPT = Path(__file__).with_name("mcp_old_client.py")
OF_TODAY = "2026-07-28"
OF_BEFORE = "2025-11-25"
SKILLS = ("sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory")
GENERAL = (
    *(("server-initialize", OF_BEFORE), ("server-session-lifecycle", OF_BEFORE), ("resources-subscribe", OF_BEFORE)),
    *(("completion-complete", OF_TODAY), ("sep-2164-resource-not-found", OF_TODAY), ("caching", OF_TODAY)),
    *(("http-header-validation", OF_TODAY), ("dns-rebinding-protection", OF_TODAY)),
)
IN_SOAK = (
    *(("ping", OF_BEFORE), ("resources-unsubscribe", OF_BEFORE), ("tools-list", OF_BEFORE), ("tools-list", OF_TODAY)),
    *(("resources-list", OF_TODAY), ("prompts-list", OF_TODAY), ("server-sse-multiple-streams", OF_TODAY)),
)
"""Those that ask for nothing but what a server of skills has; the others call tools that only a test server has."""


def add(root, name, description="Does it."):
    (root / name / "references").mkdir(parents=True, exist_ok=True)
    text = f"---\nname: {name}\ndescription: {description}\nmetadata:\n  version: 1.10\n---\n# {name}\n"
    (root / name / "SKILL.md").write_text(text, encoding="utf-8")
    (root / name / "references/guide.md").write_text("# Guide\n", encoding="utf-8")


@contextmanager
def serving(folder):
    add(folder / "skills", "pdf", "Reads PDF files.")
    settings = {"HOME": folder, "SKILLYARD_HOME": folder / "data", "SKILLYARD_CONFIG_DIR": folder / "config"}
    with Command(
        ["serve", "--json", "--port", "0", "--root", str(folder / "skills")],
        stdout=subprocess.PIPE,
        env={**os.environ, **{name: str(path) for name, path in settings.items()}},
        cwd=folder,
    ) as process:
        try:
            yield json.loads(process.stdout.readline())["url"], process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("mcp-http")


@pytest.fixture(scope="module")
def url(folder):
    with serving(folder) as (url, _):
        yield url


def check(address, scenario, *words):
    command = [*conformance_suite(), "server", "--url", address, "--scenario", scenario, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=2 * PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 failed, 0 warnings" in done.stdout, done.stdout


@pytest.mark.parametrize("source", ["library", "registry"])
@pytest.mark.parametrize("scenario", SKILLS)
def test_the_skills_extension_conforms_without_a_warning(url, scenario, source):
    check(f"{url}/mcp?source={source}", scenario)


@pytest.mark.parametrize(("scenario", "version"), GENERAL + (IN_SOAK if os.environ.get("SKILLYARD_SOAK") else ()))
def test_the_protocol_conforms_without_a_warning(url, scenario, version):
    check(f"{url}/mcp?source=library", scenario, "--spec-version", version)


def test_requests_stand_alone_and_skills_that_change_meanwhile_are_told_of(url, folder, tmp_path):
    address = f"{url}/mcp?source=library"
    words = ["server", "--url", address, "--scenario", "server-stateless", "--spec-version", OF_TODAY]
    with subprocess.Popen(
        [*conformance_suite(), *words, "--output-dir", str(tmp_path)], stdout=subprocess.DEVNULL
    ) as process:
        for number in range(10 * PATIENCE):
            add(folder / "skills", "changing", f"Changed {number} times.")
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.2)
                break
        else:
            process.kill()
    [report] = tmp_path.rglob("checks.json")
    checks = json.loads(report.read_text())
    amiss = [check for check in checks if check["status"] in {"FAILURE", "WARNING"}]
    # Four checks call tools that only a test server has.
    assert [check for check in amiss if not check["errorMessage"].startswith("Not testable")] == []
    assert len(amiss) == 4
    told = {check["id"] for check in checks if check["status"] == "SUCCESS"}
    assert "sep-2575-server-sends-tools-list-changed-on-subscription" in told


def test_a_client_of_today_follows_the_registry(url):
    async def go():
        async with (
            Client(f"{url}/mcp?toolsets=skills,registry") as client,
            client.listen(resources_list_changed=True) as events,
        ):
            made = await client.call_tool("list_skills", {})
            assert made.is_error is False
            await asyncio.to_thread(publish, url)
            async with asyncio.timeout(PATIENCE):
                assert await anext(aiter(events)) == ResourcesListChanged()
            uris = [resource.uri for resource in (await client.list_resources()).resources]
            assert any(uri.endswith("/fresh/SKILL.md") for uri in uris)

    asyncio.run(go())


def publish(url):
    from skillyard.client import Skillyard
    from skillyard.skill.bundle import Bundle, BundleFile

    text = b"---\nname: fresh\ndescription: Just made.\n---\n# fresh\n"
    with Skillyard(url) as yard:
        yard.send(Bundle([BundleFile("SKILL.md", text)]), "fresh")


def test_a_client_of_the_sdk_before_works_unchanged(url, folder):
    with subprocess.Popen(
        [old_client(), str(OLD_SCRIPT), f"{url}/mcp?source=library"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        add(folder / "skills", "zip", "Packs files.")
        process.stdin.write("\n")
        process.stdin.flush()
        seen = json.loads(process.stdout.readline())
        assert process.wait(PATIENCE) == 0
    assert seen["protocol"] == OF_BEFORE
    assert "Packs files." not in seen["before"]
    assert "Packs files." in seen["after"]


@pytest.mark.parametrize("era", ["legacy", OF_TODAY])
def test_an_open_stream_does_not_keep_the_server_from_stopping(tmp_path, era):
    async def go(url, process):
        async with Client(f"{url}/mcp", mode=era) as client:
            await client.list_tools()
            if era == "legacy":
                process.send_signal(signal.SIGINT)
                await asyncio.to_thread(process.wait, PATIENCE)
                return
            async with client.listen(tools_list_changed=True) as events:
                process.send_signal(signal.SIGINT)
                assert [event async for event in events] == []
                await asyncio.to_thread(process.wait, PATIENCE)

    with serving(tmp_path) as (url, process):
        try:
            asyncio.run(go(url, process))
        except* OSError:
            pass  # a client that says goodbye to a server that is gone
        assert process.returncode == 0
