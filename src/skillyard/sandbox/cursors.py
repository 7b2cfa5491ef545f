"""Where a listing goes on: a text that clients hand back as it is."""

import base64
import binascii
from datetime import datetime
from typing import Final

from skillyard.errors import InputError

MAX_PAGE: Final = 200


def cursor_of(created_at: datetime, item_id: str) -> str:
    return base64.urlsafe_b64encode(f"{created_at.isoformat()} {item_id}".encode()).decode().rstrip("=")


def read_cursor(text: str | None) -> tuple[datetime, str] | None:
    if text is None:
        return None
    try:
        moment, _, item_id = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode().partition(" ")
        at = datetime.fromisoformat(moment)
    except (binascii.Error, ValueError):
        at = None
        item_id = ""
    if at is None or at.tzinfo is None or not item_id:
        raise InputError(
            f"{text[:100]!r} is no cursor of this listing.",
            hint="Pass on `next_cursor` as it came, or nothing to begin.",
            details={"field": "cursor"},
        )
    return at, item_id


def require_page(limit: int) -> None:
    if not 1 <= limit <= MAX_PAGE:
        raise InputError(
            f"{limit} is no number of items for a page.",
            hint=f"Use 1 to {MAX_PAGE}.",
            details={"field": "limit", "value": limit, "limit": MAX_PAGE},
        )
