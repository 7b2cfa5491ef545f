"""From what was done to a skill in use, as a person does it: commands in processes of their own, real sandboxes."""

import json
import os
import subprocess

import pytest
from tests.commands import Command
from tests.components import missing

from skillyard import Skillyard
from skillyard.errors import UnavailableError

SECRET = "tiger-lily-4711"
ORDERS = (("Ada", 2), ("Bo", 5), ("Chris Doe", 7))


class Yard:
    """The command line with a home of its own, and perhaps a server for it."""

    def __init__(self, folder):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SKILLYARD_")}
        self.home = folder / "yard"
        self.environment = {**kept, "HOME": str(folder), "SKILLYARD_HOME": str(self.home), "NO_PROXY": "127.0.0.1"}
        self.folder = folder
        self.started = []

    def start(self, *words):
        process = Command(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
            cwd=self.folder,
        )
        self.started.append(process)
        return process

    def told(self, *words, code=0):
        process = self.start(*words, "--json")
        out, err = process.communicate()
        assert process.returncode == code, (words, out.decode(), err.decode())
        return json.loads(out)

    def serve(self):
        server = self.start("serve", "--json", "--port", "0")
        self.environment["SKILLYARD_SERVER"] = json.loads(server.stdout.readline())["url"]

    def client(self):
        """The same yard from Python, which starts in less time."""
        url = self.environment.get("SKILLYARD_SERVER")
        return Skillyard(url) if url else Skillyard(home=self.home)

    def orders(self):
        """Three orders by hand in one sandbox, with a token that nobody may learn; the id of the sandbox."""
        with self.client() as client:
            sandbox = made_sandbox(client)
            for customer, quantity in ORDERS:
                for line in (
                    "mkdir -p orders",
                    f"printf '%s;%s\\n' '{customer}' {quantity} > orders/next.csv",
                    'test -n "$API_TOKEN" && cat orders/next.csv',
                ):
                    done = client.sandboxes.shell(sandbox, line, secrets={"API_TOKEN": SECRET})
                    assert done["success"], done
        return sandbox


def made_sandbox(client):
    try:
        return client.sandboxes.create()["id"]
    except UnavailableError as error:
        missing(error.message)


@pytest.fixture
def yard(tmp_path):
    made = Yard(tmp_path)
    yield made
    for process in made.started:
        process.terminate()
        process.communicate()


def test_on_a_server_what_was_done_three_times_becomes_one_skill_that_is_tried_released_and_run(yard):
    yard.serve()
    candidate, words = learned(yard)
    assert yard.told("release", "replay", candidate["id"], *words)["passed"]
    with yard.client() as client:
        released = client.releases.promote(candidate["id"], stage="stable")
    done = yard.told("release", "run", candidate["skill_key"], *words)
    assert (done["verdict"], done["release_id"]) == ("PASS", released["id"])
    assert not leaks(yard)


def test_without_a_server_the_command_itself_does_the_work(yard):
    candidate, words = learned(yard)
    over = yard.told("release", "replay", candidate["id"], "-n", "1", *words, code=1)  # one proves nothing
    assert [run["verdict"] for run in over["runs"]] == ["PASS"]
    assert over["state"] == "done"
    assert not leaks(yard)


def learned(yard):
    """The one candidate that three orders lead to, and the words that give it new values."""
    found = yard.told("release", "mine", "--sandbox", yard.orders())
    assert (len(found["candidates"]), found["created"]) == (1, found["candidates"])
    (candidate,) = found["found"]
    with yard.client() as client:
        variables = client.releases.payloads.get(candidate["payload_ref"])["payload"]["variables"]
    (secret,) = (name for name, each in variables.items() if each.get("secret"))
    plain = {name: each["type"] for name, each in variables.items() if not each.get("secret")}
    assert sorted(plain.values()) == ["integer", "string"]
    yard.environment[secret.upper()] = SECRET
    values = {name: "12" if kind == "integer" else "Dora & Söhne" for name, kind in plain.items()}
    return candidate, [*(f"--var={name}={value}" for name, value in values.items()), f"--secret={secret}"]


def leaks(yard):
    return [path for path in yard.home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
