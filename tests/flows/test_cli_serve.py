"""The server as a person runs it: a real process on a free port of this machine."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from tests.commands import Command, run


@pytest.fixture
def environment(tmp_path):
    return {
        **os.environ,
        "HOME": str(tmp_path),
        "SKILLYARD_HOME": str(tmp_path / "data"),
        "SKILLYARD_CONFIG_DIR": str(tmp_path / "config"),
    }


@pytest.fixture
def start(environment, tmp_path):
    """Start `skillyard serve` and return its address and process; it is ended with the test."""
    started = []

    def _start(*words, command=Command):
        process = command(
            ["serve", "--json", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=tmp_path,
        )
        started.append(process)
        assert process.stdout
        return json.loads(process.stdout.readline()), process

    yield _start
    for process in started:
        process.kill()
        process.communicate()


def python_m(words, **given):
    return subprocess.Popen([sys.executable, "-m", "skillyard", *words], **given)


def get(url: str, **headers) -> httpx.Response:
    with httpx.Client(trust_env=False, timeout=60) as client:
        return client.get(url, headers=headers)


def test_a_running_server_shows_the_built_in_skills_and_stops_when_asked(start):
    announced, process = start("--port", "0", command=python_m)
    url = announced["url"]
    assert url.startswith("http://127.0.0.1:")
    assert get(f"{url}/healthz").json()["data"]["status"] == "ok"
    ids = [skill["id"] for skill in get(f"{url}/api/v1/library/skills").json()["data"]]
    assert "skill-creator" in ids
    text = get(f"{url}/api/v1/library/skills/skill-creator/files/SKILL.md")
    assert text.text.startswith("---\n")
    assert get(f"{url}/healthz", host="evil.example").status_code == 403
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"Traceback" not in error
    assert url.encode() in error


def test_a_port_in_use_is_an_error_that_names_the_fix(start, environment):
    announced, _ = start("--port", "0")
    port = announced["url"].rpartition(":")[2]
    done = run(["serve", "--port", port], text=True, env=environment)
    assert done.returncode == 5
    assert f"--port {int(port) + 1}" in done.stderr


def test_a_running_server_notices_what_is_switched_off_later(start, environment, tmp_path):
    announced, _ = start("--port", "0")
    skill = f"{announced['url']}/api/v1/library/skills/skill-creator"
    assert get(skill).status_code == 200
    run(["skill", "disable", "skill-creator"], env=environment, cwd=tmp_path, check=True)
    answer = get(skill)
    assert answer.status_code == 404
    assert "switched off" in answer.json()["error"]["message"]


def test_a_fresh_registry_is_served_with_something_to_look_at(start):
    announced, _ = start("--port", "0")
    url = f"{announced['url']}/api/v1"
    assert get(f"{url}/me").json()["data"]["operator"] is True
    names = [skill["full_name"] for skill in get(f"{url}/skills").json()["data"]]
    assert "system/skill-creator" in names


def test_an_open_stream_does_not_keep_the_server_from_stopping(start):
    announced, process = start("--port", "0")
    with (
        httpx.Client(trust_env=False, timeout=60) as client,
        client.stream("GET", f"{announced['url']}/api/v1/events?since=0") as answer,
    ):
        lines = answer.iter_lines()
        assert next(lines) == "retry: 2000"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0


def test_a_run_in_a_sandbox_does_not_keep_the_server_from_stopping(start):
    announced, process = start("--port", "0")
    with httpx.Client(trust_env=False, base_url=announced["url"], timeout=60) as client:
        sandbox = client.post("/v1/sandboxes", json={}).json()["id"]
        command = {"command": "echo begun; sleep 200", "timeout": 250}
        with client.stream("POST", f"/v1/sandboxes/{sandbox}/shell/stream", json=command) as answer:
            if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:
                pytest.skip("no sandbox can be started here")
            assert "begun" in next(answer.iter_lines())
            process.send_signal(signal.SIGTERM)
            _, error = process.communicate(timeout=60)
    assert b"Traceback" not in error


def test_a_run_that_a_stopping_server_cannot_wait_for_is_answered_and_recorded(start):
    announced, process = start("--port", "0")
    with (
        httpx.Client(trust_env=False, base_url=announced["url"], timeout=60) as client,
        ThreadPoolExecutor() as pool,
    ):
        sandbox = f"/v1/sandboxes/{client.post('/v1/sandboxes', json={}).json()['id']}"
        command = {"command": "touch begun; sleep 200", "timeout": 250}
        asked = pool.submit(client.post, f"{sandbox}/shell/exec", json=command)
        begun = client.build_request("GET", f"{sandbox}/filesystem/files", params={"path": "begun"})
        while not asked.done() and client.send(begun).status_code != httpx.codes.OK:
            pass
        process.send_signal(signal.SIGTERM)
        answer = asked.result(30)
        process.communicate(timeout=60)
    assert answer.status_code == httpx.codes.SERVICE_UNAVAILABLE
    error = answer.json()["error"]
    if "could not be started" in error["message"]:
        pytest.skip("no sandbox can be started here")
    assert (error["code"], error["message"]) == (
        "session_not_ready",
        "The server was told to stop before this was done.",
    )
    announced, process = start("--port", "0")
    entry = httpx.get(f"{announced['url']}{sandbox}/history/last", trust_env=False, timeout=60).json()
    assert (entry["ending"], entry["code"]) == ("cancelled", "touch begun; sleep 200")


def run_serve(environment, tmp_path, *words, **variables):
    return run(
        ["serve", "--port", "0", "--json", *words],
        text=True,
        env={**environment, **variables},
        cwd=tmp_path,
        timeout=60,
    )


def test_an_address_for_others_is_refused_without_tokens(environment, tmp_path):
    done = run_serve(environment, tmp_path, "--host", "0.0.0.0")
    assert done.returncode == 4
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "not_allowed"
    assert "SKILLYARD_AUTH=token" in error["hint"]


def test_a_store_that_cannot_be_opened_is_named(environment, tmp_path):
    done = run_serve(environment, tmp_path, SKILLYARD_DATABASE_URL="postgresql://127.0.0.1:1/none")
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert json.loads(done.stdout)["error"]["code"] == "unavailable"


def test_a_server_for_others_asks_for_the_token_of_the_settings(start, environment):
    secret = "a-long-and-random-text"
    environment.update(SKILLYARD_AUTH="token", SKILLYARD_ADMIN_TOKEN=secret)
    announced, process = start("--port", "0")
    url = f"{announced['url']}/api/v1/me"
    assert get(url).status_code == 401
    assert get(url, authorization=f"Bearer {secret}").json()["data"]["operator"] is True
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert secret.encode() not in error
    assert b'"status": 401' in error


@pytest.mark.parametrize(("trusted", "statuses"), [("127.0.0.0/8", {401}), ("", {401, 429})])
def test_callers_are_told_apart_by_what_a_trusted_proxy_says(start, environment, trusted, statuses):
    environment.update(
        SKILLYARD_AUTH="token", SKILLYARD_ADMIN_TOKEN="a-long-and-random-text", SKILLYARD_RATE_LIMIT="60"
    )
    environment.update(SKILLYARD_TRUSTED_PROXIES=trusted)
    url = f"{start('--port', '0')[0]['url']}/api/v1/me"
    with httpx.Client(trust_env=False, timeout=60) as client:
        answers = [client.get(url, headers={"x-forwarded-for": f"192.0.2.{number}"}) for number in range(30)]
    assert {answer.status_code for answer in answers} == statuses


def test_a_local_server_keeps_a_log_in_its_home_and_says_where(start, tmp_path):
    announced, process = start("--port", "0")
    assert get(f"{announced['url']}/api/v1/skills/none").status_code == 404
    log = tmp_path / "data" / "logs" / f"server-{announced['url'].rpartition(':')[2]}.jsonl"
    record = tmp_path / "data" / "servers" / f"{announced['url'].rpartition(':')[2]}.json"
    assert json.loads(record.read_text())["url"] == announced["url"]
    (event,) = [json.loads(line) for line in log.read_text().splitlines()]
    assert (event["event"], event["route"], event["status"]) == ("request", "/api/v1/skills/{skill_id}", 404)
    assert (log.stat().st_mode & 0o777, log.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert f"Its log is {log}" in said.decode()
    assert not record.exists()


def test_the_settings_page_has_the_port_that_the_server_was_started_with(start):
    announced, _ = start("--port", "0")
    settings = get(f"{announced['url']}/settings/system.json").json()["data"]["settings"]
    (port,) = [each for each in settings if each["key"] == "port"]
    assert port == {"key": "port", "value": 0, "origin": "--port"}
