"""Several server processes on one registry: each finds what any of them was given, also after one is killed."""

import json
import os
import signal
import subprocess
import time
from contextlib import ExitStack, contextmanager

import httpx
from tests.commands import Command

SECOND = 1.0
PATIENCE = 60.0


class Server:
    """A real `skillyard serve`."""

    def __init__(self, process, client):
        self.process = process
        self._client = client

    def create(self, name):
        body = {"name": name, "description": f"Feeds a {name}.", "is_public": True}
        answer = self._client.post("/skills", json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()["data"]["id"]

    def delete(self, skill_id):
        assert self._client.delete(f"/skills/{skill_id}").status_code == 200

    def found(self, query):
        answer = self._client.get("/search", params={"q": query})
        assert answer.status_code == 200, answer.text
        document = answer.json()
        assert document["total"] == len(document["data"])
        return [skill["name"] for skill in document["data"]]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@contextmanager
def serving(home, database_url=None):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SKILLYARD_")}
    environment |= {"HOME": str(home), "SKILLYARD_HOME": str(home / "data"), "SKILLYARD_CONFIG_DIR": str(home)}
    if database_url:
        environment["SKILLYARD_DATABASE_URL"] = database_url
    command = ["serve", "--json", "--port", "0"]
    with Command(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, cwd=home) as process:
        try:
            url = json.loads(process.stdout.readline())["url"]
            with httpx.Client(base_url=f"{url}/api/v1", trust_env=False, timeout=30) as client:
                yield Server(process, client)
        finally:
            process.kill()


def until(check, *, seconds):
    """Wait for something that is to come true in time."""
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.02)


def test_every_process_finds_within_a_second_what_any_was_given_until_the_last_is_killed(tmp_path, database_url):
    names = iter(["walrus", "pelican", "okapi", "lemur", "badger", "heron", "otter", "gecko", "ferret"])
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(tmp_path, database_url)) for _ in range(3)]
        for server in servers:
            until(lambda server=server: "skill-creator" in server.found("create a skill"), seconds=PATIENCE)
        while servers:
            for maker in servers:
                name = next(names)
                skill_id = maker.create(name)
                for reader in servers:
                    until(lambda reader=reader, name=name: reader.found(name) == [name], seconds=SECOND)
                maker.delete(skill_id)
                for reader in servers:
                    assert reader.found(name) == []  # at once: the store is asked, too
            # One of them writes the index: whichever it is, the others go on without it.
            last = next(names)
            servers[0].create(last)
            servers.pop(0).kill()
            for reader in servers:
                until(lambda reader=reader, last=last: reader.found(last) == [last], seconds=SECOND)
