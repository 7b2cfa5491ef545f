"""Skills found and installed from a real server: by `skillyard add`, and by git as a marketplace of plugins."""

import json
import os
import shutil
import subprocess
import threading
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from tests.commands import run

from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.history.entries import Why
from skillyard.identity.principals import Scope
from skillyard.library.disk import read_folder
from skillyard.registry.drafts import draft_of
from skillyard.registry.skills import Visibility
from skillyard.server import discovery, marketplace
from skillyard.server.errors import install_error_handlers
from skillyard.server.opened import Opened
from skillyard.server.run import address_of, bind
from skillyard.skill.bundle import BundleFile, bundle_of

WHY = Why()


def bundle(name, *files):
    text = f"---\nname: {name}\ndescription: Does {name}.\n---\n# {name}\n"
    return bundle_of([BundleFile("SKILL.md", text.encode()), *files]).require()


PDF = bundle("pdf", BundleFile("scripts/run.sh", b"#!/bin/sh\necho hi\n", executable=True), BundleFile("a.bin", b"\0"))
OLD_NOTES = bundle("notes", BundleFile("old.txt", b"old"))
NOTES = bundle("notes")
SECRET = bundle("secret")


@pytest.fixture(scope="module")
def yard_server(tmp_path_factory, new_home):
    """A server that strangers may ask, with two discoverable skills, a private one, and the token of its owner."""
    home = new_home(tmp_path_factory.mktemp("home"))
    told = {}

    @asynccontextmanager
    async def opening():
        async with open_yard(Settings(home=home)) as yard:
            ana = await yard.access.operator("ana")
            for one, visibility in [
                (PDF, Visibility.DISCOVERABLE),
                (OLD_NOTES, Visibility.DISCOVERABLE),
                (NOTES, Visibility.DISCOVERABLE),
                (SECRET, Visibility.PRIVATE),
            ]:
                await yard.registry.publishing.publish_bundle(ana, draft_of(one), visibility=visibility, why=WHY)
            made = await yard.tokens.create(ana, label="test", scope=Scope.READ, why=WHY)
            told["token"] = made.secret
            api = FastAPI()
            install_error_handlers(api)
            api.state.yard = yard
            api.router.routes.extend([*discovery.router.routes, *marketplace.router.routes])

            async def app(scope, receive, send):
                if scope["type"] == "http":
                    given = dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Bearer ")
                    state = scope.setdefault("state", {})
                    state["principal"] = (await yard.access.by_token(given)).principal if given else None
                await api(scope, receive, send)

            yield app

    listener = bind("127.0.0.1", 0)
    opened = Opened(opening)
    config = uvicorn.Config(opened, log_config=None, access_log=False, ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    url = address_of(listener)
    try:
        while not server.started:  # the socket listens already: nothing is asked before the answer can come
            thread.join(0.01)
            if opened.failure is not None:
                raise opened.failure
        yield url, told["token"]
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


@pytest.fixture
def environment(tmp_path):
    return {
        **os.environ,
        "HOME": str(tmp_path),
        "SKILLYARD_HOME": str(tmp_path / "data"),
        "SKILLYARD_CONFIG_DIR": str(tmp_path / "config"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "NO_PROXY": "*",
        "no_proxy": "*",
    }


def command(environment, folder, *words):
    return run([*words, "--json"], text=True, env=environment, cwd=folder)


def add(environment, folder, *words):
    return command(environment, folder, "add", *words)


def git(environment, *words):
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def installed(folder: Path) -> dict[str, Path]:
    return {path.parent.name: path.parent for path in folder.rglob("SKILL.md") if "data" not in path.parts}


def test_add_installs_what_a_server_ships_and_nothing_that_is_private(yard_server, environment, tmp_path):
    url, _ = yard_server
    project = tmp_path / "project"
    project.mkdir()
    done = add(environment, project, url)
    assert done.returncode == 0, done.stderr
    found = installed(project)
    assert set(found) == {"pdf", "notes"}
    assert read_folder(found["pdf"]).require().digest == PDF.digest
    assert read_folder(found["notes"]).require().digest == NOTES.digest


def test_a_private_skill_is_added_with_the_token_of_the_yard_it_is_in(yard_server, environment, tmp_path):
    url, token = yard_server
    known = {**environment, "SKILLYARD_SERVER": url, "SKILLYARD_TOKEN": token}
    done = add(known, tmp_path, url, "--skill", "secret")
    assert done.returncode == 0, done.stderr
    assert read_folder(installed(tmp_path)["secret"]).require().digest == SECRET.digest


def test_a_private_skill_cannot_be_added_without_a_token(yard_server, environment, tmp_path):
    url, token = yard_server
    done = add(environment, tmp_path, url, "--skill", "secret")
    assert done.returncode != 0
    assert "secret" not in installed(tmp_path)
    with httpx.Client(trust_env=False, timeout=60, base_url=f"{url}/.well-known/agent-skills/") as client:
        mine = client.get("index.json", headers={"authorization": f"Bearer {token}"}).json()
        entry = next(entry for entry in mine["skills"] if entry["name"] == "secret")
        assert client.get(entry["url"]).status_code == 404
        assert client.get(entry["url"], headers={"authorization": f"Bearer {token}"}).status_code == 200


def test_a_version_is_installed_by_number_stays_and_is_shown(yard_server, environment, tmp_path):
    url, _ = yard_server
    assert add(environment, tmp_path, url, "--skill", "notes@0.1.0").returncode == 0
    folder = installed(tmp_path)["notes"]
    assert read_folder(folder).require().digest == OLD_NOTES.digest
    (done,) = json.loads(command(environment, tmp_path, "update").stdout)["actions"]
    assert (done["action"], done["version"]) == ("unchanged", "0.1.0")
    (done,) = json.loads(add(environment, tmp_path, url, "--skill", "notes").stdout)["actions"]
    assert done["versions"] == ["0.1.0", "0.1.1"]
    assert read_folder(folder).require().digest == NOTES.digest
    refused = add(environment, tmp_path, url, "--skill", "notes@9.9.9")
    assert refused.returncode == 1
    assert "It has: 0.1.1, 0.1.0" in refused.stdout


def test_a_sync_brings_the_locked_version_while_the_yard_has_a_newer_one(yard_server, environment, tmp_path):
    url, _ = yard_server
    add(environment, tmp_path, url, "--skill", "notes@0.1.0")
    lock = next(path for path in tmp_path.rglob("skillyard.lock"))
    document = json.loads(lock.read_text())
    assert document["skills"][0].pop("ref") == "0.1.0"  # as if it had been installed while that was the newest
    lock.write_text(json.dumps(document))
    folder = installed(tmp_path)["notes"]
    shutil.rmtree(folder)
    shutil.rmtree(tmp_path / "data/bundles")
    done = command(environment, tmp_path, "sync")
    assert done.returncode == 0, done.stdout
    assert read_folder(folder).require().digest == OLD_NOTES.digest
    (done,) = json.loads(command(environment, tmp_path, "update").stdout)["actions"]
    assert done["versions"] == ["0.1.0", "0.1.1"]


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@needs_git
@pytest.mark.parametrize("depth", [[], ["--depth", "1"]])
def test_git_clones_the_marketplace_as_it_is_shipped(yard_server, environment, tmp_path, depth):
    url, _ = yard_server
    git(environment, "clone", *depth, f"{url}/marketplace.git", str(tmp_path / "clone"))
    listed = json.loads((tmp_path / "clone/.claude-plugin/marketplace.json").read_text())
    assert [plugin["source"] for plugin in listed["plugins"]] == ["./plugins/ana"]
    plugin = tmp_path / "clone/plugins/ana"
    assert json.loads((plugin / ".claude-plugin/plugin.json").read_text())["name"] == "ana"
    assert {path.name for path in (plugin / "skills").iterdir()} == {"pdf", "notes"}
    assert read_folder(plugin / "skills/pdf").require().digest == PDF.digest
    git(environment, "-C", str(tmp_path / "clone"), "fsck", "--strict")
    git(environment, "-C", str(tmp_path / "clone"), "pull", "origin", "HEAD")


@needs_git
def test_a_token_shows_git_more(yard_server, environment, tmp_path):
    url, token = yard_server
    header = f"http.extraHeader=Authorization: Bearer {token}"
    git(environment, "-c", header, "clone", "--depth", "1", f"{url}/marketplace.git", str(tmp_path / "clone"))
    assert (tmp_path / "clone/plugins/ana/skills/secret/SKILL.md").is_file()


@needs_git
def test_each_plugin_has_a_repository_of_its_own(yard_server, environment, tmp_path):
    url, _ = yard_server
    with httpx.Client(trust_env=False, timeout=60) as client:
        listed = client.get(f"{url}/.claude-plugin/marketplace.json").json()
    (source,) = [plugin["source"] for plugin in listed["plugins"]]
    assert source == {"source": "url", "url": f"{url}/marketplace/ana.git"}
    git(environment, "clone", "--depth", "1", source["url"], str(tmp_path / "clone"))
    assert read_folder(tmp_path / "clone/skills/notes").require().digest == NOTES.digest
    assert (tmp_path / "clone/.claude-plugin/plugin.json").is_file()
