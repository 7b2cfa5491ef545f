"""If-Match: an edit names the state that it was made from."""

import re
from typing import Annotated, Final

from fastapi import Depends, Header
from pydantic import Field

from skillyard.errors import InputError

Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$", description="The digest of a skill's files.")]

_TAG: Final = re.compile(r'(?:W/)?"(?:(?P<etag>[0-9a-f]{64})-[0-9]+|sha256:(?P<digest>[0-9a-f]{64}))"')
_SHOWN: Final = 100


def base_of(
    if_match: Annotated[
        str | None,
        Header(
            description="The ETag of the skill as you read it, or its digest in quotes: an edit made from another "
            "state is a conflict. Without it, or with `*`, the present state is edited.",
            examples=['"0d5d7b2d1c7d8a8b2b8f5f1f9d1ff1c4a4e3d6dcae0b6d0d5a7a6c7f6a4f0b11-42"'],
        ),
    ] = None,
) -> str | None:
    """The digest that an edit is based on; None for whatever is there."""
    if if_match is None or if_match.strip() == "*":
        return None
    match = _TAG.fullmatch(if_match.strip())
    if match is None:
        raise InputError(
            f"If-Match is no ETag of a skill: {if_match[:_SHOWN]!r}.",
            hint='Send the ETag that came with the skill, or its digest as "sha256:…" in double quotes.',
            details={"field": "If-Match", "value": if_match[:_SHOWN]},
        )
    return f"sha256:{match['etag'] or match['digest']}"


Base = Annotated[str | None, Depends(base_of)]
