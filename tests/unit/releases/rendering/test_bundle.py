"""The bundles of learned skills: the same for the same, harmless to the scanner, and their script replays them."""

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace

import pytest

from skillyard.releases.payload_json import parse_payload
from skillyard.releases.rendering.bundle import render_bundle
from skillyard.skill.models import Severity
from skillyard.skill.scan import scan

CANDIDATE = SimpleNamespace(skill_key="save-note", summary="Save a note.", usage_notes=None, skill_type="code")
EVIL = '\'; touch pwned; "$(touch pwned)" `id`\n\\ 日本語'


def noting(**more):
    return parse_payload(
        {
            "kind": "code",
            "variables": {"text": {}, "count": {"type": "integer", "default": 2}, "key": {"secret": True}},
            "steps": [
                {"cmd": "printf %s '{{text}}' > note.txt"},
                {
                    "code": "total = {{count}} + 1\nprint('total', total, len({{key}}), '{{text}}')",
                    "postcondition": {"kind": "output_contains", "value": "{{text}}"},
                },
                {"code": "print(total)", "postcondition": {"kind": "output_matches", "value": "^3$"}},
                {"cmd": "exit 3", "postcondition": {"kind": "exit_code", "value": 3}},
            ],
            "postconditions": [{"kind": "file_contains", "path": "note.txt", "text": "{{text}}"}],
            **more,
        }
    )


@pytest.fixture
def replay(tmp_path):
    def run(payload, *flags, values=None, environment=()):
        place = tmp_path / "skill"
        for file in render_bundle(name="save-note", payload=payload, candidate=CANDIDATE):
            (place / file.path).parent.mkdir(parents=True, exist_ok=True)
            (place / file.path).write_bytes(file.data)
        work = tmp_path / "work"
        work.mkdir(exist_ok=True)
        done = subprocess.run(
            [sys.executable, "-I", place / "scripts" / "replay.py", *flags, *(["--stdin"] if values else [])],
            input=json.dumps(values) if values else "",
            cwd=work,
            env={"PATH": "/usr/bin:/bin", "PYTHONUTF8": "1", **dict(environment)},
            capture_output=True,
            text=True,
            check=False,
        )
        return done, work

    return run


def test_the_same_candidate_has_the_same_digest():
    first, second = (render_bundle(name="save-note", payload=noting(), candidate=CANDIDATE) for _ in range(2))
    assert first.digest == second.digest
    assert [file.path for file in first] == ["SKILL.md", "scripts/payload.json", "scripts/replay.py"]
    assert first.get("scripts/replay.py").executable
    assert parse_payload(json.loads(first.get("scripts/payload.json").data)) == noting()
    other = render_bundle(name="save-note", payload=noting(network=["https://example.org"]), candidate=CANDIDATE)
    assert other.digest != first.digest


def test_the_scanner_has_nothing_grave_to_say():
    browser = parse_payload(
        {
            "kind": "hybrid_sequence",
            "variables": {"user": {}, "password": {"secret": True}},
            "steps": [
                {"type": "browser", "cmd": "open https://shop.example/login"},
                {"type": "browser", "cmd": 'fill @e1 "{{user}}"', "element": {"role": "textbox", "name": "E-mail"}},
                {
                    "type": "browser",
                    "cmd": 'fill @e2 "{{password}}"',
                    "element": {"role": "textbox", "name": "비밀번호"},
                },
                {"type": "shell", "cmd": "mkdir -p out && echo {{user}} > out/user.txt"},
            ],
        }
    )
    for payload in (browser, noting()):
        findings = scan(render_bundle(name="x", payload=payload, candidate=CANDIDATE))
        assert [finding for finding in findings if finding.severity is Severity.ERROR] == []


def test_without_a_payload_there_is_only_the_text():
    bundle = render_bundle(name="x", payload=None, candidate=CANDIDATE)
    assert [file.path for file in bundle] == ["SKILL.md"]


def test_the_script_replays_code_with_any_values(replay):
    done, work = replay(noting(), values={"text": EVIL, "key": "k'1"})
    assert json.loads(done.stdout) == {"verdict": "PASS", "step": None, "reason": ""}, done.stderr
    assert done.returncode == 0
    assert (work / "note.txt").read_text() == EVIL
    assert [path.name for path in work.iterdir()] == ["note.txt"]


