"""The commands that fix what an audit finds, ready to be pasted into a shell.

None of them takes a skill away from an agent, here or in a project that this audit cannot see. So none removes,
replaces, renames or switches off what an agent may read; a person decides on that. `docs/library.md` promises it.
"""

import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from skillyard.command_text import command_text
from skillyard.library.agents import AGENTS, Agent
from skillyard.library.audit_model import Remedy
from skillyard.skill.library import Problem

_FOLLOWERS = frozenset(agent.id for agent in AGENTS if agent.follows_links)


def check(path: str) -> str:
    """For what only a person can correct: the command that shows every line that is wrong."""
    return command_text("validate", path)


def enable(skill: str, agent: Agent) -> str:
    return command_text("skill enable", skill, options=["-a", agent.id])


def compare(one: str, other: str) -> str:
    return command_text("skill diff", one, other)


def scan(path: str) -> str:
    return command_text("skill scan", path)


def rename_file(path: str, target: str) -> str:
    """Never replaces an existing file."""
    return shlex.join(["mv", "-n", path, target])


def remove_empty(folder: str) -> str:
    return shlex.join(["rmdir", folder])


def make_folder_for(path: str, target: str) -> str:
    return f"{shlex.join(['mkdir', '-p', str(Path(target).parent)])} && {rename_file(path, target)}"


def link(original: str, at: str) -> str:
    """A relative link, which stays right when home or project move as a whole."""
    folder = os.path.dirname(at)  # noqa: PTH120 -- locations are strings
    # From the real folder: `..` in a link counts from where the link really is.
    way = os.path.relpath(os.path.realpath(original), os.path.realpath(folder))
    steps = [["ln", "-s", way, at]]
    if not Path(folder).is_dir():
        steps.insert(0, ["mkdir", "-p", folder])
    elif Path(at).is_dir():
        # In a folder that is there, `ln` would put the link into it. One that is not empty stops here.
        steps.insert(0, ["rmdir", at])
    return " && ".join(map(shlex.join, steps))


def for_problem(
    problem: Problem, known_roots: Sequence[str], readers: Sequence[str], is_free: Callable[[str, str], bool]
) -> Remedy:
    """What can be done about a folder that cannot be a skill.

    `readers` are the agents that read its root; `is_free` says whether a skill of that id, in that real folder, would
    hide no other.
    """
    location, finding = problem.location, problem.findings[0]
    if finding.code == "link-dangling":
        return Remedy(fix=shlex.join(["rm", location]))
    if finding.code == "link-outside":
        return Remedy(
            advice="Copy the folder here, or name the folder that holds it in the setting `roots`, if Skillyard is "
            "to read it too."
        )
    if finding.code == "link-without-skill":
        return _link_each(Path(location), known_roots, readers, is_free)
    if finding.code == "unreadable":
        return Remedy(fix=shlex.join(["chmod", "-R", "u+rX", location]) if is_free(problem.id, "") else "")
    if finding.code == "folder-name-hidden":
        # The name itself cannot be trusted in a command; the listing writes it out.
        return Remedy(see=shlex.join(["ls", "-lab", os.path.dirname(location)]), advice=finding.fix)  # noqa: PTH120
    if finding.code == "not-a-file":
        return Remedy(see=shlex.join(["ls", "-lab", location]), advice=finding.fix)
    return Remedy(see=check(location))


def skills_behind(link: Path) -> list[Path]:
    """The skill folders in the folder that a link leads to."""
    return sorted(file.parent for file in link.glob("*/SKILL.md"))


def _link_each(
    link: Path, known_roots: Sequence[str], readers: Sequence[str], is_free: Callable[[str, str], bool]
) -> Remedy:
    """A link to a folder of skills becomes one link for each skill, if no agent reads them through it."""
    skills = [str(folder.resolve()) for folder in skills_behind(link)]
    if not skills:
        return Remedy(advice="Link a skill's own folder, or remove the link if nothing else uses it.")
    in_roots = all(skill.startswith(tuple(f"{root}/" for root in known_roots)) for skill in skills)
    new = all(
        is_free(Path(skill).name, skill) and not os.path.lexists(link.with_name(Path(skill).name)) for skill in skills
    )
    if not in_roots or not new or not _FOLLOWERS.isdisjoint(readers):
        return Remedy(advice="Put a link to each skill, or a copy of it, beside this link.")
    start = os.path.realpath(link.parent)
    links = ["ln", "-s", *(os.path.relpath(skill, start) for skill in skills), str(link.parent)]
    return Remedy(fix=f"{shlex.join(['rm', str(link)])} && {shlex.join(links)}")
