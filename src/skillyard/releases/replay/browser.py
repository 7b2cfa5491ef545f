"""A row of browser steps, replayed: each element found again on the page as it is now, each step checked."""

import asyncio
import re
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from skillyard.redact import redact
from skillyard.releases.outcomes import StepReport, Verdict
from skillyard.releases.payloads import Check, Element, StepType
from skillyard.releases.replay.checks import ADDRESS, SNAPSHOT, Checks, Said
from skillyard.releases.replay.page import Page
from skillyard.releases.replay.preparation import BrowserWork
from skillyard.releases.replay.reports import Clock, FailedError, shortened
from skillyard.releases.replay.resolution import (
    Found,
    NotFoundHereError,
    NothingLikeItError,
    exactly,
    fields_to_type,
    nearly,
    only_of_type,
)
from skillyard.releases.replay.roles import ACTING, fits, fitting
from skillyard.sandbox.browser_steps import TYPING, BrowserStep
from skillyard.sandbox.browsing import Drive, StepDone
from skillyard.sandbox.session import Ending
from skillyard.skill.prompt import shortened as shortened_line

STEP_SECONDS: Final = 15.0
LOOK: Final = "get url"
_LONGEST_PAUSE: Final = 5_000
"""Milliseconds: a pause was for a slow page, which is waited for anyway."""
_LOOK_AGAIN: Final = 0.1
_LOOK_SECONDS: Final = 10.0
_START_SECONDS: Final = 60.0
"""In which there must be a browser, however busy the machine is."""
_TARGET_AT: Final = {**dict.fromkeys(ACTING, 0), "wait": 0, "get": 1, "is": 1}
_HTTP_FAILURE: Final = re.compile(r"\nHTTP ([45][0-9]{2}[^\n]*)$")
_TRUNCATED: Final = re.compile(r"\n… [0-9,]+ more characters")
_INTERACTIVE: Final = replace(SNAPSHOT, options=("interactive",))
_GONE: Final = ("is not on the page any more", "nothing like it appeared")
_ATTEMPT: Final = 6.0
"""Seconds for doing something to an element that was just seen."""
_QUOTED: Final = 200
"""Characters of what a page says went wrong."""
_SCREENSHOT: Final = BrowserStep(verb="screenshot")


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """How long a page is waited for."""

    settled: float = 1.5
    """Seconds without a change after which a label is taken to have changed."""
    quiet: float = 5.0
    """Seconds without a change after which nothing is expected any more."""
    checks: float = 10.0
    """Seconds in which a condition must come true."""


