"""The list of skills: searched, narrowed, a page at a time; what was chosen is in the address."""

from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import Query

from skillyard.registry.search_documents import Narrowed
from skillyard.registry.skills import Visibility
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.search_schemas import FoundSkillSchema
from skillyard.server.api.skill_schemas import SkillSummarySchema
from skillyard.server.web.choices import one_of
from skillyard.server.web.page import Page, PageRouter

router = PageRouter()
_PER_PAGE: Final = 50
_FOUND: Final = 50

Text = Annotated[str, Query(max_length=2000)]


@router.page("/skills")
async def skills(
    yard: TheYard,
    caller: Caller,
    q: Text = "",
    namespace: Annotated[str, Query(max_length=64)] = "",
    tag: Annotated[str, Query(max_length=256)] = "",
    visibility: Annotated[str, Query(max_length=16)] = "",
    cursor: Annotated[str, Query(max_length=2000)] = "",
) -> Page:
    """What fits a query, best first; without one, all skills by name.

    While somebody types there is half a word, which no search finds: then what has those letters in it.
    """
    chosen = {"q": q, "namespace": namespace, "tag": tag, "visibility": visibility}
    wanted = one_of(Visibility, visibility)
    shown: list[FoundSkillSchema] | list[SkillSummarySchema] = []
    following, more = None, False
    if q.strip():
        narrowed = Narrowed(namespace=namespace or None, tags=(tag,) if tag else (), visibility=wanted)
        found = await yard.search.search(caller, q, narrowed=narrowed, limit=_FOUND)
        shown = [FoundSkillSchema.of_found(each) for each in found.best]
        more = found.is_more
    if not shown:
        page = await yard.registry.shelf.page(
            caller,
            q=q,
            tags=[tag] if tag else [],
            namespace=namespace or None,
            visibility=wanted,
            cursor=cursor or None,
            limit=_PER_PAGE,
        )
        shown = [SkillSummarySchema.of(skill) for skill in page.skills]
        following, more = page.next, page.next is not None
    given = {key: value for key, value in chosen.items() if value}
    return Page(
        "skills.html",
        {"chosen": chosen, "skills": shown, "is_more": more, "next_cursor": following},
        extra={
            "visibilities": list(Visibility),
            "filters": await yard.registry.shelf.filters(caller),
            "following": urlencode({**given, "cursor": following}) if following else "",
        },
    )
