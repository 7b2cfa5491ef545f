"""Where a page of skills ended, as a text that is handed on and not read."""

import base64
import binascii

from skillyard.errors import InputError


def cursor_after(skill_id: str) -> str:
    """The cursor of the page that goes on after this skill."""
    return base64.urlsafe_b64encode(skill_id.encode("utf-8", "surrogatepass")).decode().rstrip("=")


def skill_before(cursor: str) -> str:
    """The id after which the page with this cursor begins."""
    try:
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        return data.decode("utf-8", "surrogatepass")
    except (ValueError, binascii.Error):
        raise InputError(
            "The cursor is not one of ours.",
            hint="Pass on the cursor of the page before, or none for the first page.",
            details={"field": "cursor", "value": cursor[:100]},
        ) from None
