"""The skills that the caller may see, as a text for a prompt."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from skillyard.search.catalog import BUDGET, MAX_BUDGET, MIN_BUDGET, Form, PromptCatalog, Shape
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.shapes import BEARER, errors
from skillyard.server.auth import not_kept
from skillyard.server.models import Success

router = APIRouter(prefix="/api/v1", tags=["search"], responses=errors(503), dependencies=[BEARER])

_MAX_PINS: Final = 50


class CatalogSchema(BaseModel):
    """The text, and how much it shows."""

    text: str
    characters: int
    whole: int = Field(description="Skills with their whole description.")
    shortened: int = Field(description="Skills whose description was cut.")
    named: int = Field(description="Skills of which there is only the name.")
    shown: int
    total: int
    naive_characters: int = Field(description="The characters that all of them would take.")
    forms: dict[str, Form] = Field(description="How each skill in it appears, by its full name, in their order.")

    @classmethod
    def of(cls, catalog: PromptCatalog) -> "CatalogSchema":
        return cls(
            text=catalog.text,
            characters=catalog.characters,
            whole=catalog.count(Form.WHOLE),
            shortened=catalog.count(Form.SHORTENED),
            named=catalog.count(Form.NAMED),
            shown=len(catalog.shown),
            total=catalog.total,
            naive_characters=catalog.naive,
            forms=dict(catalog.shown),
        )


# The order follows usage, which is no change.
@router.get("/catalog", summary="Skills for a prompt", dependencies=[Depends(not_kept)])
async def get_catalog(
    yard: TheYard,
    caller: Caller,
    q: Annotated[str, Query(description="The task at hand, in any language: what fits it comes first.")] = "",
    budget: Annotated[
        int, Query(ge=MIN_BUDGET, le=MAX_BUDGET, description="The text has at most so many characters.")
    ] = BUDGET,
    pin: Annotated[list[str], Query(max_length=_MAX_PINS, description="These come first: `pin=team/name&pin=…`.")] = [],  # noqa: B006
    format: Annotated[Shape, Query(description="For a system prompt, or for the description of a tool.")] = Shape.XML,  # noqa: A002 -- the parameter's name
) -> Success[CatalogSchema]:
    """The skills that you may see in one text that never has more characters than the budget.

    Pinned skills come first, then those that fit the query, then the most used. As many as fit are whole, then come
    shortened descriptions, then names, and a last line says how many there are.
    """
    written = await yard.catalogs.write(caller, query=q, budget=budget, shape=format, pins=pin)
    return Success(data=CatalogSchema.of(written))
