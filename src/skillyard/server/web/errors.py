"""Errors as pages, for people who looked for one."""

from skillyard.errors import SkillyardError
from skillyard.server.web.page import Page


def error_page(error: SkillyardError, *, status: int) -> Page:
    """What went wrong, and what to do about it."""
    return Page("error.html", {"error": error.as_public_dict()}, status=status)
