"""Running learned skills: the release that is in use is replayed, and what came of it is kept."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, NamedTuple, Protocol

from skillyard.errors import ConflictError, InputError, NotFoundError, SkillyardError
from skillyard.identity.principals import Principal, Scope
from skillyard.registry.usage import SkillUsage, UsageReport
from skillyard.releases.active_releases import ActiveReleases
from skillyard.releases.candidates import Candidates
from skillyard.releases.ids import new_id
from skillyard.releases.outcomes import Replay
from skillyard.releases.payload_store import PayloadStore, unsupported
from skillyard.releases.payloads import Payload
from skillyard.releases.release_diff import PayloadDiff, diff_payloads
from skillyard.releases.releases import Releases
from skillyard.releases.run_log import RunLog
from skillyard.releases.values import Candidate, Release, ReleaseState
from skillyard.sandbox.executions import Said
from skillyard.usage.events import UsageKind

SECONDS: Final = 120.0
_BAD: Final = frozenset({ReleaseState.ROLLED_BACK, ReleaseState.KILLED})


class Replays(Protocol):
    """Whoever takes the steps of a payload."""

    async def replay(
        self,
        caller: Principal,
        payload: Payload,
        variables: Mapping[str, Any],
        *,
        sandbox_id: str | None = None,
        seconds: float = SECONDS,
        stop_on_error: bool = True,
        said: Said | None = None,
    ) -> Replay:
        """Take them in a sandbox, a fresh one if none is named. What goes wrong is the verdict, not an error.

        Without `stop_on_error` it goes on after a step that failed, and fails all the same.
        """
        ...


class Ran(NamedTuple):
    """A skill that was run."""

    release: Release
    replay: Replay
    run_id: str


class SkillRuns:
    """Runs skills for their owners."""

    def __init__(
        self,
        candidates: Candidates,
        payloads: PayloadStore,
        releases: Releases,
        active: ActiveReleases,
        log: RunLog,
        replays: Replays,
        usage: SkillUsage,
    ) -> None:
        self._candidates = candidates
        self._payloads = payloads
        self._releases = releases
        self._active = active
        self._log = log
        self._replays = replays
        self._usage = usage

    async def run(
        self,
        caller: Principal,
        skill_key: str,
        variables: Mapping[str, Any] | None = None,
        *,
        secrets: Mapping[str, Any] | None = None,
        sandbox_id: str | None = None,
        release_id: str | None = None,
        seconds: float = SECONDS,
        stop_on_error: bool = True,
        said: Said | None = None,
    ) -> Ran:
        """Run a skill, in a sandbox of the caller's or in a fresh one.

        Which release is run is settled by the sandbox, unless one is named. Values of secrets are kept nowhere. What is
        `said` about it is kept with its executions.
        """
        caller.require_scope(Scope.WRITE)
        release = await self._release(caller, skill_key, sandbox_id, release_id)
        candidate = await self._candidates.get(caller, release.candidate_id)
        payload = hiding(await self._payload(caller, candidate), secrets or {})
        given = {**(variables or {}), **(secrets or {})}
        replay = await self._replays.replay(
            caller,
            payload,
            given,
            sandbox_id=sandbox_id,
            seconds=seconds,
            stop_on_error=stop_on_error,
            said=said,
        )
        run_id = await self._log.keep(
            owner_id=caller.person_id,
            candidate_id=candidate.id,
            release_id=release.id,
            payload=payload,
            variables=given,
            replay=replay,
        )
        await self._count(caller, release, replay)
        return Ran(release, replay, run_id)

    async def diff(self, caller: Principal, old: Release, new: Release) -> PayloadDiff:
        """What differs between two releases, as far as their steps are known here."""
        return diff_payloads(await self._known_payload(caller, old), await self._known_payload(caller, new))

    async def _known_payload(self, caller: Principal, release: Release) -> Payload | None:
        try:
            return await self._payload(caller, await self._candidates.get(caller, release.candidate_id))
        except (InputError, NotFoundError):
            return None

    async def _payload(self, caller: Principal, candidate: Candidate) -> Payload:
        if candidate.payload_ref is None:
            raise unsupported(None)
        return await self._payloads.payload(caller.person_id, candidate.payload_ref)

    async def _release(
        self, caller: Principal, skill_key: str, sandbox_id: str | None, release_id: str | None
    ) -> Release:
        if release_id is None:
            return await self._active.choose(caller.person_id, skill_key, sandbox_id or new_id("run"))
        release = await self._releases.get(caller, release_id)
        if release.skill_key != skill_key or release.state in _BAD:
            raise ConflictError(
                f"The release {release_id} of {release.skill_key!r} cannot be run as {skill_key!r}: "
                f"it is {release.state}.",
                hint="Name a release of this skill that was not taken back, or none.",
                details={"release_id": release_id, "skill_key": skill_key, "state": release.state},
            )
        return release

    async def _count(self, caller: Principal, release: Release, replay: Replay) -> None:
        """Let the run count as a use of the skill in the registry, if it is there."""
        if release.name is None:
            return
        event = UsageKind.SUCCEEDED if replay.passed else UsageKind.FAILED
        report = UsageReport(
            skill=f"{caller.name}/{release.name}", event=event, session=replay.sandbox_id or "", detail=replay.reason
        )
        with suppress(SkillyardError):  # the run happened, whether or not it is counted there
            await self._usage.report(caller, [report])


def hiding(payload: Payload, names: Collection[str]) -> Payload:
    """The same payload, in which these variables are secrets: whatever is given as a secret is one."""
    variables = {
        name: replace(variable, secret=True, default=None) if name in names else variable
        for name, variable in payload.variables.items()
    }
    return replace(payload, variables=variables)
