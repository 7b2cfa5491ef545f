"""`skillyard skill enable` and `skillyard skill disable`."""

from pathlib import Path
from typing import Annotated

import typer

from skillyard.app.switching import Switching, switch_for_agent, switch_skills
from skillyard.cli.output import Answer
from skillyard.cli.safe_text import inline
from skillyard.config.load import load_settings
from skillyard.errors import UsageError

Skills = Annotated[
    list[str], typer.Argument(metavar="SKILL", help="Ids or names, or patterns such as 'team-*' for several.")
]
Root = Annotated[Path | None, typer.Option("--root", metavar="DIR", help="Only the one in this folder.")]
Agent = Annotated[str | None, typer.Option("--agent", "-a", metavar="NAME", help="In this agent's own settings.")]


def enable(skill: Skills, *, root: Root = None, agent: Agent = None) -> Answer:
    """Let agents see skills again."""
    return _switch(skill, on=True, root=root, agent=agent)


def disable(skill: Skills, *, root: Root = None, agent: Agent = None) -> Answer:
    """Hide skills from agents without moving them.

    Without an option they are hidden in everything that Skillyard lists or hands to agents. With --agent the
    agent's own settings are changed, for the agents that have such a switch.
    """
    return _switch(skill, on=False, root=root, agent=agent)


def _switch(wanted: list[str], *, on: bool, root: Path | None, agent: str | None) -> Answer:
    if root and agent:
        raise UsageError("A folder and an agent cannot be named together.", hint="Use --root or --agent.")
    settings = load_settings()
    done = (
        switch_for_agent(settings, wanted, agent, on=on) if agent else switch_skills(settings, wanted, on=on, root=root)
    )
    return Answer(
        document={
            "skills": list(done.skills),
            "enabled": done.on,
            "where": done.where,
            "files": [str(file) for file in done.files],
            "readers": list(done.readers),
        },
        text=lambda console: console.print(_sentence(done, in_skillyard=not agent), soft_wrap=True),
    )


def _sentence(done: Switching, *, in_skillyard: bool) -> str:
    state = f"{'on' if done.on else 'off'}{' in Skillyard' if in_skillyard else ''} ({done.where})"
    skills = inline(", ".join(done.skills))
    was, now = ("was", "is") if len(done.skills) == 1 else ("were", "are")
    if not done.files:
        return f"{skills} {was} {state} already.{_still_read(done)}"
    return f"{skills} {now} {state}, written in {', '.join(map(str, done.files))}{_still_read(done)}"


def _still_read(done: Switching) -> str:
    if done.on or not done.readers:
        return ""
    its, it = ("its folder", "it") if len(done.skills) == 1 else ("the folders", "them")
    return f"\nThese agents read {its} directly and still see {it}: {', '.join(done.readers)}."
