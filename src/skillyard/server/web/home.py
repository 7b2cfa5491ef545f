"""The first page: what is new, what waits for somebody, and how to begin."""

from pathlib import Path
from typing import Any, Final

from fastapi import Request

from skillyard.app.demo_home import is_demo_yard
from skillyard.app.sample import sample_in
from skillyard.app.yard import Yard
from skillyard.identity.principals import Principal
from skillyard.library.builtin import builtin_root
from skillyard.registry.summaries import Counts
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.history_schemas import EntrySchema
from skillyard.server.web.attention import attention_of
from skillyard.server.web.page import Page, PageRouter
from skillyard.server.web.set_up import guide_of
from skillyard.skill.bundle import SKILL_FILE

router = PageRouter()
_RECENT: Final = 12
_OFFERED: Final = 8
_PLACES: Final = ("skills", "graph", "releases", "learning", "sandboxes", "history", "settings")


@router.page("/home")
async def home(request: Request, yard: TheYard, caller: Caller) -> Page:
    recent = await yard.registry.chronicle.entries(caller, limit=_RECENT)
    counts = await yard.registry.shelf.counts(caller)
    return Page(
        "home.html",
        {
            "counts": {"skills": counts.all},
            "attention": await attention_of(yard, caller),
            "recent": [EntrySchema.of(entry, undoable=False) for entry in recent.entries],
            "guide": await _guide(request, yard, caller, counts),
        },
    )


@router.get("/palette", response_model=None)
async def palette(yard: TheYard, caller: Caller, q: str = "") -> Page:
    """What the palette offers while someone types."""
    offered: dict[str, str] = {}
    if q.strip():
        named = await yard.registry.shelf.named_like(caller, q, limit=_OFFERED)
        found = await yard.search.search(caller, q, limit=_OFFERED)
        for skill in (*named, *(each.skill for each in found.best)):
            offered.setdefault(skill.full_name, skill.description)
    skills = [{"full_name": name, "description": offered[name]} for name in list(offered)[:_OFFERED]]
    return Page("palette.html", {"skills": skills, "places": _PLACES, "q": q})


async def _guide(request: Request, yard: Yard, caller: Principal, counts: Counts) -> dict[str, Any] | None:
    """How to begin, for the person at this machine, as long as nothing here is theirs."""
    own_home = request.app.state.home
    if own_home is None or is_demo_yard(own_home) or (counts.is_any_added and not _is_sample(own_home, counts.all)):
        return None
    return await guide_of(yard, caller, own_home, request.app.state.library)


def _is_sample(home: Path, skills: int) -> bool:
    """Whether all the skills of a yard came with the product or with its sample."""
    sample = sample_in(home)
    if sample is None:
        return False
    came_along = sum(1 for folder in builtin_root().iterdir() if (folder / SKILL_FILE).is_file())
    return skills <= came_along + len(sample.rows.get("skills", ()))