@pytest.mark.parametrize(("text", "steps"), [("", ["count.txt"]), ("false", ["count.txt", "text.txt"])])
def test_the_script_leaves_out_what_is_not_wanted(replay, text, steps):
    left = [{"cmd": f"touch {name}.txt", "when": name} for name in ("text", "count", "loud")]
    payload = noting(
        steps=left,
        postconditions=[],
        variables={"text": {}, "count": {"default": "0"}, "loud": {"type": "boolean", "default": "False"}},
    )
    done, work = replay(payload, values={"text": text})
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in work.iterdir()) == steps
    assert (
        "only if `text` is given"
        in render_bundle(name="x", payload=payload, candidate=CANDIDATE).get("SKILL.md").data.decode()
    )


def test_the_script_says_what_failed(replay):
    payload = noting(steps=[{"cmd": "true"}, {"cmd": "echo {{text}} {{key}} {{count}}; exit 5"}])
    done, _ = replay(payload, "--var", "text=a=b", environment={"SKILLYARD_VAR_key": "k"})
    assert done.returncode == 1
    assert json.loads(done.stdout) == {"verdict": "STEP_FAIL", "step": 1, "reason": "It ended with the code 5."}
    assert done.stderr == "a=b k 2\n"


@pytest.mark.parametrize(
    ("flags", "values", "said"),
    [
        (["--var", "key=k"], None, "'key' is a secret"),
        (["--var", "text"], None, "NAME=VALUE"),
        ([], {"text": "a"}, "No value is given for 'key'"),
        ([], {"text": "a", "key": "k", "more": 1}, "There is no variable 'more'"),
        ([], {"text": "a", "key": "k", "count": "many"}, "'count' is of the type integer"),
    ],
)
def test_the_script_refuses_wrong_values(replay, flags, values, said):
    done, work = replay(noting(), *flags, values=values)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert list(work.iterdir()) == []


def test_the_script_takes_only_plain_values_into_programs(replay):
    payload = noting(steps=[{"cmd": "echo a | sed 's/a/{{text}}/'; echo {{key}} {{count}}"}], postconditions=[])
    done, _ = replay(payload, values={"text": "x/e; touch pwned", "key": "k"})
    assert (done.returncode, "'text' is part of a program" in done.stderr) == (2, True)
    payload = noting(
        steps=payload.steps and [{"cmd": "echo a | sed 's/a/{{text}}/'; echo {{key}} {{count}}"}], postconditions=[]
    )
    done, _ = replay(payload, values={"text": "plain", "key": "k"})
    assert done.returncode == 0, done.stderr


BROWSING = {
    "kind": "browser",
    "variables": {"who": {}, "key": {"secret": True}},
    "steps": ["open https://example.org/?q={{who}}", 'fill @e1 "{{key}}"'],
}


def test_browser_steps_are_left_to_a_server(replay):
    asked = []

    class Yard(BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers["Content-Length"])
            asked.append((self.path, self.headers["Authorization"], json.loads(self.rfile.read(length))))
            answer = json.dumps({"verdict": "STEP_FAIL", "step": 1, "reason": "no such field"}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Yard) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        place = {"SKILLYARD_URL": f"http://127.0.0.1:{server.server_port}/", "SKILLYARD_TOKEN": "t"}
        done, _ = replay(parse_payload(BROWSING), values={"who": "ä", "key": "k"}, environment=place)
        thread.join()
    assert asked == [("/v1/skills/save-note/run", "Bearer t", {"variables": {"who": "ä"}, "secrets": {"key": "k"}})]
    assert done.returncode == 1
    assert json.loads(done.stdout) == {"verdict": "STEP_FAIL", "step": 1, "reason": "no such field"}


def test_without_a_server_it_says_what_to_call(replay):
    done, _ = replay(parse_payload(BROWSING), values={"who": "a", "key": "k"})
    assert done.returncode == 2
    assert "execute_hybrid_skill(skill_key='save-note', variables={'who': …, 'key': …})" in done.stderr