class BrowserRow:
    """Takes the steps of one row; says at which it failed."""

    def __init__(self, drive: Drive, checks: Checks, clock: Clock, patience: Patience) -> None:
        self._drive = drive
        self._checks = checks
        self._clock = clock
        self._patience = patience
        self._looked = False
        """Whether a snapshot was taken by the payload itself, whose refs may be meant."""
        self._exposed = False
        """Whether a secret stands in a field that shows what it holds."""
        self.reports: list[StepReport] = []

    async def take(self, work: BrowserWork, *, others: Collection[tuple[str, str]]) -> None:
        """Take one step, and assert what must hold after it."""
        began = time.monotonic()
        seconds = self._clock.within(work.source.timeout or STEP_SECONDS)
        try:
            done, recovered = await self._taken(work, others, seconds)
        except NotFoundHereError as error:
            done, recovered = self._drive.failed(work.source.text, str(error)), ""
        report = StepReport(
            index=work.index,
            type=StepType.BROWSER,
            text=work.source.text,
            success=not done.exit_code,
            output=shortened(done.output),
            error=shortened(done.error),
            exit_code=done.exit_code,
            milliseconds=round((time.monotonic() - began) * 1000),
            recovered=recovered,
        )
        self.reports.append(report)
        if done.exit_code:
            waited = f"Waited in vain ({work.source.text}): " if work.step.verb == "wait" else ""
            is_final = done.ending is Ending.DIED
            said = "" if is_final else await self._alert()
            raise FailedError(Verdict.STEP_FAIL, waited + done.error + said, step=work.index, is_final=is_final)
        try:
            await self.hold(work.source.checks, Said(output=done.output), step=work.index, seconds=work.source.timeout)
        except FailedError as error:
            self.reports[-1] = replace(report, success=False, error=error.reason)
            raise

    async def begun(self) -> None:
        """Wait until there is a browser: how long that takes says nothing about the steps."""
        await self._drive.look(ADDRESS, seconds=self._clock.within(_START_SECONDS))

    async def look(self) -> None:
        """See where the browser is, where nothing is to be done but to look."""
        await self._drive.take(ADDRESS, shown=LOOK, seconds=_LOOK_SECONDS)

    async def hold(
        self,
        checks: Sequence[Check],
        said: Said,
        *,
        step: int | None,
        verdict: Verdict = Verdict.POSTCONDITION_FAIL,
        seconds: float | None = None,
    ) -> None:
        """Assert conditions on the page as it is now, or will soon be."""
        if not checks:
            return
        patience = self._clock.within(seconds or self._patience.checks)
        problem = await self._checks.failing(checks, said, seconds=patience, drive=self._drive)
        if problem is not None:
            raise FailedError(verdict, problem + await self._alert(), step=step)

    async def screenshot(self) -> bytes | None:
        """The page as it is now; none where a secret could be read on it."""
        if self._exposed:
            return None
        return (await self._drive.look(_SCREENSHOT, seconds=_LOOK_SECONDS)).screenshot

    async def _taken(
        self, work: BrowserWork, others: Collection[tuple[str, str]], seconds: float
    ) -> tuple[StepDone, str]:
        end = time.monotonic() + seconds
        if work.refusal:
            raise NotFoundHereError(work.refusal)
        while True:
            step, found = await self._aimed(work, others, seconds)
            if _hides(work) and not await self._may_show(work, found):
                step = replace(step, options=(*step.options, "secret"))
            left = max(0.5, end - time.monotonic())
            attempt = self._clock.within(left if found is None else min(left, _ATTEMPT))
            done = await self._drive.take(step, shown=work.source.text, seconds=attempt)
            if found is None or not any(sign in done.error for sign in _GONE) or time.monotonic() >= end:
                break
            self._drive.steps.pop()  # the page was drawn anew in between, and nothing was done
        self._looked = self._looked or step.verb == "snapshot"
        failure = _HTTP_FAILURE.search(done.output) if step.verb == "open" else None
        if failure:
            done = replace(done, exit_code=1, error=f"The page answered with HTTP {failure[1].strip()}.")
        return done, found.recovered if found else ""

    async def _aimed(
        self, work: BrowserWork, others: Collection[tuple[str, str]], seconds: float
    ) -> tuple[BrowserStep, Found | None]:
        """The step with its element named by a ref of the page as it is now."""
        step = _bounded(work.step)
        element = work.element
        if (
            element is not None
            and step.verb in {*_TARGET_AT, "find", "press"}
            and (element.name or step.verb != "press")
        ):
            step = _without_find(step)
            found = await self._located(element, step.verb, others, seconds)
            if step.verb == "press":
                await self._drive.look(BrowserStep(verb="focus", arguments=(found.ref,)), seconds=_LOOK_SECONDS)
                return step, found
            return _aimed_at(step, found.ref), found
        at = _TARGET_AT.get(step.verb)
        if at is not None and len(step.arguments) > at and step.arguments[at].startswith("@"):
            await self._require_sense(step, step.arguments[at])
        return step, None

    async def _located(self, element: Element, verb: str, others: Collection[tuple[str, str]], seconds: float) -> Found:
        """Find an element; what is not there may still come, and what stays away may be called otherwise now."""
        began = changed = time.monotonic()
        before = ""
        shown, page = "", Page("")
        while True:
            problem: NotFoundHereError | None = None
            try:
                shown = await self._snapshot()
                page = Page(shown)
                found = exactly(page, element, verb)
                if found is not None:
                    return found
            except NotFoundHereError as error:
                problem = error
            now = time.monotonic()
            if shown != before:
                before, changed = shown, now
            over = now - changed >= self._patience.quiet or now - began >= seconds
            if problem is None and (over or now - changed >= self._patience.settled):
                try:
                    return nearly(page, element, verb, others=others)
                except NotFoundHereError as error:
                    problem = error
            if over and problem is not None:
                unlike = isinstance(problem, NothingLikeItError) and not _TRUNCATED.search(shown)
                if unlike and (found := await self._of_type(page, element, verb, others)):
                    return found
                raise problem
            await asyncio.sleep(_LOOK_AGAIN)

    async def _of_type(
        self, page: Page, element: Element, verb: str, others: Collection[tuple[str, str]]
    ) -> Found | None:
        """Find a field by its type, where nothing is called like it any more."""
        types: dict[str, str] = {}
        for node in fields_to_type(page, element, verb):
            if node.ref is None:
                continue
            seen = await self._seen(node.ref)
            if seen.exit_code or seen.target is None:
                return None  # the page changes, so that nothing can be said of all its fields
            types[node.ref] = str(seen.target.get("type"))
        return only_of_type(page, element, types, others=others)

    async def _seen(self, ref: str) -> StepDone:
        """What an element is, as a look at it says."""
        return await self._drive.look(BrowserStep(verb="is", arguments=("visible", ref)), seconds=_LOOK_SECONDS)

    async def _snapshot(self) -> str:
        shown = await self._drive.look(SNAPSHOT, seconds=self._clock.within(_LOOK_SECONDS))
        if not shown.exit_code and _TRUNCATED.search(shown.output):
            shown = await self._drive.look(_INTERACTIVE, seconds=self._clock.within(_LOOK_SECONDS))
        if shown.exit_code:
            raise NotFoundHereError(shown.error)
        return shown.output

    async def _alert(self) -> str:
        """What the page itself says went wrong, as it is added to a reason."""
        with suppress(NotFoundHereError, TimeoutError):
            alerts = Page(await self._snapshot()).alerts
            # Cut only after it is redacted: of a secret nothing may be left that looks like none.
            return f" The page says: “{shortened_line(redact(' '.join(alerts)), _QUOTED)}”" if alerts else ""
        return ""

    async def _require_sense(self, step: BrowserStep, ref: str) -> None:
        """A ref of which nothing was recorded says little: it must at least be something that the verb is meant for."""
        seen = await self._seen(ref)
        if seen.exit_code and not self._looked:
            await self._snapshot()  # the payload takes none itself, and cannot mean another one
            seen = await self._seen(ref)
        if seen.exit_code or seen.target is None:
            raise NotFoundHereError(f"{seen.error or f'There is no {ref}.'} Nothing was recorded of what it was.")
        role = str(seen.target.get("role"))
        if not fits(step.verb, role):
            raise NotFoundHereError(
                f"{ref} is a {role} {str(seen.target.get('name'))!r} now, and {step.verb!r} fits {fitting(step.verb)}."
                " Record the step anew, with its role and name."
            )

    async def _may_show(self, work: BrowserWork, found: Found | None) -> bool:
        """Whether a secret was recorded in this very field, which is not one for passwords: an API key, a code."""
        element = work.element
        if element is None or element.password or not element.input_type or found is None or found.recovered:
            return False
        seen = await self._seen(found.ref)
        same = seen.target is not None and seen.target.get("type") == element.input_type
        self._exposed = self._exposed or same
        return same


def _hides(work: BrowserWork) -> bool:
    """Whether what is typed is for a password field alone: it is a secret, or was typed into one."""
    typed = {work.step.verb, *work.step.arguments[2:3]} & TYPING
    return work.secret or (bool(typed) and work.element is not None and work.element.password)


def _bounded(step: BrowserStep) -> BrowserStep:
    if step.verb == "wait" and step.arguments and step.arguments[0].isdecimal():
        return replace(step, arguments=(str(min(int(step.arguments[0]), _LONGEST_PAUSE)),))
    return step


def _without_find(step: BrowserStep) -> BrowserStep:
    """`find role button click --name Save` as the click that it is, its element still to be named."""
    if step.verb != "find":
        return step
    action, *values = step.arguments[3 if step.arguments[0] == "nth" else 2 :]
    if action == "text":
        return BrowserStep(verb="get", arguments=("text", ""))
    return BrowserStep(verb=action, arguments=("", *values))


def _aimed_at(step: BrowserStep, ref: str) -> BrowserStep:
    arguments = list(step.arguments)
    arguments[_TARGET_AT[step.verb]] = ref
    return replace(step, arguments=tuple(arguments))
