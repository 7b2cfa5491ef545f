#!/usr/bin/env python3
"""Replay this skill with values of your own.

Needs Python 3.9 or newer and nothing else. Shell and Python steps are run here, in the current folder. Steps of a
browser are taken by a Skillyard server, which finds the elements again and checks each step: set SKILLYARD_URL and
SKILLYARD_TOKEN. Values never become part of a command or of code.

  python3 scripts/replay.py --var customer=Ada
  echo '{"customer": "Ada", "password": "…"}' | python3 scripts/replay.py --stdin

The value of a secret is read from stdin or from its environment variable (see --list), never from a flag.
Ends with 0 if all went well, 1 if not, 2 for wrong values; prints one line of JSON about it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import traceback
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

FAILED, WRONG = 1, 2
PLAIN = re.compile(r"[\w @.,:+-]*")
PLACEHOLDER = re.compile(r"\{\{([^\W\d]\w{0,63})\}\}")
NUMBERS = {"integer": re.compile(r"[+-]?[0-9]+"), "number": re.compile(r"[+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?")}
DEFAULT_SECONDS = 60.0


class WrongValueError(Exception):
    """Something is wrong with what was given; nothing was run."""


class StepError(Exception):
    """A step, or what must hold after it, failed."""

    def __init__(self, verdict: str, reason: str) -> None:
        super().__init__(reason)
        self.verdict = verdict
        self.reason = reason


class Output(NamedTuple):
    """What a step said, and how it ended."""

    text: str
    code: int


def main() -> int:
    payload = json.loads(Path(__file__).with_name("payload.json").read_text(encoding="utf-8"))
    arguments = _arguments()
    if arguments.list:
        sys.stdout.write(json.dumps(payload["variables"], ensure_ascii=False, indent=2) + "\n")
        return 0
    try:
        values = _values(payload["variables"], arguments)
        if any("run" not in step for step in payload["steps"]):
            return _on_server(payload, values)
        _check_plain(payload, values)
    except WrongValueError as error:
        sys.stderr.write(f"{error}\n")
        return WRONG
    return _replay(payload, values)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--var", action="append", default=[], metavar="NAME=VALUE", help="the value of a variable")
    parser.add_argument("--stdin", action="store_true", help="read values from stdin, as one JSON object")
    parser.add_argument("--list", action="store_true", help="print the variables and stop")
    return parser.parse_args()


def _values(variables: dict[str, Any], arguments: argparse.Namespace) -> dict[str, str]:
    given: dict[str, Any] = {}
    for pair in arguments.var:
        name, equals, value = pair.partition("=")
        if not equals:
            raise WrongValueError(f"--var {name!r} is not of the form NAME=VALUE.")
        if variables.get(name, {}).get("secret"):
            raise WrongValueError(f"{name!r} is a secret: give it by --stdin or {variables[name]['environment']}.")
        given[name] = value
    if arguments.stdin:
        given.update(json.load(sys.stdin))
    unknown = sorted(set(given) - set(variables))
    if unknown:
        raise WrongValueError(f"There is no variable {unknown[0]!r}; there are: {', '.join(variables) or 'none'}.")
    return {name: _value(name, told, given) for name, told in variables.items()}


def _value(name: str, told: dict[str, Any], given: dict[str, Any]) -> str:
    value = given.get(name, os.environ.get(told["environment"], told.get("default")))
    if value is None:
        raise WrongValueError(f"No value is given for {name!r} ({told['type']}): {told['description']}")
    text = json.dumps(value) if isinstance(value, (bool, int, float)) else str(value)
    number = NUMBERS.get(told["type"])
    if number and not number.fullmatch(text):
        raise WrongValueError(f"{name!r} is of the type {told['type']}.")
    if "\0" in text:
        raise WrongValueError(f"{name!r} holds a zero byte.")
    return text


def _check_plain(payload: dict[str, Any], values: dict[str, str]) -> None:
    for step in payload["steps"]:
        for name in step["run"].get("plain", ()):
            if not PLAIN.fullmatch(values[name]):
                raise WrongValueError(f"{name!r} is part of a program: only letters, digits, blanks and @ . , : + - _.")


def _replay(payload: dict[str, Any], values: dict[str, str]) -> int:
    os.environ.update({told["environment"]: values[name] for name, told in payload["variables"].items()})
    context: dict[str, Any] = {"__name__": "__replay__"}
    secrets = {name for name, told in payload["variables"].items() if told.get("secret")}
    shown = {name: f"<{name}>" if name in secrets else value for name, value in values.items()}
    try:
        _check_all(payload.get("preconditions", []), values, shown, Output("", 0), "PRECONDITION_FAIL")
    except StepError as error:
        return _say(error.verdict, None, error.reason)
    output = Output("", 0)
    for index, step in enumerate(payload["steps"]):
        if _is_left_out(step.get("when", ""), payload["variables"], values):
            continue
        try:
            output = _shell(step) if "command" in step["run"] else _python(step, context)
            sys.stderr.write(output.text)
            checks = step.get("postcondition", [])
            if output.code and not any(check["kind"] == "exit_code" for check in checks):
                raise StepError("STEP_FAIL", f"It ended with the code {output.code}.")
            _check_all(checks, values, shown, output, "POSTCONDITION_FAIL")
        except StepError as error:
            return _say(error.verdict, index, error.reason)
    try:
        _check_all(payload.get("postconditions", []), values, shown, output, "POSTCONDITION_FAIL")
    except StepError as error:
        return _say(error.verdict, None, error.reason)
    return _say("PASS", None, "")


def _is_left_out(when: str, variables: dict[str, Any], values: dict[str, str]) -> bool:
    if not when:
        return False
    return not values[when] or (variables[when]["type"] == "boolean" and values[when].lower() == "false")


def _shell(step: dict[str, Any]) -> Output:
    seconds = step.get("timeout", DEFAULT_SECONDS)
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", step["run"]["command"]],
            cwd=step.get("cwd"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise StepError("STEP_FAIL", f"It took longer than {seconds:g} seconds.") from None
    except OSError as error:
        raise StepError("STEP_FAIL", str(error)) from None
    return Output(done.stdout.decode(errors="replace"), done.returncode)


def _python(step: dict[str, Any], context: dict[str, Any]) -> Output:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            exec(compile(step["run"]["code"], "<step>", "exec"), context)  # noqa: S102 -- that is a step
        except BaseException:  # noqa: BLE001 -- whatever it raises
            traceback.print_exc()
            return Output(said.getvalue(), 1)
    return Output(said.getvalue(), 0)


def _check_all(
    checks: list[dict[str, str]], values: dict[str, str], shown: dict[str, str], output: Output, verdict: str
) -> None:
    for check in checks:
        if not _holds(check["kind"], check["value"], values, output):
            raise StepError(verdict, f"This does not hold: {check['kind']} {_filled(check['value'], shown)!r}.")


def _holds(kind: str, value: str, values: dict[str, str], output: Output) -> bool:
    if kind == "output_matches":
        return (
            re.search(_filled(value, {name: re.escape(text) for name, text in values.items()}), output.text) is not None
        )
    text = _filled(value, values)
    if kind == "exit_code":
        return output.code == int(text)
    if kind == "output_contains":
        return text in output.text
    if kind == "file_exists":
        return Path(text).exists()
    if kind == "file_contains":
        path, _, wanted = text.partition("\n")
        return Path(path).is_file() and wanted in Path(path).read_text(encoding="utf-8", errors="replace")
    return False


def _filled(text: str, values: dict[str, str]) -> str:
    return PLACEHOLDER.sub(lambda found: values[found[1]], text)


def _say(verdict: str, step: int | None, reason: str) -> int:
    sys.stdout.write(json.dumps({"verdict": verdict, "step": step, "reason": reason}, ensure_ascii=False) + "\n")
    return 0 if verdict == "PASS" else FAILED


def _on_server(payload: dict[str, Any], values: dict[str, str]) -> int:
    key = payload["skill_key"]
    server = os.environ.get("SKILLYARD_URL", "").rstrip("/")
    if not server:
        shown = ", ".join(f"{name!r}: …" for name in values)
        raise WrongValueError(
            f"This skill has steps that only a Skillyard server takes. Set SKILLYARD_URL and SKILLYARD_TOKEN, or call"
            f" the tool: execute_hybrid_skill(skill_key={key!r}, variables={{{shown}}})."
        )
    if not server.startswith(("http://", "https://")):
        raise WrongValueError("SKILLYARD_URL is no address of http or https.")
    request = urllib.request.Request(  # noqa: S310 -- looked at above
        f"{server}/v1/skills/{urllib.parse.quote(key, safe='')}/run",
        data=json.dumps(_asked(payload["variables"], values)).encode(),
        headers={
            "Content-Type": "application/json",
            "Authorization": f"Bearer {os.environ.get('SKILLYARD_TOKEN', '')}",
        },
    )
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            run = json.load(answer)
    except urllib.error.HTTPError as error:
        sys.stderr.write(error.read().decode(errors="replace") + "\n")
        return FAILED
    except OSError as error:
        sys.stderr.write(f"{server} cannot be reached: {error}\n")
        return FAILED
    return _say(run["verdict"], run.get("step"), run.get("reason") or "")


def _asked(variables: dict[str, Any], values: dict[str, str]) -> dict[str, dict[str, str]]:
    secrets = {name for name, told in variables.items() if told.get("secret")}
    return {
        "variables": {name: value for name, value in values.items() if name not in secrets},
        "secrets": {name: value for name, value in values.items() if name in secrets},
    }


if __name__ == "__main__":
    sys.exit(main())
