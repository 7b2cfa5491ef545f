"""The commands that put right what an audit finds, ready to be pasted into a shell."""

import shlex
from pathlib import Path

from skillyard.library.agents import Agent, Scope
from skillyard.skill.models import Finding


def check(path: str) -> str:
    """For what only a person can correct: the command that shows every line that is wrong."""
    return shlex.join(["skillyard", "validate", path])


def add(folder: str, agent: Agent, scope: Scope) -> str:
    user = ["--user"] if scope is Scope.USER else []
    return shlex.join(["skillyard", "add", folder, "-a", agent.id, *user])


def remove(skill: str, root: Path) -> str:
    """It goes to the trash, so that it can be had back."""
    return shlex.join(["skillyard", "remove", skill, "--root", str(root), "--force"])


def disable(skill: str, agent: Agent) -> str:
    return shlex.join(["skillyard", "skill", "disable", skill, "-a", agent.id])


def enable(skill: str, agent: Agent) -> str:
    return shlex.join(["skillyard", "skill", "enable", skill, "-a", agent.id])


def compare(one: str, other: str) -> str:
    return shlex.join(["skillyard", "skill", "diff", one, other])


def move(path: str, target: str) -> str:
    return shlex.join(["mv", path, target])


def make_folder_for(path: str, target: str) -> str:
    return f"{shlex.join(['mkdir', '-p', str(Path(target).parent)])} && {move(path, target)}"


def link_instead(copy: str, original: str) -> str:
    """Replace a copy by a link to the folder it is a copy of."""
    return f"{shlex.join(['rm', '-r', copy])} && {shlex.join(['ln', '-s', original, copy])}"


def for_problem(location: str, finding: Finding) -> str:
    """The command for a folder that cannot be a skill."""
    if finding.code == "link-dangling":
        return shlex.join(["rm", location])
    if finding.code == "link-outside":
        copy = f"{location}.copy"
        steps = (["cp", "-rL", location, copy], ["rm", location], ["mv", copy, location])
        return " && ".join(map(shlex.join, steps))
    if finding.code == "link-without-skill":
        return _link_each(location)
    if finding.code == "unreadable":
        return shlex.join(["chmod", "-R", "u+rX", location])
    if finding.code in {"folder-name-hidden", "not-a-file"}:
        return shlex.join(["ls", "-lab", location])
    return check(location)


def _link_each(location: str) -> str:
    """A link to a folder of skills becomes a link for each skill in it."""
    link = Path(location)
    remove_link = shlex.join(["rm", location])
    if not any(link.glob("*/SKILL.md")):
        return remove_link
    links = f"ln -s {shlex.quote(str(link.resolve()))}/* {shlex.quote(str(link.parent))}"
    return f"{remove_link} && {links}"
