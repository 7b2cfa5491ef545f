"""The form in which a replay is asked for: how often, and with which values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from skillyard.errors import InputError, NotFoundError
from skillyard.identity.principals import Principal
from skillyard.releases.payload_json import payload_document
from skillyard.releases.payloads import Payload
from skillyard.releases.service import LearnedSkillRooms
from skillyard.releases.values import Candidate
from skillyard.server.web.forms import Form

_RUNS: Final = 5
_VARIABLE: Final = "var."
"""What the fields of variables begin with."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entered:
    """What stands in the form; the values of secrets are shown to nobody, so they are entered again."""

    runs: str = str(_RUNS)
    benchmark: str = ""
    timeout: str = ""
    values: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True, slots=True)
class Values:
    """What the variables of a payload are given."""

    plain: Mapping[str, str]
    secret: Mapping[str, str]


async def payload_of(learned: LearnedSkillRooms, caller: Principal, candidate: Candidate) -> Payload | None:
    """The steps of a candidate, if they are known here and can be replayed."""
    if candidate.payload_ref is None:
        return None
    try:
        return await learned.payloads.payload(caller.person_id, candidate.payload_ref)
    except (InputError, NotFoundError):
        return None


def told_payload(payload: Payload | None) -> dict[str, Any] | None:
    return None if payload is None else payload_document(payload)


def values_in(form: Form, payload: Payload | None) -> Values:
    """What was entered; a field that was left empty is not given, so that its default holds."""
    given = {
        name: text for name in (payload.variables if payload else ()) if (text := form.text(f"{_VARIABLE}{name}")) != ""
    }
    hidden = {name for name in given if payload and payload.variables[name].secret}
    return Values(
        plain={name: text for name, text in given.items() if name not in hidden},
        secret={name: given[name] for name in hidden},
    )


def entered_in(form: Form, values: Values) -> Entered:
    return Entered(
        runs=form.text("runs"), benchmark=form.text("benchmark"), timeout=form.text("timeout"), values=values.plain
    )


def number_in(form: Form, name: str, default: int | None) -> int | None:
    """A whole number that was entered."""
    text = form.text(name).strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(2**31)):
        raise InputError(
            f"{name}: {text[:40]!r} is no whole number.",
            hint="Write digits, as 5.",
            details={"field": name, "value": text[:40]},
        )
    return int(text)


def runs_in(form: Form) -> int:
    return number_in(form, "runs", _RUNS) or 0
