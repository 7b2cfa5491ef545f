"""The course of one replay: conditions, steps row by row, conditions, verdict."""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from skillyard.errors import SkillyardError
from skillyard.identity.principals import Principal
from skillyard.redact import Secrets, redact
from skillyard.releases.filling.shell import environment_name
from skillyard.releases.mining.findings import REPLAY_TAG
from skillyard.releases.outcomes import Replay, StepReport, Verdict
from skillyard.releases.payload_checks import OF_PAGES
from skillyard.releases.payloads import Check, CheckKind, Payload, StepType
from skillyard.releases.placeholders import Scalar, text_of
from skillyard.releases.replay.browser import LOOK, BrowserRow, Patience
from skillyard.releases.replay.checks import Checks, Said
from skillyard.releases.replay.preparation import BrowserWork, CodeWork, Work
from skillyard.releases.replay.reports import Clock, FailedError, shortened
from skillyard.sandbox import executions
from skillyard.sandbox.browsing import Browsing, Drive
from skillyard.sandbox.capabilities import Ability
from skillyard.sandbox.runs import MAX_SECONDS, Done, Runs, Wish
from skillyard.sandbox.sandboxes import Sandbox
from skillyard.sandbox.session import Ending, Outcome, PythonOutcome
from skillyard.sandbox.workspace import Workspace

CODE_SECONDS: Final = 60.0
_GRACE: Final = 5.0
_FILE_SECONDS: Final = 1.0
_NEEDED: Final = {
    StepType.BROWSER: Ability.BROWSER,
    StepType.SHELL: Ability.SHELL,
    StepType.PYTHON: Ability.PYTHON,
}


