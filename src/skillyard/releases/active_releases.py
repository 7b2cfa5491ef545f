"""What is in use: which release of a skill a sandbox is given, and runs."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import groupby

from skillyard.db.database import Database
from skillyard.delivery.release_source import ActiveRelease
from skillyard.errors import NotFoundError
from skillyard.registry.bundles import Bundles
from skillyard.releases.decisions.share import takes_canary
from skillyard.releases.models import ReleaseRow
from skillyard.releases.policy import ReleasePolicy
from skillyard.releases.store import active_releases, uses_of
from skillyard.releases.values import Release, Stage, value_of


class ActiveReleases:
    """The releases in use, for injection and for runs alike: a sandbox that is given a canary also runs it."""

    def __init__(self, database: Database, bundles: Bundles, policy: ReleasePolicy) -> None:
        self._database = database
        self._bundles = bundles
        self._policy = policy

    async def active(self, owner: str, stages: Sequence[str], sandbox_id: str) -> list[ActiveRelease]:
        """One release of each skill that a sandbox of this person should have."""
        async with self._database.read() as session:
            rows = [row for row in await active_releases(session, owner) if row.stage in stages]
            chosen = [self._chosen(of_skill, sandbox_id) for _, of_skill in groupby(rows, lambda row: row.skill_key)]
            uses = await uses_of(session, [row.id for row in chosen])
        return [
            ActiveRelease(
                id=row.id,
                skill_key=row.skill_key,
                folder=row.name,
                stage=row.stage,
                digest=row.digest,
                load=partial(self._bundles.load, row.digest),
                uses=uses.get(row.id, 0),
            )
            for row in chosen
            if row.name is not None and row.digest is not None
        ]

    async def choose(self, owner: str, skill_key: str, sandbox_id: str) -> Release:
        """The release of a skill that is run in a sandbox."""
        async with self._database.read() as session:
            rows = await active_releases(session, owner, skill_key)
        if not rows:
            raise NotFoundError(
                f"No active release found for the skill {skill_key[:100]!r}.",
                hint="See what is in use: skillyard release list",
                details={"skill_key": skill_key[:100]},
            )
        return value_of(Release, self._chosen(rows, sandbox_id))

    def _chosen(self, rows: Iterable[ReleaseRow], sandbox_id: str) -> ReleaseRow:
        """A canary is for its share of the sandboxes; with nothing stable beside it, for all."""
        by_stage = {row.stage: row for row in rows}
        stable, canary = by_stage.get(Stage.STABLE), by_stage.get(Stage.CANARY)
        if stable is None or (canary and takes_canary(sandbox_id, canary.id, self._policy.canary_percent)):
            return canary or next(iter(by_stage.values()))
        return stable
