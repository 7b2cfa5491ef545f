"""`skillyard registry agents` and `apply`: which agent gets which skills."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillyard.cli.options import DryRun, Token
from skillyard.cli.output import Answer
from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.text import BAD, FAINT, GOOD, print_rows, styled
from skillyard.cli.yard import Name, Server, Why, yard_client
from skillyard.library.regular import read_regular
from skillyard.skill.limits import MIB

if TYPE_CHECKING:
    from rich.console import Console

Agent = Annotated[str, typer.Argument(metavar="AGENT", help="The agent's id.")]
MaybeAgent = Annotated[str | None, typer.Option("--agent", "-a", metavar="ID", help="This agent; default: all.")]
_SIGNS = {"create": ("+", GOOD), "attach": ("+", GOOD), "update": ("~", "yellow"), "detach": ("-", BAD)}


def list_agents(*, server: Server = None, token: Token = None) -> Answer:
    """List the agents."""
    with yard_client(server, token) as client:
        found = client.agents()
    rows = [(styled((inline(one["id"]), "bold")), inline(one["name"]), one_line(one["role"])) for one in found]
    return Answer(
        document={"agents": found},
        text=lambda console: print_rows(console, rows),
        remarks=[] if found else ["There are no agents yet. Declare them: skillyard registry apply agents.toml"],
    )


def create_agent(
    agent: Agent,
    *,
    name: Annotated[str | None, typer.Option("--name", metavar="TEXT", help="Its name; default: the id.")] = None,
    role: Annotated[str, typer.Option("--role", metavar="TEXT", help="What it does.")] = "",
    goal: Annotated[str, typer.Option("--goal", metavar="TEXT", help="What it should achieve.")] = "",
    reason: Why = "",
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Add an agent."""
    fields = {"id": agent, "name": name or agent, "role": role, "goal": goal}
    with yard_client(server, token) as client:
        made = client.create_agent(fields, reason=reason)
    return Answer(document=made, text=lambda console: console.print(f"Created the agent {inline(made['id'])}."))


def delete_agent(agent: Agent, *, reason: Why = "", server: Server = None, token: Token = None) -> Answer:
    """Delete an agent.

    Undoing brings it back, with its skills.
    """
    with yard_client(server, token) as client:
        client.delete_agent(agent, reason=reason)
    return Answer(document={"id": agent}, text=lambda console: console.print(f"Deleted the agent {inline(agent)}."))


def agent_skills(
    agent: Annotated[str | None, typer.Argument(metavar="AGENT", help="The agent's id; default: every agent.")] = None,
    *,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """List the skills an agent gets, and why."""
    with yard_client(server, token) as client:
        found = client.agent_skills(agent)
    return Answer(
        document=found,
        text=lambda console: _print_skills(console, found),
        remarks=[] if found["attached"] else [f"Nothing is attached to {agent or 'every agent'}."],
    )


def attach(
    name: Name,
    *,
    agent: MaybeAgent = None,
    version: Annotated[str, typer.Option("--version", metavar="X.Y.Z", help="A version, tag or range.")] = "",
    reason: Why = "",
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Attach a skill to an agent, or to all."""
    with yard_client(server, token) as client:
        made = client.attach(name, agent, version=version, reason=reason)
    whom = agent or "every agent"
    return Answer(
        document=made, text=lambda console: console.print(f"{inline(made['full_name'])} is attached to {inline(whom)}.")
    )


def detach(
    name: Name, *, agent: MaybeAgent = None, reason: Why = "", server: Server = None, token: Token = None
) -> Answer:
    """Detach a skill from an agent, or from all."""
    with yard_client(server, token) as client:
        client.detach(name, agent, reason=reason)
    whom = agent or "every agent"
    return Answer(
        document={"skill": name, "agent": agent},
        text=lambda console: console.print(f"{inline(name)} is no longer attached to {inline(whom)}."),
    )


def apply(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="agents.toml, or the same as JSON.")],
    *,
    dry_run: DryRun = False,
    reason: Why = "",
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Create agents and attachments from a file.

    Agents that it does not name stay as they are.
    """
    from skillyard.identity.agent_file import read_agents_file  # noqa: PLC0415 -- `--help` needs no database

    text = read_regular(str(file), MIB).decode("utf-8", "replace")
    declaration = read_agents_file(text, filename=file.name).as_dict()
    with yard_client(server, token) as client:
        plan = client.apply_agents(declaration, dry_run=dry_run, reason=reason)
    return Answer(
        document=plan,
        text=lambda console: _print_plan(console, plan),
        remarks=[_remark(plan)] if dry_run or not plan["steps"] else [],
    )


def _print_skills(console: "Console", found: dict[str, Any]) -> None:
    via = {one["full_name"]: one["via"] for one in found["attached"]}
    rows = [
        (
            styled((inline(one["full_name"]), "bold")),
            one["version"] or "draft",
            _how(one, via),
        )
        for one in found["locked"]
    ]
    print_rows(console, rows)
    for problem in found["problems"]:
        console.print(styled(("✗ ", BAD), inline(problem["message"])), soft_wrap=True)


def _how(item: dict[str, Any], via: dict[str, str]) -> str:
    """How an agent comes to have a skill."""
    how = via.get(item["full_name"])
    if how is None:
        return f"required by {', '.join(map(inline, item['required_by']))}"
    return "attached" if how == "agent" else "attached to every agent"


def _print_plan(console: "Console", plan: dict[str, Any]) -> None:
    for step in plan["steps"]:
        sign, style = _SIGNS.get(step["action"], ("·", FAINT))
        about = " ".join(inline(part) for part in (step["agent"] or "every agent", step["skill"] or "") if part)
        console.print(styled((f"{sign} {step['action']:<7} ", style), about), soft_wrap=True)


def _remark(plan: dict[str, Any]) -> str:
    return "Nothing was changed (--dry-run)." if plan["steps"] else "Nothing to do: everything is as declared."
