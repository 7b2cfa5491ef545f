"""What the application found out about a request, for logs, metrics and limits."""

from typing import Final

from skillyard.server.asgi import Scope

PERSON: Final = "person"
"""The note in `request.state` of who is asking, left by whatever checked the token."""
ROUTE: Final = "route"
"""The note of the route's template, for answers that did not get as far as the routes."""

UNMATCHED: Final = "unmatched"


def route_template(scope: Scope) -> str:
    """The path of the matched route with its parameters by name, so that it says nothing private."""
    # FastAPI keeps the prefix of an included router beside the route.
    matched = scope.get("fastapi", {}).get("effective_route_context") or scope.get("route")
    return getattr(matched, "path", UNMATCHED)
