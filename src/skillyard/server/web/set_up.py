"""Setting the yard up from its page, for the person at this machine: folders, agents, a model, the sample."""

import asyncio
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import Depends, Request, Response

from skillyard.app.demo_home import NEXT_COMMANDS, is_demo_yard
from skillyard.app.sample import has_sample, remove_sample
from skillyard.app.set_up import (
    bring_in,
    choose_model,
    connect,
    connections,
    disconnect,
    found_here,
    found_in,
)
from skillyard.app.yard import Yard
from skillyard.config.load import load_settings
from skillyard.errors import InputError, NotAllowedError, NotFoundError
from skillyard.identity.people import SYSTEM
from skillyard.identity.principals import Principal
from skillyard.library.roots import Machine
from skillyard.registry.summaries import Summary, visible_summaries
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.auth import operator_only
from skillyard.server.web.forms import Posted
from skillyard.server.web.page import Page, PageRouter, go_to
from skillyard.skill.library import Library

SET_UP: Final = "/set-up"
_SHOWN: Final = 12
"""Names of skills that are told before they are brought in."""


async def _home(request: Request) -> Path:
    """The home of the yard, which is the reader's own or the demonstration's."""
    home: Path | None = request.app.state.home
    if home is None:
        raise NotFoundError(
            "This yard serves others: it changes nothing on its machine from a page.",
            hint="Set it up with commands: skillyard config set, skillyard publish, skillyard mcp install.",
        )
    return home


async def _own_home(home: Annotated[Path, Depends(_home)]) -> Path:
    if is_demo_yard(home):
        raise NotAllowedError(
            "This yard is the demonstration's: it changes nothing of yours.",
            hint=f"Go on in a yard of your own: {NEXT_COMMANDS['serve']}",
        )
    return home


async def _own_library(request: Request) -> Library:
    return request.app.state.library


_OPERATOR: Final = Depends(operator_only)
OwnHome = Annotated[Path, Depends(_own_home)]
OwnLibrary = Annotated[Library, Depends(_own_library)]

router = PageRouter()


@router.page(SET_UP, dependencies=[_OPERATOR])
async def set_up(yard: TheYard, caller: Caller, home: Annotated[Path, Depends(_home)], library: OwnLibrary) -> Page:
    """What could be done here; in the demonstration's yard, how to have one of one's own."""
    if is_demo_yard(home):
        return Page("set_up_own.html", {"commands": NEXT_COMMANDS})
    return Page("set_up.html", await guide_of(yard, caller, home, library), extra={"brought": None, "problem": None})


@router.post(f"{SET_UP}/folders", dependencies=[_OPERATOR], response_model=None)
async def bring_folders_in(form: Posted, yard: TheYard, caller: Caller, home: OwnHome, library: OwnLibrary) -> Response:
    """Publish what is in the folder that was named, or else in those of this machine's agents."""
    known = await _known(yard, caller)
    try:
        if folder := form.text("folder").strip():
            found = await asyncio.to_thread(found_in, folder, known)
        else:
            found = await asyncio.to_thread(found_here, library, known)
    except InputError as error:
        guide = await guide_of(yard, caller, home, library)
        extra = {"brought": None, "problem": error.as_public_dict(), "folder": form.text("folder")}
        return Page("set_up.html", guide, extra=extra, status=error.http_status, address=SET_UP)
    brought = await bring_in(yard, caller, found)
    if brought.refused or brought.left:
        guide = await guide_of(yard, caller, home, library)
        return Page("set_up.html", guide, extra={"brought": brought, "problem": None}, address=SET_UP)
    return go_to("/skills", done="brought")


@router.post(f"{SET_UP}/agents", dependencies=[_OPERATOR], response_model=None)
async def connect_agent(form: Posted, home: OwnHome) -> Response:
    """Put the yard into an agent's list, or take it out again."""
    if agent := form.text("disconnect"):
        await asyncio.to_thread(disconnect, agent, Machine.here(), home)
        return go_to(SET_UP, done="disconnected")
    await asyncio.to_thread(connect, form.required("connect"), Machine.here(), home)
    return go_to(SET_UP, done="connected")


@router.post(f"{SET_UP}/model", dependencies=[_OPERATOR], response_model=None)
async def set_model(form: Posted, yard: TheYard, caller: Caller, home: OwnHome) -> Response:
    """Use a model from now on, and begin with the feedback that waited for one."""
    del home  # only here
    texts = (form.required("model"), form.text("base_url").strip(), form.text("api_key").strip())
    yard.learning.models.use(await asyncio.to_thread(choose_model, *texts))
    await yard.learning.work(caller)
    return go_to(SET_UP, done="model")


@router.post(f"{SET_UP}/sample/remove", dependencies=[_OPERATOR], response_model=None)
async def take_sample_out(form: Posted, yard: TheYard, caller: Caller, home: OwnHome) -> Response:
    del form  # as above
    await remove_sample(yard, caller, home)
    return go_to("/", done="sample_removed")


async def guide_of(yard: Yard, caller: Principal, home: Path, library: Library) -> dict[str, Any]:
    """How far the yard is set up, and what could be done."""
    known = await _known(yard, caller)
    found = await asyncio.to_thread(found_here, library, known)
    settings = await asyncio.to_thread(load_settings)
    return {
        "folders": {
            "done": not found and any(each.namespace != SYSTEM for each in known.values()) and not has_sample(home),
            "total": len(found),
            "names": [entry.name for entry in found[:_SHOWN]],
            "sources": sorted({entry.source for entry in found}),
        },
        "agents": [each.as_dict() for each in await asyncio.to_thread(connections, Machine.here())],
        "model": settings.model,
        "model_base_url": settings.model_base_url,
        "is_model_used": (settings.model or "") == yard.learning.models.name,
        "sample": has_sample(home),
    }


async def _known(yard: Yard, caller: Principal) -> dict[str, Summary]:
    """The skills that are here, by their names."""
    return {each.name: each for each in await visible_summaries(yard.database, caller)}
