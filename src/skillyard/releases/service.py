"""Everything that is done with learned skills, in one place."""

from skillyard.blobs.store import Blobs
from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.history.service import History
from skillyard.jobs.service import Jobs
from skillyard.registry.service import Registry
from skillyard.releases.active_releases import ActiveReleases
from skillyard.releases.benchmarks import Benchmarks
from skillyard.releases.candidate_ledger import CandidateLedger
from skillyard.releases.candidates import Candidates
from skillyard.releases.evaluations import Evaluations
from skillyard.releases.execution_pages import ExecutionPages
from skillyard.releases.gaps import Gaps
from skillyard.releases.health import Health
from skillyard.releases.insights import Insights
from skillyard.releases.mined_candidates import MinedCandidates
from skillyard.releases.mining_requests import MiningRequests
from skillyard.releases.outcome_reports import OutcomeReports
from skillyard.releases.payload_store import PayloadStore
from skillyard.releases.policy import ReleasePolicy
from skillyard.releases.publishing import ReleasePublishing
from skillyard.releases.release_ledger import ReleaseLedger
from skillyard.releases.releases import Releases
from skillyard.releases.rendered import Rendering
from skillyard.releases.retirement import Retirement
from skillyard.releases.run_log import RunLog
from skillyard.releases.runs import Replays, SkillRuns
from skillyard.releases.secret_desk import SecretDesk
from skillyard.releases.skill_canaries import SkillCanaries
from skillyard.releases.skill_search import SkillSearch


class LearnedSkillRooms:
    """One object per job, sharing one store."""

    def __init__(
        self,
        database: Database,
        blobs: Blobs,
        history: History,
        registry: Registry,
        *,
        jobs: Jobs,
        desk: SecretDesk,
        replays: Replays,
        policy: ReleasePolicy | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self.policy = policy or ReleasePolicy()
        self.payloads = PayloadStore(database, blobs, clock=clock)
        rendering = Rendering(database)
        entries = CandidateLedger(database, history, registry.bundles, clock=clock)
        self.candidates = Candidates(database, self.payloads, rendering, entries, clock=clock)
        self.mined = MinedCandidates(database, self.payloads, rendering, entries, clock=clock)
        self.benchmarks = Benchmarks(database, clock=clock)
        self.evaluations = Evaluations(database, history, self.payloads, self.benchmarks, jobs, desk, clock=clock)
        publishing = ReleasePublishing(database, registry, history, clock=clock)
        ledger = ReleaseLedger(history, publishing, self.policy, clock=clock)
        self.releases = Releases(database, self.payloads, publishing, ledger, self.policy)
        self.canaries = SkillCanaries(database, ledger, self.releases, clock=clock)
        self.active = ActiveReleases(database, registry.bundles, self.policy)
        self.log = RunLog(database, blobs, clock=clock)
        self.runs = SkillRuns(
            self.candidates, self.payloads, self.releases, self.active, self.log, replays, registry.usage
        )
        self.outcomes = OutcomeReports(database, registry.usage, clock=clock)
        self.mining = MiningRequests(database, jobs, clock=clock)
        self.health = Health(database, policy=self.policy, clock=clock)
        self.retirement = Retirement(database, policy=self.policy, clock=clock)
        self.insights = Insights(database, clock=clock)
        self.gaps = Gaps(database, blobs, clock=clock)
        self.executions = ExecutionPages(database)
        self.search = SkillSearch(database)
