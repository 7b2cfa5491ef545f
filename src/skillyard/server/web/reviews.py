"""Versions that wait for the reader's word."""

from skillyard.registry.reviews import waiting_for
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.web.page import Page, PageRouter

router = PageRouter()


@router.page("/reviews")
async def reviews(yard: TheYard, caller: Caller) -> Page:
    return Page("reviews.html", {"versions": await waiting_for(yard.database, caller)})
