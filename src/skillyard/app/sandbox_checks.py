"""Looking over the sandboxes of this machine: which isolation there is, and whether it holds, tried by breaking out."""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from skillyard.app.checks import Check, Status, ok
from skillyard.app.sandbox_backends import backend_settings
from skillyard.config.settings import Settings
from skillyard.errors import SkillyardError

if TYPE_CHECKING:
    from skillyard.sandbox.backends import BackendSettings
    from skillyard.sandbox.capabilities import Capabilities
    from skillyard.sandbox.escapes.probes import ProbeResult

_NAME = "sandboxes"


def examine_sandboxes(settings: Settings) -> Iterator[Check]:
    """Every check of sandboxes. One is started, in a folder that is removed again."""
    with tempfile.TemporaryDirectory(prefix="skillyard-doctor-", ignore_cleanup_errors=True) as folder:
        yield from asyncio.run(_examine(backend_settings(settings, Path(folder))))


async def _examine(settings: "BackendSettings") -> Sequence[Check]:
    from skillyard.sandbox.backends import Backends  # noqa: PLC0415 -- as above
    from skillyard.sandbox.escapes.probes import prove  # noqa: PLC0415

    backends = Backends(settings)
    try:
        offered = {each.backend: each for each in await backends.survey()}
        try:
            chosen = await backends.choose(None)
        except SkillyardError as error:
            return [Check(name=_NAME, status=Status.WARNING, message=error.message, fix=error.hint)]
        others = [_other(each) for name, each in offered.items() if name != chosen.name]
        if not offered[chosen.name].enforced:
            return [_contains_nothing(offered[chosen.name]), *others]
        try:
            results = await prove(chosen)
        except SkillyardError as error:
            return [Check(name=_NAME, status=Status.FAILED, message=error.message, fix=error.hint), *others]
        return [_proven(offered[chosen.name], results), *_browserless(offered[chosen.name]), *others]
    finally:
        await backends.close()


def _proven(offered: "Capabilities", results: "Sequence[ProbeResult]") -> Check:
    claimed = [result for result in results if result.barrier in offered.enforced]
    escaped = [result for result in claimed if not result.blocked]
    if escaped:
        named = ", ".join(f"{result.name} ({result.barrier})" for result in escaped)
        return Check(
            name=_NAME,
            status=Status.FAILED,
            message=f"{offered.backend} does not hold: of {len(claimed)} ways out, these are open: {named}.",
            fix="skillyard config set sandbox_backend docker",
        )
    telling = sum(result.twin_succeeded for result in claimed)
    message = (
        f"{offered.backend} isolates {', '.join(sorted(offered.enforced))}: {len(claimed)} ways to escape were tried "
        f"and none worked; {telling} of them work without it."
    )
    told = " ".join(filter(None, (message, offered.reason)))
    return Check(name=_NAME, status=Status.OK, message=told, fix=offered.fix)


def _browserless(offered: "Capabilities") -> Iterator[Check]:
    """What is missing where no browser steps can be taken."""
    from skillyard.sandbox.capabilities import Ability  # noqa: PLC0415 -- as above

    if Ability.BROWSER in offered.abilities:
        return
    if offered.backend == "bwrap":
        message, fix = "Browser steps cannot be taken: there is no Chromium.", "apt-get install chromium"
    elif offered.backend == "docker":
        message = "Browser steps cannot be taken: the image has no label skillyard.browser."
        fix = "skillyard config set docker_image IMAGE"
    else:
        message = f"Browser steps cannot be taken: {offered.backend} has none, bwrap and docker have."
        fix = "apt-get install bubblewrap chromium"
    yield Check(name=_NAME, status=Status.NOTE, message=message, fix=fix)


def _contains_nothing(offered: "Capabilities") -> Check:
    fix = "skillyard config set sandbox_backend auto"
    message = f"{offered.backend} is chosen. {offered.reason}"
    return Check(name=_NAME, status=Status.WARNING, message=message, fix=fix)


def _other(offered: "Capabilities") -> Check:
    if offered.available:
        return ok(_NAME, f"{offered.backend} can be used as well. {offered.reason}".rstrip())
    message = f"{offered.backend} is not available, and not needed. {offered.reason}".rstrip()
    return Check(name=_NAME, status=Status.NOTE, message=message)
