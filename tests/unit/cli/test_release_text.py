"""What `skillyard release` prints, from answers of a yard."""

import io
import sys

import pytest

from skillyard.cli.release_health import _print_health
from skillyard.cli.release_text import place_and_reason, print_payload, print_runs, print_steps
from skillyard.cli.terminal import console_on

STEP = {
    "index": 0,
    "type": "shell",
    "text": "sh order.sh --quantity {{quantity}}",
    "success": True,
    "output": "done\n",
    "error": "",
    "exit_code": 0,
    "milliseconds": 12,
    "recovered": "",
}
RUN = {
    "id": "run-000000000001",
    "number": 0,
    "verdict": "PASS",
    "step": None,
    "reason": "",
    "steps": [STEP],
    "total_steps": 1,
    "milliseconds": 1234,
}
FAILED = {**RUN, "number": 1, "verdict": "STEP_FAIL", "step": 0, "reason": "There is no\nbutton.", "total_steps": 3}
HEALTH = {
    "release_id": "sr-000000000001",
    "skill_key": "order-tea",
    "stage": "canary",
    "window_start_at": "2026-05-20T12:00:00Z",
    "window_end_at": "2026-05-21T12:00:00Z",
    "window_complete": False,
    "samples": 20,
    "success_rate": 0.8,
    "p95_duration": 900,
    "baseline_success_rate": 1.0,
    "baseline_samples": 100,
    "healthy": True,
    "should_rollback": False,
    "rollback_reasons": [],
    "decision": "wait",
    "reason": "20 of at least 30 runs.",
    "bounds": {"canary": [0.5, 0.95], "stable": [0.96, 1.0]},
    "runs": [{"passed": True}] * 16 + [{"passed": False}] * 4,
}


@pytest.fixture
def printed(capsys):
    def _printed(function, *arguments):
        function(console_on(sys.stdout), *arguments)
        return capsys.readouterr().out

    return _printed


def test_a_run_says_where_and_why_it_failed(printed):
    lines = printed(print_runs, [RUN, FAILED]).splitlines()
    assert lines[0].split() == ["run", "1", "✓", "PASS", "1.2", "s"]
    assert lines[1].split()[:4] == ["run", "2", "✗", "STEP_FAIL"]
    assert lines[1].endswith("step 1 of 3: There is no button.")
    assert place_and_reason(RUN) == ""


def test_steps_that_were_not_taken_are_counted(printed):
    out = printed(print_steps, {**FAILED, "steps": [{**STEP, "success": False, "error": "no such file"}]})
    assert "✗  1" in out
    assert "2 more steps not taken" in out
    assert out.endswith("no such file\n")


def test_a_payload_shows_variables_secrets_and_what_steps_act_on(printed):
    payload = {
        "kind": "browser",
        "variables": {"customer": {"type": "string", "default": "Ada"}, "password": {"type": "string", "secret": True}},
        "steps": [
            {"type": "browser", "cmd": 'fill @e1 "{{customer}}"', "element": {"role": "textbox", "name": "Customer"}},
            {"type": "shell", "cmd": "true", "when": "customer"},
            {"type": "python", "code": "print(1)\nprint(2)"},
        ],
    }
    out = printed(print_payload, payload)
    assert ["customer", "string", "=", "Ada"] in [line.split() for line in out.splitlines()]
    assert ["password", "secret"] in [line.split() for line in out.splitlines()]
    assert 'fill @e1 "{{customer}}"' in out
    assert "textbox “Customer”" in out
    assert "only if customer is given" in out
    assert "print(1) print(2)" in out


@pytest.mark.parametrize("payload", [None, [], ["open about:blank"], {"anything": 1}])
def test_a_payload_of_another_kind_is_no_trouble(printed, payload):
    assert printed(print_payload, payload) == ""


def test_health_is_drawn_on_one_scale(printed):
    lines = printed(_print_health, HEALTH).splitlines()
    scale = next(line for line in lines if line.strip().startswith("0 %"))
    this = next(line for line in lines if line.startswith("this release"))
    stable = next(line for line in lines if line.startswith("stable"))
    start = scale.index("0 %")
    assert this.index("●") == start + 32
    assert this.index("━") == start + 20
    assert stable.index("●") == start + 40
    assert "80 %" in this
    assert "50 % to 95 %" in this
    assert "the last 20 runs, 4 failed" in "\n".join(lines)
    assert lines[-1] == "… It is being watched: 20 of at least 30 runs."


def test_a_release_that_does_badly_is_told_with_its_reasons(printed):
    bad = {**HEALTH, "should_rollback": True, "rollback_reasons": ["It fails more often than the stable one."]}
    assert printed(_print_health, bad).endswith("rolled back: It fails more often than the stable one.\n")


def test_a_release_without_runs_claims_nothing(printed):
    fresh = {**HEALTH, "samples": 0, "baseline_samples": 0, "bounds": None, "runs": []}
    out = printed(_print_health, fresh)
    assert "no runs" in out
    assert "●" not in out
    assert "stable" not in out


def test_text_of_a_page_cannot_steer_the_terminal(monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setenv("TERM", "xterm")
    print_steps(console_on(stream), {**RUN, "steps": [{**STEP, "output": "\x1b[2Jwiped"}]})
    assert "\x1b[2J" not in stream.getvalue()


def test_what_agents_told_is_told_apart(printed):
    told = {**RUN, "number": None, "verdict": "TASK_FAIL", "origin": "told", "reason": "No.", "milliseconds": 0}
    assert printed(print_runs, [told]).split() == ["run-000000000001", "✗", "TASK_FAIL", "told", "No."]
    shown = printed(_print_health, {**HEALTH, "told": HEALTH["samples"]})
    assert f"{HEALTH['samples']} of {HEALTH['samples']} runs" in shown
    assert "p95" not in shown
