"""Learned skills: the active releases of a person, as many as may be injected."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from skillyard.delivery.bundle_source import Desired, DesiredBundle, LoadBundle, Origin, Receiver, Shortfall

RELEASE: Final = "release"
"""The kind of the origins of learned skills."""
STAGES: Final = ("stable", "canary")
MAX_SKILLS: Final = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class ActiveRelease:
    """A release that is in use."""

    id: str
    skill_key: str
    folder: str
    """The name that the skill was rendered under."""
    stage: str
    digest: str
    load: LoadBundle
    refusal: str = ""
    """Why it is not delivered to anybody."""
    uses: int = 0
    """How often it was used; where there are too many, the most used come first."""


class ReleaseSource(Protocol):
    """Whoever keeps releases."""

    async def active(self, owner: str, stages: Sequence[str], sandbox_id: str) -> Sequence[ActiveRelease]:
        """The active releases of a person in these stages, for one sandbox of theirs.

        Where a skill has several, the stage that is named first gets the folder: a canary does not switch a stable
        release off. Who wants the canary tried in this sandbox answers with it alone.
        """
        ...


class LearnedSkills:
    """The source of what was learned."""

    kind = RELEASE

    def __init__(
        self, releases: ReleaseSource, *, max_skills: int = MAX_SKILLS, include_stages: Sequence[str] = STAGES
    ) -> None:
        self._releases = releases
        self._max_skills = max_skills
        self._stages = tuple(include_stages)

    async def desired(self, receiver: Receiver) -> Desired:
        active = await self._releases.active(receiver.owner, self._stages, receiver.sandbox_id)
        included = [release for release in active if release.stage in self._stages]
        included.sort(key=lambda release: self._stages.index(release.stage))
        first: dict[str, ActiveRelease] = {}
        for release in included:
            first.setdefault(release.skill_key, release)
        refused = [release for release in first.values() if release.refusal]
        usable = [release for release in first.values() if not release.refusal]
        chosen = sorted(usable, key=lambda release: (-release.uses, release.skill_key))
        return Desired(
            bundles=tuple(map(_bundle, chosen[: self._max_skills])),
            shortfalls=(
                *(Shortfall(origin=_origin(each), reason=each.refusal, refused=True) for each in refused),
                *(
                    Shortfall(origin=_origin(each), reason=self._surplus(len(chosen)))
                    for each in chosen[self._max_skills :]
                ),
            ),
        )

    def _surplus(self, count: int) -> str:
        return f"{count} learned skills are active and {self._max_skills} may be injected; this one is used less."


def _bundle(release: ActiveRelease) -> DesiredBundle:
    return DesiredBundle(folder=release.folder, digest=release.digest, origin=_origin(release), load=release.load)


def _origin(release: ActiveRelease) -> Origin:
    return Origin(kind=RELEASE, skill=release.skill_key, version=release.id)
