"""Who a skill is attached to: an agent, or every agent of the tenant."""

from collections.abc import Sequence

from skillyard.errors import NotFoundError
from skillyard.history.entries import Why
from skillyard.identity.principals import Principal
from skillyard.registry.attachments import Attachments, Via
from skillyard.registry.shipping import SkillRef
from skillyard.registry.skills import Visibility

EVERYONE = None
"""All agents of the tenant, where an agent's id can stand."""


def visibility_of(agent_id: str | None) -> Visibility:
    """Who may see a new skill: one for a single agent is private to its namespace, one for every agent is public.
    A private skill may refer to other private skills of its namespace.
    """
    return Visibility.PRIVATE if agent_id else Visibility.PUBLIC


async def attached_to(
    attachments: Attachments, principal: Principal, skill_id: str, agent_id: str | None
) -> list[str | None]:
    """Whether a skill is the agent's, every agent's, or both."""
    found: list[str | None] = []
    if agent_id is not None:
        try:
            own = (await attachments.agent_skills(principal, agent_id)).attached
        except NotFoundError:
            own = ()
        if any(each.skill_id == skill_id and each.via is Via.AGENT for each in own):
            found.append(agent_id)
    shared = (await attachments.tenant_skills(principal)).attached
    if any(each.skill_id == skill_id for each in shared):
        found.append(EVERYONE)
    return found


async def attach(
    attachments: Attachments, principal: Principal, skill_id: str, agents: Sequence[str | None], why: Why
) -> None:
    for agent_id in agents:
        await attachments.attach(principal, SkillRef(name=skill_id), agent_id=agent_id, why=why)


async def detach(
    attachments: Attachments, principal: Principal, skill_id: str, agents: Sequence[str | None], why: Why
) -> None:
    for agent_id in agents:
        await attachments.detach(principal, SkillRef(name=skill_id), agent_id=agent_id, why=why)
