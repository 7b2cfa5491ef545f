"""The commands that put right what an audit finds, ready to be pasted into a shell."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from skillyard.library.agents import Agent
from skillyard.skill.limits import SKILL_FILE_NAMES
from skillyard.skill.models import Finding


def check(path: str) -> str:
    """For what only a person can correct: the command that shows every line that is wrong."""
    return shlex.join(["skillyard", "validate", path])


def remove(skill: str, root: Path) -> str:
    """It goes to the trash, so that it can be had back, and a lock that names it forgets it."""
    return shlex.join(["skillyard", "remove", skill, "--root", str(root), "--force", "-y"])


def disable(skill: str, agent: Agent) -> str:
    return shlex.join(["skillyard", "skill", "disable", skill, "-a", agent.id])


def enable(skill: str, agent: Agent) -> str:
    return shlex.join(["skillyard", "skill", "enable", skill, "-a", agent.id])


def compare(one: str, other: str) -> str:
    return shlex.join(["skillyard", "skill", "diff", one, other])


def move(path: str, target: str) -> str:
    return shlex.join(["mv", path, target])


def remove_empty(folder: str) -> str:
    return shlex.join(["rmdir", folder])


def make_folder_for(path: str, target: str) -> str:
    return f"{shlex.join(['mkdir', '-p', str(Path(target).parent)])} && {move(path, target)}"


def link(original: str, at: str, *, free: bool = False) -> str:
    """A relative link, which stays right when home or project move as a whole; `free` when nothing will be there."""
    folder = os.path.dirname(at)  # noqa: PTH120 -- locations are strings
    # From the real folder: `..` in a link counts from where the link really is.
    way = os.path.relpath(os.path.realpath(original), os.path.realpath(folder))
    steps = [["ln", "-s", way, at]]
    if not Path(folder).is_dir():
        steps.insert(0, ["mkdir", "-p", folder])
    elif Path(at).is_dir() and not free:
        # In a folder that is there, `ln` would put the link into it. One that is not empty stops here.
        steps.insert(0, ["rmdir", at])
    return " && ".join(map(shlex.join, steps))


def link_instead(skill: str, root: Path, original: str) -> str:
    """Replace a copy by a link to the folder it is a copy of."""
    return f"{remove(skill, root)} && {link(original, str(root / skill), free=True)}"


def for_problem(location: str, finding: Finding, known_roots: Sequence[str]) -> str:
    """The command for a folder that cannot be a skill."""
    if finding.code == "link-dangling":
        return shlex.join(["rm", location])
    if finding.code == "link-outside":
        return _copy_instead(link_at(Path(location)))
    if finding.code == "link-without-skill":
        return _link_each(Path(location), known_roots)
    if finding.code == "unreadable":
        return shlex.join(["chmod", "-R", "u+rX", location])
    if finding.code == "folder-name-hidden":
        # The name itself cannot be trusted in a command; the listing writes it out.
        return shlex.join(["ls", "-lab", os.path.dirname(location)])  # noqa: PTH120
    if finding.code == "not-a-file":
        return shlex.join(["ls", "-lab", location])
    return check(location)


def link_at(folder: Path) -> Path:
    """The link by which a skill leads elsewhere: its folder, or the skill file in it."""
    files = (folder / name for name in SKILL_FILE_NAMES)
    return next((path for path in (folder, *files) if path.is_symlink()), folder)


def _copy_instead(link: Path) -> str:
    """Replace a link by a copy of what it leads to; one that leads to nothing just goes."""
    copy = link.with_name(f"{link.name}.copy")
    take_away = ["rm", str(link)]
    steps = (["cp", "-rL", str(link), str(copy)], take_away, ["mv", str(copy), str(link)])
    return " && ".join(map(shlex.join, steps if link.exists() else (take_away,)))


def _link_each(link: Path, known_roots: Sequence[str]) -> str:
    """A link to a folder of skills becomes one for each skill, or a copy where that would lead out of all roots."""
    remove_link = shlex.join(["rm", str(link)])
    skills = sorted(file.parent.resolve() for file in link.glob("*/SKILL.md"))
    free = [str(skill) for skill in skills if not os.path.lexists(link.with_name(skill.name))]
    if not free:
        return remove_link
    if all(skill.startswith(tuple(f"{root}/" for root in known_roots)) for skill in free):
        start = os.path.realpath(link.parent)
        place = ["ln", "-s", *(os.path.relpath(skill, start) for skill in free)]
    else:
        place = ["cp", "-RL", *free]
    return f"{remove_link} && {shlex.join([*place, str(link.parent)])}"
