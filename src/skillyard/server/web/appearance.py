"""How a reader likes the pages: kept by their browser."""

from typing import Final

from fastapi import APIRouter, Response

from skillyard.server.sign_in.origins import own_path
from skillyard.server.web.choices import one_of
from skillyard.server.web.forms import Posted
from skillyard.server.web.page import go_to
from skillyard.server.web.reader import LANGUAGE_COOKIE, THEME_COOKIE, Theme, keep_choice
from skillyard.server.web.texts import LANGUAGES

APPEARANCE: Final = "/settings/appearance"

router = APIRouter(include_in_schema=False)


@router.post(APPEARANCE)
async def choose(form: Posted) -> Response:
    answer = go_to(own_path(form.text("next")), done="appearance")
    if form.text("language") in LANGUAGES:
        keep_choice(answer, LANGUAGE_COOKIE, form.text("language"))
    if one_of(Theme, form.text("theme")):
        keep_choice(answer, THEME_COOKIE, form.text("theme"))
    return answer
