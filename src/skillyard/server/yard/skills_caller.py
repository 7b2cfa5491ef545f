"""What every route of learned skills needs."""

from typing import Annotated

from fastapi import Depends, Request

from skillyard.releases.service import LearnedSkillRooms
from skillyard.server.api.caller import yard_of


async def learned_of(request: Request) -> LearnedSkillRooms:
    return (await yard_of(request)).releases


Learned = Annotated[LearnedSkillRooms, Depends(learned_of)]
