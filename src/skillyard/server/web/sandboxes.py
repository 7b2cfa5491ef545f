"""The list of sandboxes: what each is and how long it has; and a form that makes one."""

from typing import Annotated, Any, Final

from fastapi import Query, Response

from skillyard.app.yard import Yard
from skillyard.delivery.bundle_source import SKILLS_LABEL
from skillyard.errors import SkillyardError
from skillyard.identity.principals import Principal
from skillyard.sandbox.network import NONE, parse_network
from skillyard.sandbox.profiles import DEFAULT_PROFILE, PROFILES
from skillyard.sandbox.sandboxes import SandboxSpec, Status
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.web.choices import one_of
from skillyard.server.web.forms import Form, Posted
from skillyard.server.web.isolation import isolation_by
from skillyard.server.web.page import Page, PageRouter, go_to
from skillyard.server.web.replay_form import number_in
from skillyard.server.yard.sandbox_schemas import SandboxResponse

SANDBOXES: Final = "/sandboxes"
TTLS: Final = (1_800, 7_200, 86_400, 604_800)
"""Seconds that people choose from."""
_PER_PAGE: Final = 50
_BEGUN: Final = {"profile": DEFAULT_PROFILE, "ttl": "7200", "skills": "", "network": ""}

router = PageRouter()


@router.page(SANDBOXES)
async def sandboxes(
    yard: TheYard,
    caller: Caller,
    status: Annotated[str, Query(max_length=16)] = "",
    cursor: Annotated[str, Query(max_length=200)] = "",
) -> Page:
    """The caller's own, the newest first."""
    return await _list_page(yard, caller, status=status, cursor=cursor)


@router.post(SANDBOXES, response_model=None)
async def create(form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Make a sandbox. Nothing runs in it yet."""
    try:
        made = await yard.sandboxes.sandboxes.create(caller, _spec(form))
    except SkillyardError as error:
        entered = {name: form.text(name) for name in _BEGUN}
        return await _list_page(yard, caller, entered=entered, problem=error)
    return go_to(f"{SANDBOXES}/{made.id}", done="sandbox_created")


def _spec(form: Form) -> SandboxSpec:
    endpoints = form.text("network").split()
    skills = form.text("skills").strip()
    return SandboxSpec(
        profile=form.text("profile") or DEFAULT_PROFILE,
        ttl=number_in(form, "ttl", None),
        network=parse_network({"allow": endpoints}) if endpoints else NONE,
        labels={SKILLS_LABEL: skills} if skills else {},
    )


async def _list_page(
    yard: Yard,
    caller: Principal,
    *,
    status: str = "",
    cursor: str = "",
    entered: dict[str, str] | None = None,
    problem: SkillyardError | None = None,
) -> Page:
    rooms = yard.sandboxes
    page = await rooms.sandboxes.page(caller, status=one_of(Status, status), limit=_PER_PAGE, cursor=cursor or None)
    usual = await isolation_by(rooms)
    others = {one.backend for one in page.sandboxes} - {usual.backend}
    known = {name: await isolation_by(rooms, name) for name in sorted(others)}
    data: dict[str, Any] = {
        "chosen": {"status": status},
        "sandboxes": [SandboxResponse.of(one) for one in page.sandboxes],
        "owner": caller.name,
        "skills": {one.id: sorted(yard.injection.present_in(one.id)) for one in page.sandboxes},
        "isolation": usual,
        "isolations": {usual.backend: usual, **known},
        "next_cursor": page.next,
    }
    extra = {
        "entered": {**_BEGUN, **(entered or {})},
        "profiles": list(PROFILES.values()),
        "ttls": TTLS,
        "statuses": list(Status),
        "problem": problem.as_public_dict() if problem else None,
    }
    return Page("sandboxes/list.html", data, extra=extra, status=problem.http_status if problem else 200)
