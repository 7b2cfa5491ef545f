"""The files of a new skill: valid at once, and a guide to what belongs where."""

import json
from collections.abc import Collection
from typing import Final

from skillyard.errors import InputError, UsageError
from skillyard.skill.bundle import Bundle, BundleFile
from skillyard.skill.document import parse
from skillyard.skill.models import Profile, Severity
from skillyard.skill.names import require_name
from skillyard.skill.write import render_skill_md

PARTS: Final = ("scripts", "references", "assets", "evals")
"""What a skill may start with beside its `SKILL.md`, in the order in which the text mentions it."""

_DESCRIPTION: Final = (
    "TODO: say what {name} does and when to use it, in the words a user would type: tasks, file types, names of "
    "tools. Say also what it is not for."
)

_INTRODUCTION: Final = """\

# {title}

TODO: one paragraph on the result this skill leads to, and what goes wrong without it.

## Steps

1. TODO: the first thing to do, as an instruction. Say why where the reason is not obvious.
"""

_STEPS: Final = {
    "scripts": "Run `scripts/summarize.py FILE` for what must come out the same every time.\n",
    "references": "When the input is refused, read `references/errors.md`. Say *when* to read each file like this.\n",
    "assets": "Start the result from `assets/report.md`.\n",
}

_CONCLUSION: Final = """\
{number}. Check the result before handing it over: TODO, what must be true of it and how to see that.

## Pitfalls

- TODO: a mistake that was really made, and what to do instead. Add one after every correction.
"""

_SCRIPT: Final = '''\
#!/usr/bin/env python3
"""Count the lines, words and bytes of a file. TODO: replace this with what your skill has to compute."""

import argparse
import json
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(description="Count the lines, words and bytes of a file, as JSON.")
    parser.add_argument("file", type=Path, help="the file to read")
    path = parser.parse_args().file
    try:
        data = path.read_bytes()
    except OSError as error:
        print(f"cannot read {path}: {error.strerror}; give the path of a file", file=sys.stderr)
        return 1
    counts = {"lines": len(data.splitlines()), "words": len(data.split()), "bytes": len(data)}
    print(json.dumps({"file": str(path), **counts}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''

_REFERENCE: Final = """\
# Errors

Read this when the input is refused. TODO: replace it with detail that only some tasks need.

| Message | Cause | What to do |
|---|---|---|
| cannot read FILE | the path is wrong, or not yours to read | list the folder, then ask for the right path |
"""

_ASSET: Final = """\
# Report

**Result:** one sentence with the number that matters.

| Item | Value | Checked how |
|---|---|---|
|  |  |  |
"""


def scaffold(name: str, *, description: str = "", with_: Collection[str] = ()) -> Bundle:
    """The files of a new skill, with the parts asked for. Nothing is written; see `write_folder`."""
    require_name(name)
    unknown = sorted(set(with_) - set(PARTS))
    if unknown:
        raise UsageError(
            f"There is no part {unknown[0]!r}.",
            hint=f"The parts are: {', '.join(PARTS)}.",
            details={"field": "with", "value": unknown[0]},
        )
    skill_md = _skill_md(name, description.strip() or _DESCRIPTION.format(name=name), with_)
    files = {
        "scripts": BundleFile("scripts/summarize.py", _SCRIPT.encode(), executable=True),
        "references": BundleFile("references/errors.md", _REFERENCE.encode()),
        "assets": BundleFile("assets/report.md", _ASSET.encode()),
        "evals": BundleFile("evals/evals.json", _evals(name).encode()),
    }
    return Bundle([BundleFile("SKILL.md", skill_md), *(files[part] for part in PARTS if part in with_)])


def _skill_md(name: str, description: str, parts: Collection[str]) -> bytes:
    steps = [_STEPS[part] for part in _STEPS if part in parts]
    body = "".join(
        [
            _INTRODUCTION.format(title=name.replace("-", " ").capitalize()),
            *(f"{number}. {step}" for number, step in enumerate(steps, start=2)),
            _CONCLUSION.format(number=len(steps) + 2),
        ]
    )
    data = render_skill_md({"name": name, "description": description}, body).encode()
    for finding in parse(data, folder=name, profile=Profile.STRICT).findings:
        if finding.severity is Severity.ERROR:
            raise InputError(
                finding.message,
                hint=finding.fix,
                details={"field": finding.field, "findings": [finding.as_dict()]},
            )
    return data


def _evals(name: str) -> str:
    """One test case in the common form; a prompt as a person types it and facts that are true or false."""
    case = {
        "id": 1,
        "prompt": "TODO: a real request, as a person types it",
        "expected_output": "TODO: what a right result is, in a sentence or two",
        "assertions": ["TODO: one fact that can be seen in the result, and that is missing without the skill"],
    }
    return json.dumps({"skill_name": name, "evals": [case]}, indent=2, ensure_ascii=False) + "\n"
