"""A yard in which an agent learns, for those who torment learning."""

import asyncio
from contextlib import asynccontextmanager

from sqlalchemy import select

from skillyard.app.yard import open_yard
from skillyard.config.sections import Learning
from skillyard.config.settings import Settings
from skillyard.history.entries import Why
from skillyard.history.models import EntryRow
from skillyard.identity.agents import AgentFields
from skillyard.learning.feedback import FeedbackSpec
from skillyard.learning.intake import FEEDBACK
from skillyard.learning.states import Stage
from skillyard.registry.drafts import draft_of
from skillyard.registry.skills import Visibility
from skillyard.skill.bundle import Bundle, BundleFile
from skillyard.skill.write import compose_skill_md

WHY = Why(reason="a test asked for it")
BODY = (
    "# Refunds\n\n## When to use\n\nWhen somebody wants money back.\n\n## Steps\n\n1. Pay.\n\n## End\n\nThank them.\n"
)


class School:
    """A yard in which one agent learns."""

    def __init__(self, yard, boss, model):
        self.yard = yard
        self.rooms = yard.learning
        self.boss = boss
        self.model = model

    async def agent(self, agent_id="support"):
        await self.yard.registry.agents.create(self.boss, AgentFields(name=agent_id), agent_id=agent_id, why=WHY)

    async def skill(self, name="refunds", description=None):
        document = compose_skill_md(name, description or f"How to do {name}.", BODY)
        draft = draft_of(Bundle([BundleFile("SKILL.md", document.encode())]), folder=name)
        published = await self.yard.registry.publishing.publish_bundle(
            self.boss, draft, visibility=Visibility.PUBLIC, why=WHY
        )
        return published.skill

    async def give(self, content="Say please.", **more):
        [taken] = await self.rooms.intake.take(self.boss, [FeedbackSpec(content=content, **more)])
        return taken.feedback.id

    async def learn(self, *contents, **more):
        """Where each piece of feedback stands in the end."""
        ids = [await self.give(content, **more) for content in contents or ["Say please."]]
        await asyncio.gather(*(self.yard.jobs.run(FEEDBACK, each) for each in ids))
        found = [await self.rooms.intake.get(self.boss, each) for each in ids]
        return found if len(found) > 1 else found[0]

    async def again(self, feedback):
        await self.rooms.intake.retry(self.boss, feedback.id)
        await self.yard.jobs.run(FEEDBACK, feedback.id)
        return await self.rooms.intake.get(self.boss, feedback.id)

    async def lesson(self, feedback):
        [lesson] = await self.rooms.lessons.of(self.boss, feedback.id)
        return lesson

    async def transcript(self, feedback):
        return (await self.rooms.lessons.transcript(await self.lesson(feedback))).decode()

    async def remembered(self):
        return sorted(memory.text for memory in await self.rooms.memories.all(self.boss))

    async def history(self, *kinds):
        """What changed, without what setting up changed."""
        async with self.yard.database.read() as session:
            made = (EntryRow.outcome == "done") & EntryRow.subject_kind.in_(kinds)
            return list(await session.scalars(select(EntryRow.action).where(made).order_by(EntryRow.number)))

    async def until_committed(self, number):
        while True:
            counts = await self.rooms.intake.counts(self.boss)
            if counts.get(Stage.COMMITTED, 0) >= number:
                return
            await asyncio.sleep(0.05)

    async def nothing_changed(self):
        return not await self.remembered() and not await self.history("memory", "rule", "proposal")


@asynccontextmanager
async def opened(place, model, **policy):
    settings = Settings(**place, **model.settings, sandbox_backend="unsafe", learning=Learning(**policy))
    async with open_yard(settings) as yard:
        yield School(yard, await yard.access.operator("boss"), model)
