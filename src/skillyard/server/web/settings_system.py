"""The machine's side: what is set and where, environments, the model, and what the doctor says."""

import asyncio
from typing import Any, Final

from fastapi import Depends, Request, Response

from skillyard.app.doctor import examine
from skillyard.app.environments import active_name, all_environments, summary, use
from skillyard.app.settings_in_force import settings_in_force
from skillyard.config.load import load_settings
from skillyard.config.settings import Settings
from skillyard.server.api.caller import TheYard
from skillyard.server.auth import operator_only
from skillyard.server.web.forms import Posted
from skillyard.server.web.page import TWIN, Page, PageRouter, go_to

_SYSTEM: Final = "/settings/system"

_FLAGS: Final = ("host", "port")
"""Settings that the command line of a server may override."""
_OPERATOR: Final = Depends(operator_only)

router = PageRouter()


@router.page(_SYSTEM, dependencies=[_OPERATOR])
async def system(yard: TheYard) -> Page:
    """For whoever runs this server."""
    return Page("settings/system.html", await asyncio.to_thread(_system, yard.settings))


@router.page("/settings/doctor", dependencies=[_OPERATOR])
async def doctor(request: Request, look: str = "") -> Page:
    """Looks over the machine. Some checks really start a sandbox, which takes seconds: the page comes before them."""
    if not look and not request.url.path.endswith(TWIN):
        return Page("settings/doctor.html", {"checks": None})
    # Whether a server answers at its usual address says nothing about the one that shows this.
    checks = await asyncio.to_thread(lambda: [check.as_dict() for check in examine() if check.name != "server"])
    return Page("settings/doctor.html", {"checks": checks})


@router.post(f"{_SYSTEM}/environment", dependencies=[_OPERATOR], response_model=None)
async def use_environment(form: Posted) -> Response:
    await asyncio.to_thread(use, form.text("name") or None)
    return go_to(_SYSTEM, done="environment")


def _system(running: Settings) -> dict[str, Any]:
    settings = load_settings()
    values, origins = settings_in_force()
    for key in _FLAGS:
        value = getattr(running, key)
        if value != values[key]:
            values[key], origins[key] = value, f"--{key}"
    active = active_name(settings)
    return {
        "settings": [{"key": key, "value": value, "origin": origins[key]} for key, value in values.items()],
        "environments": [summary(each, active=active) for each in all_environments().list()],
        "model": values.get("model"),
    }
