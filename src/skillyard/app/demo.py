"""The demonstration: a messy sample home, put right by the audit's own commands and a person's choices."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from skillyard.app.demo_home import UNUSED, DemoHome, repair_broken
from skillyard.errors import SkillyardError
from skillyard.library.audit import OVER_BUDGET, audit
from skillyard.library.audit_model import AuditReport, Issue, Reason
from skillyard.skill.models import Severity

_OWN: Final = "skillyard"
_KEPT_VARIABLES: Final = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR", "PYTHONPATH")


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One command that was run, because of one issue."""

    issue: Issue
    command: str
    exit_code: int
    output: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "issue": self.issue.as_dict(),
            "command": self.command,
            "exit_code": self.exit_code,
            "output": self.output,
        }


def look(home: DemoHome) -> AuditReport:
    """The audit of the sample, by its own rules: no setting of this machine counts."""
    return audit(home.machine)


def put_right(home: DemoHome) -> Iterator[Step]:
    """Fix the first issue and audit again, until only notes are left."""
    tried: set[Issue] = set()
    while issues := [issue for issue in look(home).issues if issue.severity is not Severity.INFO]:
        issue = issues[0]
        if issue in tried:
            raise SkillyardError(f"This stays: {issue.message}", hint="This is our mistake; please report it.")
        tried.add(issue)
        yield from _fix(home, issue)


def _fix(home: DemoHome, issue: Issue) -> Iterator[Step]:
    for command in filter(None, (issue.see, *issue.fix.split(" && "))):
        yield _run(home, issue, shlex.split(command))
    if issue.code == Reason.BROKEN:
        repair_broken(home)
        edit = f"edit {shlex.quote(str(home.broken_file))}"
        yield Step(issue=issue, command=edit, exit_code=0, output="A line --- now closes the frontmatter.\n")
    elif issue.code == "conflict":
        # The audit shows what differs; which one stays is for a person to say, who knows who needs it.
        root = home.project / ".claude/skills"
        yield _run(home, issue, [_OWN, "remove", issue.skill, "--root", str(root), "--force", "-y"])
    elif issue.code == OVER_BUDGET:
        # So is what an agent can do without.
        yield _run(home, issue, [_OWN, "skill", "disable", *UNUSED, "-a", *issue.agents])


def _run(home: DemoHome, issue: Issue, words: list[str]) -> Step:
    program = [sys.executable, "-m", _OWN, *words[1:]] if words[0] == _OWN else words
    done = subprocess.run(
        program,
        cwd=home.project,
        env=_environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    output = done.stdout.decode("utf-8", "replace")
    return Step(issue=issue, command=shlex.join(words), exit_code=done.returncode, output=output)


def _environment(home: DemoHome) -> dict[str, str]:
    """Nothing of this machine but where programs are: the commands must not reach the real home."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    return {
        **kept,
        "HOME": str(home.person),
        "SKILLYARD_HOME": str(home.folder / "data"),
        "SKILLYARD_CONFIG_DIR": str(home.folder / "config"),
    }
