"""Every skill as a prompt, for people who choose one themselves."""

from typing import Final

from mcp_types import GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage, TextContent

from skillyard.agents.materialise import Place
from skillyard.agents.skill_tool import skill_text
from skillyard.agents.source import Found, SkillSource, require
from skillyard.errors import InputError
from skillyard.skill.limits import MAX_DESCRIPTION
from skillyard.skill.prompt import shortened
from skillyard.usage.events import UsageKind

TASK: Final = "task"


def listed_prompts(source: SkillSource, cursor: str | None) -> ListPromptsResult:
    page = source.page(cursor or "")
    return ListPromptsResult(prompts=[_prompt(found) for found in page.skills], next_cursor=page.next_cursor or None)


def prompt_of(
    source: SkillSource,
    name: str,
    arguments: dict[str, str] | None,
    *,
    session: str,
    agent: str = "",
    place: Place,
) -> GetPromptResult:
    """The instructions of a skill, and what it is wanted for."""
    given = dict(arguments or {})
    task = given.pop(TASK, "").strip()
    if given:
        raise InputError(
            f"The prompt of a skill takes no {next(iter(given))!r}.",
            hint=f"It takes {TASK!r}, which may be left out.",
            details={"field": next(iter(given))},
        )
    found = require(source, name)
    text = skill_text(source, found, place)
    source.record(UsageKind.ACTIVATED, found, session=session, agent=agent)
    messages = [PromptMessage(role="user", content=TextContent(text=text))]
    if task:
        messages.append(PromptMessage(role="user", content=TextContent(text=task)))
    return GetPromptResult(description=_about(found), messages=messages)


def _prompt(found: Found) -> Prompt:
    return Prompt(
        name=found.id,
        title=found.name,
        description=_about(found),
        arguments=[PromptArgument(name=TASK, description="What to do with the skill.", required=False)],
    )


def _about(found: Found) -> str:
    # People choose from these: what cannot be seen, or has lines of its own, could pass for another entry.
    return shortened(found.description, MAX_DESCRIPTION)