@dataclass(kw_only=True)
class Course:
    """One replay under way."""

    runs: Runs
    browsing: Browsing
    workspace: Workspace
    caller: Principal
    sandbox: Sandbox
    payload: Payload
    values: Mapping[str, Scalar]
    clock: Clock
    patience: Patience
    stop_on_error: bool = True
    """Whether it ends with the first step that fails."""
    said: executions.Said = field(default_factory=executions.Said)
    """What is kept with its executions, beside the tag of replays."""
    _reports: list[StepReport] = field(default_factory=list[StepReport])
    _executions: list[str] = field(default_factory=list[str])
    _outputs: list[str] = field(default_factory=list[str])
    _screenshot: bytes | None = None
    _browsed: bool = False
    _named: Collection[tuple[str, str]] = ()
    """The elements of all steps."""
    _at: int | None = None
    """The step that is being taken."""
    _failures: list[FailedError] = field(default_factory=list[FailedError])
    """Steps that failed, although it went on."""
    _spent: float = 0.0
    """Seconds of the steps alone: the start of a sandbox and of its browser is none of theirs."""

    async def taken(self, works: Sequence[Work]) -> Replay:
        """Take all steps, or as many as can be taken, and say what came of it."""
        try:
            async with asyncio.timeout(self.clock.seconds + _GRACE):
                await self._all(works)
        except FailedError as error:
            self._failures.append(error)
        except TimeoutError:
            self._failures.append(self._too_late())
        except SkillyardError as error:
            if not self._reports:
                raise  # nothing was begun: that says nothing about the skill
            reason = f"{error.message} {error.hint}".strip()
            self._failures.append(FailedError(Verdict.STEP_FAIL, reason, step=self._at))
        if not self._failures:
            return self._told(Verdict.PASS, "", None)
        first, *more = self._failures
        also = f" {len(more)} more failed after it." if more else ""
        return self._told(first.verdict, f"{first.reason}{also}", first.step)

    async def _all(self, works: Sequence[Work]) -> None:
        self._require_place()
        before, on_page = _split(self.payload.preconditions)
        await self._hold(before, Said(), verdict=Verdict.PRECONDITION_FAIL)
        after, at_end = _split(self.payload.postconditions)
        self._named = {(work.element.role, work.element.name) for work in _browser_works(works) if work.element}
        last = max((work.index for work in works if isinstance(work, BrowserWork)), default=-1)
        for browses, row in groupby(works, key=lambda work: isinstance(work, BrowserWork)):
            steps = list(row)
            if browses:
                is_end = steps[-1].index == len(works) - 1
                conditions = (on_page if not self._browsed else (), at_end if is_end else ())
                await self._browse(list(_browser_works(steps)), *conditions, last=steps[-1].index == last)
            for work in steps:
                if isinstance(work, CodeWork):
                    await self._run(work)
        self._at = None
        if self._failures:
            return  # whatever else should hold was not to be expected any more
        if at_end and last < 0:
            await self._hold(at_end, Said())  # no page was ever opened that could be so
        elif at_end and last != len(works) - 1:
            await self._browse([], (), at_end, last=True)
        await self._hold(after, Said(output="\n".join(self._outputs)))

    def _require_place(self) -> None:
        """A sandbox of the caller's must be able to do it, and to reach what the recorded ones reached."""
        lacking = sorted(
            _NEEDED[kind].value
            for kind in {step.type for step in self.payload.steps}
            if _NEEDED[kind].value not in self.sandbox.capabilities
        )
        if lacking:
            self._refuse(f"The sandbox cannot do {', '.join(lacking)}. Use one with the profile browser-python.")
        beyond = [endpoint for endpoint in self.payload.network if endpoint not in self.sandbox.network]
        if beyond:
            self._refuse(f"The sandbox may not reach {', '.join(beyond)}. Create it with these in its network list.")

    def _too_late(self) -> FailedError:
        return FailedError(Verdict.STEP_FAIL, f"The {self.clock.seconds:g} s of the replay were over.", step=self._at)

    def _refuse(self, reason: str) -> None:
        raise FailedError(Verdict.PRECONDITION_FAIL, reason, step=None)

    def _failed(self, error: FailedError) -> None:
        """Let the replay end with a step that failed, or go on without it."""
        if self.stop_on_error or error.is_final:
            raise error
        self._failures.append(error)

    async def _hold(
        self,
        checks: Sequence[Check],
        said: Said,
        *,
        step: int | None = None,
        verdict: Verdict = Verdict.POSTCONDITION_FAIL,
    ) -> None:
        if not checks:
            return
        problem = await self._checks.failing(checks, said, seconds=self.clock.within(_FILE_SECONDS))
        if problem is not None:
            raise FailedError(verdict, problem, step=step)

    async def _browse(
        self, works: Sequence[BrowserWork], before: Sequence[Check], after: Sequence[Check], *, last: bool
    ) -> None:
        """Take a row of browser steps as one run."""
        self._browsed = True
        failure: FailedError | None = None

        async def drive(driver: Drive) -> None:
            nonlocal failure
            row = BrowserRow(driver, self._checks, self.clock, self.patience)
            began = driver.seconds
            try:
                await row.begun()
                began = driver.seconds
                await self._row(row, works, before, after)
            except FailedError as error:
                failure = error
            except TimeoutError:
                failure = self._too_late()
            finally:
                self._reports += row.reports
                self._outputs += [report.output for report in row.reports if report.output]
                self._spent += driver.seconds - began
            if (last or failure) and not self._failures:
                await self._see(row)

        wish = self._wish(self.clock.within(MAX_SECONDS), self._secrets())
        commands = [work.source.text for work in works if not work.left_out] or [LOOK]
        done = await self.browsing.drive(self.caller, self.sandbox.id, commands, wish, drive)
        self._executions.append(done.execution.id)
        if failure is not None:
            raise failure
        if done.execution.ending == Ending.DIED:
            raise FailedError(Verdict.STEP_FAIL, done.error or "The sandbox died.", step=self._at)

    async def _row(
        self, row: BrowserRow, works: Sequence[BrowserWork], before: Sequence[Check], after: Sequence[Check]
    ) -> None:
        if all(work.left_out for work in works):
            await row.look()
        expected = list(before)
        for work in works:
            self._at = work.index
            if work.left_out:
                self._reports.append(_left_out(work))
                continue
            if expected and (row.reports or work.step.verb != "open"):
                await row.hold(expected, Said(), step=None, verdict=Verdict.PRECONDITION_FAIL)
                expected = []
            own = {(work.element.role, work.element.name)} if work.element else set[tuple[str, str]]()
            try:
                await row.take(work, others=set(self._named) - own)
            except FailedError as error:
                self._failed(error)
                if error is self._failures[0]:
                    await self._see(row)
        if expected:
            await row.hold(expected, Said(), step=None, verdict=Verdict.PRECONDITION_FAIL)
        if not self._failures:
            await row.hold(after, Said(), step=None)

    async def _see(self, row: BrowserRow) -> None:
        """Keep what the page looks like now."""
        with suppress(TimeoutError):
            self._screenshot = await row.screenshot()

    async def _run(self, work: CodeWork) -> None:
        """Run a command or code."""
        self._at = work.index
        if work.left_out:
            self._reports.append(_left_out(work))
            return
        wish = self._wish(self.clock.within(work.source.timeout or CODE_SECONDS), work.secrets)
        done: Done[Outcome] | Done[PythonOutcome]
        if work.source.type is StepType.SHELL:
            done = await self.runs.shell(
                self.caller,
                self.sandbox.id,
                work.text,
                wish,
                cwd=work.source.cwd,
                environment=work.environment,
            )
        else:
            done = await self.runs.python(self.caller, self.sandbox.id, work.text, wish)
        execution = done.execution
        self._executions.append(execution.id)
        code = execution.exit_code if work.source.type is StepType.SHELL else int(not execution.success)
        judged = any(check.kind is CheckKind.EXIT_CODE and int(check.value) for check in work.source.checks)
        came_to_end = execution.ending == Ending.EXITED
        success = execution.success or (judged and came_to_end)
        self._outputs.append(done.output)
        self._reports.append(
            StepReport(
                index=work.index,
                type=work.source.type,
                text=work.source.text,
                success=success,
                output=shortened(done.output),
                error=shortened(done.error or ""),
                exit_code=code,
                milliseconds=execution.milliseconds,
            )
        )
        self._spent += execution.milliseconds / 1000
        if not success:
            is_final = execution.ending == Ending.DIED
            why = _why(done.error, code)
            self._failed(FailedError(Verdict.STEP_FAIL, why, step=work.index, is_final=is_final))
            return
        said = Said(output="\n".join(part for part in (done.output, done.error) if part), exit_code=code)
        try:
            await self._hold(work.source.checks, said, step=work.index)
        except FailedError as error:
            self._reports[-1] = replace(self._reports[-1], success=False, error=error.reason)
            self._failed(error)

    @property
    def _checks(self) -> Checks:
        hidden = {name for name, variable in self.payload.variables.items() if variable.secret}
        return Checks(self.workspace, self.caller, self.sandbox.id, self.values, secrets=hidden)

    def _secrets(self) -> dict[str, str]:
        """All secrets of the payload, so that they are kept out of whatever pages say."""
        return {
            environment_name(name): text_of(self.values[name])
            for name, variable in self.payload.variables.items()
            if variable.secret
        }

    def _wish(self, seconds: float, secrets: Mapping[str, str]) -> Wish:
        tags = ",".join([*executions.tags_in(self.said.tags), REPLAY_TAG])
        return Wish(seconds=seconds, secrets=secrets, said=replace(self.said, tags=tags))

    def _told(self, verdict: Verdict, reason: str, step: int | None) -> Replay:
        secrets = Secrets(self._secrets().values())

        def clean(text: str) -> str:
            return redact(secrets.text(text))

        return Replay(
            verdict=verdict,
            reason=shortened(clean(reason)),
            step=step,
            steps=tuple(
                replace(
                    report,
                    output=clean(report.output),
                    error=clean(report.error),
                    recovered=clean(report.recovered),
                )
                for report in sorted(self._reports, key=lambda report: report.index)
            ),
            total_steps=len(self.payload.steps),
            sandbox_id=self.sandbox.id,
            execution_ids=tuple(self._executions),
            screenshot=self._screenshot,
            milliseconds=round(self._spent * 1000),
        )


def _split(checks: Sequence[Check]) -> tuple[list[Check], list[Check]]:
    """Those that can be looked at anywhere, and those on pages."""
    return [check for check in checks if check.kind not in OF_PAGES], [
        check for check in checks if check.kind in OF_PAGES
    ]


def _browser_works(works: Sequence[Work]) -> Iterator[BrowserWork]:
    return (work for work in works if isinstance(work, BrowserWork))


def _left_out(work: Work) -> StepReport:
    said = f"Left out: there is no value for {work.source.when}."
    return StepReport(index=work.index, type=work.source.type, text=work.source.text, success=True, output=said)


def _why(error: str | None, code: int | None) -> str:
    """How it ended, and the last thing that it said; all of it is in the report of the step."""
    ended = f"It ended with the code {code}" if code is not None else "It did not come to its end"
    said = next((line.strip() for line in reversed((error or "").splitlines()) if line.strip()), "")
    return f"{ended}: {said}" if said else f"{ended}."
