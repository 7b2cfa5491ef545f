#!/usr/bin/env python3
"""Check a sequence of browser steps before it is run or saved.

Needs Python 3.9 or newer and nothing else. Reads one step a line, or JSON: a list of steps, or an object with
`steps`; a step is a text or an object with `cmd`. Steps of other kinds, such as python, are passed over.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

NAVIGATES = {"open", "goto", "navigate", "back", "forward", "reload", "tab", "frame"}
MAY_CHANGE_THE_PAGE = {
    "click",
    "dblclick",
    "press",
    "key",
    "select",
    "check",
    "uncheck",
    "upload",
    "drag",
    "dialog",
}
TYPES = {"fill", "type"}
PROVES = {"get", "is", "snapshot"}

_REF = re.compile(r"@e\d+")
_SECRET = re.compile(
    r"pass(word|wort|code|phrase)?\b|secret|token|api.?key|one.?time|\bpin\b|비밀번호|密码|パスワード",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(r"\{\{[^{}]+\}\}|\$\{?\w+\}?")


class Step(NamedTuple):
    """One step: where it stands, and its words."""

    number: int
    words: list[str]

    @property
    def verb(self) -> str:
        return self.words[0]

    @property
    def action(self) -> str:
        """What is done to an element: `find label Email fill x` fills."""
        if self.verb != "find":
            return self.verb
        return next((word for word in self.words[3:] if word in TYPES | MAY_CHANGE_THE_PAGE), self.verb)

    @property
    def changes_page(self) -> bool:
        return self.verb in NAVIGATES or self.action in MAY_CHANGE_THE_PAGE

    @property
    def proves(self) -> bool:
        return self.verb in PROVES or (self.verb == "wait" and not self.waits_for_time)

    @property
    def waits_for_time(self) -> bool:
        return self.verb == "wait" and any(word.isdigit() for word in self.words[1:2])


class Finding(NamedTuple):
    """What is wrong with a step, and what to do about it."""

    number: int
    code: str
    message: str


class UnreadableStepsError(Exception):
    """What was given is not a sequence of steps."""


def check_steps(steps: list[Step], *, replay: bool = False) -> list[Finding]:
    """Every finding about the steps, in their order. With `replay`, refs are findings themselves."""
    findings: list[Finding] = []
    fresh = False
    unproven: Step | None = None
    for step in steps:
        findings.extend(_step_findings(step, fresh=fresh, replay=replay))
        fresh = step.verb == "snapshot" or (fresh and not step.changes_page)
        if step.changes_page or step.action in TYPES:
            unproven = step
        elif step.proves:
            unproven = None
    if unproven is not None:
        findings.append(Finding(unproven.number, "no-proof", "read something after it that only success shows"))
    return findings


def _step_findings(step: Step, *, fresh: bool, replay: bool) -> Iterator[Finding]:
    refs = _REF.findall(" ".join(step.words[1:3]))
    if refs and not fresh:
        yield Finding(step.number, "stale-ref", f"{refs[0]} needs a `snapshot -i` after the last change")
    if refs and replay:
        message = f"{refs[0]} is another element next time; use `find role ... --name` or `find label`"
        yield Finding(step.number, "replayed-ref", message)
    if step.action in TYPES and _types_a_literal_secret(step):
        yield Finding(step.number, "literal-secret", "write a placeholder such as {{password}} instead")
    if step.waits_for_time:
        yield Finding(step.number, "fixed-wait", "wait for a text, a URL or an element instead")


def _types_a_literal_secret(step: Step) -> bool:
    """Whether text is typed into what is called a password or the like, and the text is no placeholder."""
    target, text = " ".join(step.words[1:-1]), step.words[-1]
    return bool(_SECRET.search(target)) and not _PLACEHOLDER.search(text)


def read_steps(text: str) -> list[Step]:
    """The browser steps in a text; raises UnreadableStepsError with the reason if there are none."""
    if text.lstrip().startswith(("[", "{")):
        commands = _commands(json.loads(text))
    else:
        commands = list(enumerate(text.splitlines(), start=1))
    steps: list[Step] = []
    for number, command in commands:
        try:
            words = shlex.split(command, comments=True)
        except ValueError as error:
            raise UnreadableStepsError(f"step {number}: {error}") from None
        if words[:1] == ["agent-browser"]:
            words = words[1:]
        while words and words[0].startswith("--"):
            words = words[2:] if words[0] == "--session" else words[1:]
        if words:
            steps.append(Step(number, words))
    return steps


def _commands(document: Any) -> list[tuple[int, str]]:  # noqa: ANN401 - any JSON
    items: Any = cast("dict[str, Any]", document).get("steps") if isinstance(document, dict) else document
    if not isinstance(items, list):
        raise UnreadableStepsError("expected a list of steps, or an object with `steps`")
    commands: list[tuple[int, str]] = []
    for number, item in enumerate(cast("list[Any]", items), start=1):
        if isinstance(item, str):
            commands.append((number, item))
        elif isinstance(item, dict):
            step = cast("dict[str, Any]", item)
            if step.get("type", "browser") == "browser":
                commands.append((number, str(step.get("cmd", ""))))
        else:
            raise UnreadableStepsError(f"step {number}: expected a text or an object")
    return commands


def main() -> int:
    """Check the file named on the command line."""
    parser = argparse.ArgumentParser(
        description="Check browser steps before they are run or saved.",
        epilog="Exit codes: 0 nothing found, 1 findings (one a line), 2 wrong usage or an unreadable file.",
    )
    parser.add_argument("file", help="a file with the steps, or - for standard input")
    parser.add_argument("--replay", action="store_true", help="the steps are to be used again: refs are findings")
    arguments = parser.parse_args()
    try:
        data = sys.stdin.buffer.read() if arguments.file == "-" else Path(arguments.file).read_bytes()
        steps = read_steps(data.decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError, UnreadableStepsError) as error:
        print(f"cannot read the steps: {error}", file=sys.stderr)
        return 2
    findings = check_steps(steps, replay=arguments.replay)
    for finding in findings:
        print(f"step {finding.number}: {finding.code}: {finding.message}")
    print(f"{len(steps)} steps, {len(findings)} findings", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
