"""A sample home as messy as real ones: what several agents and installers leave behind in a year."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skillyard.library.roots import Machine
from skillyard.skill.write import generate_skill_md

_HANDBOOK: Final = {
    "joining and leaving": "first days, accounts, laptops, door keys, mentors, farewells, handovers",
    "working hours": "leave, sick days, time zones, on-call weeks, quiet mornings, part-time work, travel",
    "writing code": "branches, reviews, tests, pairing, naming, dependencies, generated code, licences",
    "releases": "release notes, version numbers, freezes, hotfixes, announcements, rollbacks, changelogs",
    "incidents": "alerts, severities, status pages, war rooms, postmortems, apologies, follow-ups",
    "customers": "complaints, refunds, interviews, feature requests, contracts, discounts, renewals",
    "data": "backups, retention, exports, personal data, test data, dashboards, access requests",
    "money": "expenses, invoices, budgets, subscriptions, company cards, gifts, approvals, taxes",
    "meetings": "agendas, minutes, decisions, retrospectives, demos, planning days, offsites, guests",
}
"""Nine chapters, each as a skill: enough long descriptions to overrun the list of skills in a prompt."""
_ASKED: Final = (
    "who decides on {}",
    "what has to be ready for {}",
    "what was agreed about {}",
    "what to do when something goes wrong with {}",
    "whom to tell about {}",
    "where to write down {}",
    "what newcomers get wrong about {}",
    "which tools we use for {}",
)

_BROKEN: Final = """\
---
name: invoice-check
description: Checks invoices against orders and lists what does not match. Use it for invoices.

# Check an invoice

1. Read the order number on the invoice.
2. Compare every line with the order.
"""

UNUSED: Final = ("handbook-7", "handbook-8")
"""What the person of the sample never asks an agent about."""
_MARK: Final = "demonstration"
NEXT_COMMANDS: Final = {
    "look": "skillyard",
    "publish": "skillyard publish --recursive ~/.claude/skills",
    "serve": "skillyard serve",
}
"""What to do next with one's own skills, by what each is for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoHome:
    """Where the sample is, and the machine it pretends to be."""

    folder: Path
    yard: Path
    """The home of the yard that the story goes on in."""

    @property
    def person(self) -> Path:
        return self.folder / "home"

    @property
    def project(self) -> Path:
        return self.folder / "home/shop"

    @property
    def machine(self) -> Machine:
        return Machine(home=self.person, cwd=self.project, env={})

    @property
    def broken_file(self) -> Path:
        return self.person / ".claude/skills/invoice-check/SKILL.md"


def build_demo_home(folder: Path, *, yard: Path | None = None) -> DemoHome:
    """Make the sample: a broken skill, a shadowed one, copies, a dangling link, too much text, a wrong name."""
    home = DemoHome(folder=folder, yard=yard or folder / "yard")
    if yard is None:
        home.yard.mkdir(mode=0o700, parents=True)
        (home.yard / _MARK).touch()
    claude, codex, cursor = (home.person / name for name in (".claude/skills", ".agents/skills", ".cursor/skills"))
    (home.person / ".codex").mkdir(parents=True)
    (home.project / ".git").mkdir(parents=True)
    _skill(claude, "release-notes", "Writes release notes from merged changes.", "Group changes by who notices them.")
    _skill(codex, "release-notes", "Writes release notes from merged changes.", "Group changes by who notices them.")
    _skill(claude, "deploy", "Deploys the shop. Use it for every release.", "Run the checks, then `make deploy`.")
    _skill(home.project / ".claude/skills", "deploy", "Deploys the shop.", "Copy the files to the server.")
    for number, (title, matters) in enumerate(_HANDBOOK.items(), start=1):
        _skill(claude, f"handbook-{number}", _chapter(number, title, matters), "Answer from the handbook.")
    _broken(home)
    (claude / "meeting-minutes").symlink_to(codex / "meeting-minutes-2024")
    misnamed = cursor / "sql-review"
    misnamed.mkdir(parents=True)
    text = generate_skill_md("sql-review", "Reviews SQL for slow queries.", "Look for scans of whole tables.\n")
    (misnamed / "README.md").write_text(text, encoding="utf-8")
    return home


def is_demo_yard(home: Path) -> bool:
    """Whether this yard's home is the demonstration's own: nothing of anybody's belongs there."""
    return (home / _MARK).exists()


def repair_broken(home: DemoHome) -> None:
    """What a person does in an editor: close the frontmatter."""
    head, _, body = _BROKEN.partition("\n\n")
    home.broken_file.write_text(f"{head}\n---\n\n{body}", encoding="utf-8")


def _chapter(number: int, title: str, matters: str) -> str:
    """What such a chapter says of itself: too much."""
    asked = [question.format(matters) for question in _ASKED]
    return f"Chapter {number} of the team's handbook: {title}. Use it when someone asks {', or '.join(asked)}."


def _broken(home: DemoHome) -> None:
    home.broken_file.parent.mkdir(parents=True)
    home.broken_file.write_text(_BROKEN, encoding="utf-8")


def _skill(root: Path, name: str, description: str, body: str) -> None:
    folder = root / name
    folder.mkdir(parents=True)
    text = generate_skill_md(name, description, f"# {name.replace('-', ' ').capitalize()}\n\n{body}\n")
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
