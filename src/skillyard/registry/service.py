"""The registry: everything that is done with kept skills, in one place."""

from skillyard.blobs.store import Blobs
from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.history.service import History
from skillyard.identity.agents import Agents
from skillyard.registry.agent_plans import AgentPlans
from skillyard.registry.attachments import Attachments
from skillyard.registry.attempts import Attempts
from skillyard.registry.bundles import Bundles
from skillyard.registry.chronicle import Chronicle
from skillyard.registry.discovery import Discovery
from skillyard.registry.graph import References
from skillyard.registry.intake import Intake
from skillyard.registry.marketplace import Marketplace
from skillyard.registry.publishing import Publishing
from skillyard.registry.shelf import Shelf
from skillyard.registry.shipping import Shipping
from skillyard.registry.states import States
from skillyard.registry.undoing import SkillUndo
from skillyard.registry.usage import SkillUsage
from skillyard.registry.versions import Versions
from skillyard.registry.workbench import Workbench
from skillyard.registry.working_copies import WorkingCopies
from skillyard.usage.service import Usage


class Registry:
    """One object per job, sharing one store."""

    def __init__(self, database: Database, blobs: Blobs, history: History, *, clock: Clock = utc_now) -> None:
        self.bundles = Bundles(database, blobs, clock=clock)
        self.shelf = Shelf(database, self.bundles)
        copies = WorkingCopies(history, clock=clock)
        attempts = Attempts(database, self.bundles, history)
        self.workbench = Workbench(database, self.bundles, copies, attempts)
        self.intake = Intake(database, copies, attempts)
        self.publishing = Publishing(database, self.bundles, copies, self.intake, attempts, clock=clock)
        self.versions = Versions(database, copies)
        self.states = States(database, self.shelf, self.versions, self.bundles)
        self.chronicle = Chronicle(database, history, self.shelf, self.bundles)
        self.references = References(database)
        self.shipping = Shipping(database, self.shelf)
        self.agents = Agents(database, history, clock=clock)
        self.attachments = Attachments(database, history, self.shipping, clock=clock)
        self.agent_plans = AgentPlans(database, history, self.agents, self.attachments, self.shipping)
        self.discovery = Discovery(database, self.bundles)
        self.marketplace = Marketplace(self.discovery, self.bundles)
        self.usage = SkillUsage(database, Usage(database, clock=clock))
        SkillUndo(history, self.bundles, copies, self.versions)
