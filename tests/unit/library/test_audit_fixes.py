"""Pasting every fix of one project takes no skill away from any agent, in that project or another."""

import os
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from skillyard.errors import SkillyardError
from skillyard.library.audit import audit
from skillyard.library.disk import read_folder
from skillyard.library.roots import Machine
from skillyard.library.switches import Switches

_PERSONAL = (".claude/skills", ".codex/skills", ".agents/skills", ".cursor/skills", ".gemini/skills", ".roo/skills")
_PROJECT = (".claude/skills", ".agents/skills", ".cursor/skills", ".codex/skills")
_ROOTS = (
    *_PERSONAL,
    *(f"{project}/{folder}" for project in ("one", "two") for folder in _PROJECT),
)
_KINDS = ("copy", "copy", "edited", "link", "deep", "README.md", "skill.md", "loose", "outside", "broken", "empty")
_ADDING = frozenset({"deep", "README.md", "skill.md", "loose"})
_CHANGING = ("ln", "mv", "rm", "rmdir", "mkdir", "chmod", "skillyard skill enable")
_ROUNDS = 6


class Placed(NamedTuple):
    root: str
    skill: str
    kind: str


class Off(NamedTuple):
    agent: str
    root: str
    skill: str


HOMES = st.tuples(
    st.lists(
        st.builds(Placed, st.sampled_from(_ROOTS), st.sampled_from(("a", "b", "c")), st.sampled_from(_KINDS)),
        min_size=2,
        max_size=14,
    ),
    st.lists(
        st.builds(
            Off, st.sampled_from(("claude", "codex", "skillyard")), st.sampled_from(_ROOTS), st.sampled_from(("a", "b"))
        ),
        max_size=3,
    ),
    st.booleans(),
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate]
)
@given(HOMES)
def test_pasting_every_fix_takes_no_skill_away_from_any_agent_anywhere(made):
    placed, offs, over_budget = made
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve() / "home"
        _build(home, placed, offs)
        env = {"SLASH_COMMAND_TOOL_CHAR_BUDGET": "1"} if over_budget else {}
        machines = [Machine(home=home, cwd=home / name, env=env) for name in ("one", "two", "elsewhere")]
        switches = Switches(off=tuple(Switches().disable(off.skill).off[0] for off in offs if off.agent == "skillyard"))
        before = _in_force(machines, switches)
        for _ in range(_ROUNDS):
            fixes = _fixes(machines[0], switches)
            for fix in fixes:
                assert all(step.startswith(_CHANGING) for step in fix.split(" && ")), fix
                subprocess.run(fix, shell=True, check=False, cwd=machines[0].cwd, capture_output=True)
            if not fixes:
                break
        after = _in_force(machines, switches)
        lost = {key: found - after[key] for key, found in before.items() if found - after[key]}
        assert not lost


def _fixes(machine: Machine, switches: Switches) -> list[str]:
    report = audit(machine, switches=switches)
    unseen = [item.fix for view in report.agents for item in view.unseen if not item.fix.startswith("skillyard")]
    return list(dict.fromkeys(filter(None, [*(issue.fix for issue in report.issues), *unseen])))


def _in_force(machines: list[Machine], switches: Switches) -> dict[tuple[str, str, str], set[str]]:
    """The contents that each agent has under each id, in each place."""
    found: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for machine in machines:
        for view in audit(machine, switches=switches).agents:
            for entry in view.sees:
                found[machine.cwd.name, view.id, entry.id].add(_digest(Path(entry.location).parent))
    return found


def _digest(folder: Path) -> str:
    try:
        return read_folder(folder).require().digest
    except SkillyardError:
        return str(folder)


def _build(home: Path, placed: list[Placed], offs: list[Off]) -> None:
    for name in ("one", "two", "elsewhere"):
        (home / name / ".git").mkdir(parents=True)
    for agent in (".claude", ".codex", ".cursor", ".gemini", ".roo"):
        (home / agent).mkdir(exist_ok=True)
    for root, shared_id, kind in placed:
        # Claude Code prefers personal skills. What becomes one there by its own file is meant to be one.
        skill = f"new-{shared_id}" if root == ".claude/skills" and kind in _ADDING else shared_id
        if not os.path.lexists(home / root / skill):
            _place(home, home / root / skill, root, kind)
    _switch_off(home, offs)


def _place(home: Path, folder: Path, root: str, kind: str) -> None:
    skill = folder.name
    files = {
        "loose": folder.with_suffix(".md"),
        "deep": folder.parent / "tools" / skill / "SKILL.md",
        "outside": home.parent / "outside" / skill / "SKILL.md",
        "README.md": folder / "README.md",
        "skill.md": folder / "skill.md",
        "copy": folder / "SKILL.md",
        "edited": folder / "SKILL.md",
        "broken": folder / "SKILL.md",
    }
    folder.parent.mkdir(parents=True, exist_ok=True)
    if kind in files:
        files[kind].parent.mkdir(parents=True, exist_ok=True)
        text = f"---\nname: {skill}\ndescription: Does {skill}.\n---\n{root if kind == 'edited' else kind}\n"
        files[kind].write_text("nothing" if kind == "broken" else text)
    others = sorted(path for path in home.glob(f".*/skills/{skill}") if path.is_dir() and path != folder)
    if kind == "outside":
        folder.symlink_to(home.parent / "outside" / skill)
    elif kind == "link" and others:
        folder.symlink_to(os.path.relpath(others[0], folder.parent))
    elif kind == "empty":
        folder.mkdir()


def _switch_off(home: Path, offs: list[Off]) -> None:
    claude = ", ".join(
        f'"{off.skill}": "off"' for off in {off.skill: off for off in offs if off.agent == "claude"}.values()
    )
    (home / ".claude/settings.json").write_text(f'{{"skillOverrides": {{{claude}}}}}')
    rules = (
        f'[[skills.config]]\npath = "{home / off.root / off.skill / "SKILL.md"}"\nenabled = false\n'
        for off in offs
        # Only what is there can have been switched off.
        if off.agent == "codex" and (home / off.root / off.skill / "SKILL.md").exists()
    )
    (home / ".codex/config.toml").write_text("".join(rules))
