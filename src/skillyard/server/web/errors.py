"""Errors as pages, for people who looked for one."""

from typing import Final
from urllib.parse import parse_qsl, urlencode

from fastapi import Request

from skillyard.errors import NotFoundError, SkillyardError
from skillyard.server.sign_in.origins import own_referer
from skillyard.server.web.page import Page

_SKILLS: Final = "/skills/"


def error_page(request: Request, error: SkillyardError, *, status: int) -> Page:
    """What went wrong, and what to do about it; after a form, with the way back to the page that it was on."""
    extra = {"back": way_back(request), "sought": _search_words(request, error)}
    return Page("error.html", {"error": error.as_public_dict()}, extra=extra, status=status, address="/")


def _search_words(request: Request, error: SkillyardError) -> str | None:
    """What to search for instead of a skill that does not exist."""
    if not isinstance(error, NotFoundError) or not request.url.path.startswith(_SKILLS):
        return None
    return request.url.path.removeprefix(_SKILLS).split("/")[:2][-1]


def way_back(request: Request) -> str | None:
    """The page that a form was on, without what it said was done before; None if nothing was sent."""
    if request.method != "POST":
        return None
    path, _, query = (own_referer(request.scope) or "").partition("?")
    kept = urlencode([(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != "done"])
    return f"{path}?{kept}" if kept else path or None
