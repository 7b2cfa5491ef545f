"""The jobs of a yard: what is done when it is queued, and what a server does about learned skills by itself."""

from dataclasses import dataclass
from datetime import timedelta

from skillyard.blobs.store import Blobs
from skillyard.clock import Clock
from skillyard.config.sections import Releases
from skillyard.db.database import Database
from skillyard.jobs.service import Jobs
from skillyard.releases.evaluation_jobs import EvaluationWork
from skillyard.releases.evaluations import EVALUATION
from skillyard.releases.learning_runs import LearningRuns
from skillyard.releases.mining_jobs import MiningWork
from skillyard.releases.mining_requests import MINING
from skillyard.releases.runs import Replays
from skillyard.releases.secret_desk import SecretDesk
from skillyard.releases.service import LearnedSkillRooms
from skillyard.releases.watch import Watch


@dataclass(frozen=True, kw_only=True)
class Upkeep:
    """What a server does about learned skills by itself."""

    learning_runs: LearningRuns
    watch: Watch
    watch_seconds: float


def upkeep(database: Database, jobs: Jobs, releases: LearnedSkillRooms, settings: Releases) -> Upkeep:
    return Upkeep(
        learning_runs=LearningRuns(database, jobs, quiet=timedelta(seconds=settings.quiet_seconds)),
        watch=Watch(database, releases.releases, policy=releases.policy),
        watch_seconds=settings.watch_seconds,
    )


def register_release_work(
    jobs: Jobs,
    database: Database,
    blobs: Blobs,
    releases: LearnedSkillRooms,
    *,
    replays: Replays,
    desk: SecretDesk,
    clock: Clock,
) -> None:
    """Let jobs do what learned skills ask for."""
    jobs.register(MINING, MiningWork(database, blobs, releases.mined, clock=clock))
    evaluation = EvaluationWork(database, releases.evaluations, releases.payloads, releases.log, replays, desk)
    jobs.register(EVALUATION, evaluation)
