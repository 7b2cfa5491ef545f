"""Lessons that change a skill for some first: tried, watched, then for all or taken back, on each engine."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from skillyard.app.injection_sources import AttachedSkills, WithCanaries
from skillyard.app.learning_skills import skill_commits
from skillyard.app.releases import release_rooms
from skillyard.config.sections import Learning
from skillyard.config.settings import Settings
from skillyard.delivery.bundle_source import AGENT_LABEL, Receiver
from skillyard.errors import ConflictError, NotFoundError
from skillyard.history.entries import Why
from skillyard.identity.agents import AgentFields
from skillyard.identity.owners import Owners
from skillyard.learning.commits import Commits
from skillyard.learning.committing import Committing, Pupil
from skillyard.learning.drafts import Committed, remark
from skillyard.learning.feedback import feedback_of
from skillyard.learning.lessons import Lessons
from skillyard.learning.models import FeedbackRow
from skillyard.learning.skill_wish import SkillWish
from skillyard.learning.skills.applying import SkillApplier
from skillyard.learning.states import Operation
from skillyard.llm.budget import Budget
from skillyard.llm.models import ModelSource
from skillyard.llm.transcripts import Transcript
from skillyard.registry.shipping import SkillRef
from skillyard.registry.skills import Visibility
from skillyard.registry.usage import UsageReport
from skillyard.releases.decisions.share import takes_canary
from skillyard.releases.outcome_reports import OutcomeReport
from skillyard.releases.policy import ReleasePolicy
from skillyard.releases.promotion import Promotion
from skillyard.releases.values import Stage
from skillyard.releases.watch import Watch
from skillyard.usage.events import UsageKind

pytestmark = pytest.mark.anyio

WHY = Why(reason="a test")
BODY = "# Refunds\n\n1. Check the receipt.\n2. Pay.\n"
NEW = {"name": "handle-refunds", "description": "How to pay money back. Use for refunds.", "body_markdown": BODY}
EDIT = {"summary": "A third step.", "edits": [{"path": "SKILL.md", "find": "2. Pay.", "replace": "2. Pay.\n3. Thank."}]}
MORE = {"summary": "A fourth.", "edits": [{"path": "SKILL.md", "find": "3. Thank.", "replace": "3. Thank.\n4. Smile."}]}
AGAIN = {"summary": "Other words.", "edits": [{"path": "SKILL.md", "find": "2. Pay.", "replace": "2. Pay at once."}]}


class Classroom:
    """A yard whose policy is `canary`, unless it releases only what is proven, and a clock that is moved by hand."""

    def __init__(self, world, learner, folder, *, tries_all=True):
        self.world, self.learner, self.yard, self.boss = world, learner, world.yard, learner.boss
        self.registry = world.yard.registry
        self.ahead = timedelta()
        yard = world.yard
        self.policy = replace(ReleasePolicy(), canary_percent=50)
        self.rooms = release_rooms(
            yard.database,
            yard.blobs,
            yard.history,
            yard.registry,
            yard.sandboxes,
            yard.jobs,
            policy=self.policy,
            clock=self.clock,
        )
        self.lessons = Lessons(yard.database, yard.blobs)
        applier = SkillApplier(yard.database, yard.registry, lambda: self.rooms.canaries, tries_all=tries_all)
        self.commits = Commits(yard.database, yard.history, [applier], Learning(skills="canary"))
        self.committing = Committing(self.commits, self.lessons)
        settings = Settings(home=folder)
        self.skills = skill_commits(
            settings,
            ModelSource(settings),
            yard.database,
            yard.history,
            yard.registry,
            yard.sandboxes,
            commits=self.commits,
            committing=self.committing,
        )

    def clock(self):
        return datetime.now(UTC) + self.ahead

    async def pupil(self):
        lesson = await self.lessons.get(self.boss, await self.learner.lesson())
        async with self.yard.database.read() as session:
            feedback = feedback_of(await session.get_one(FeedbackRow, lesson.feedback_id))
        return Pupil(principal=self.boss, feedback=feedback, lesson=lesson)

    async def learn(self, artifact, pupil=None, *, operation=Operation.UPDATE, skill_id="refunds"):
        wish = SkillWish(operation=operation, skill_id=skill_id if operation is Operation.UPDATE else None)
        done = await self.skills.commit_to_skill(
            pupil or await self.pupil(), wish, budget=Budget(), transcript=Transcript(), skill_artifact=artifact
        )
        assert isinstance(done, Committed), done
        return done.effects

    async def prove(self, artifact, pupil, *, operation=Operation.UPDATE):
        """Commit a change for which the evals of the skill speak."""
        wish = SkillWish(operation=operation, skill_id="refunds" if operation is Operation.UPDATE else None)
        work = await self.skills._work(pupil.author, wish, {}, Budget(), Transcript(), artifact)
        draft = await self.skills._drafting.draft(work)
        fact = remark("evals", "evals: 'make check' holds: without the skill no, with the new one yes.", "note")
        proven = replace(draft, content={**draft.content, "evaluated": True}, warnings=[*draft.warnings, fact])
        done = await self.committing.commit(pupil, proven)
        assert isinstance(done, Committed), done
        return done.effects

    async def tags(self, skill):
        versions = await self.registry.versions.all(self.boss, skill.id)
        return {tag: version.version for version in versions for tag in version.tags}

    async def latest(self, skill):
        return (await self.registry.versions.get(self.boss, skill.id)).version

    async def text(self, skill):
        return (await self.world.stored(skill)).get("SKILL.md").data.decode()

    async def in_sandboxes(self, count=40, **labels):
        """The version that each of some sandboxes is given, by its id."""
        attached = AttachedSkills(self.registry, Owners(self.yard.database).principal)
        source = WithCanaries(attached, self.rooms.active, self.registry.bundles)
        given = {}
        for each in range(count):
            receiver = Receiver(owner=self.boss.person_id, sandbox_id=f"sandbox-{each}", labels=labels)
            desired = await source.desired(receiver)
            given[receiver.sandbox_id] = [bundle.origin.version for bundle in desired.bundles]
            for bundle in desired.bundles:
                assert (await bundle.load()).digest == bundle.digest
        return given

    async def outcomes(self, skill, version, *, passed, failed=0):
        """What an agent tells that loaded a version and did its work with it."""
        for each, succeeded in enumerate([True] * passed + [False] * failed):
            session = f"{version}-{each}"
            loaded = UsageReport(skill=skill.id, event=UsageKind.LOADED, version=version, session=session)
            await self.registry.usage.report(self.boss, [loaded])
            told = OutcomeReport(skill=skill.id, version=version, session=session, succeeded=succeeded)
            assert (await self.rooms.outcomes.report(self.boss, told)).run_id

    async def watch(self):
        return await Watch(self.yard.database, self.rooms.releases, policy=self.policy, clock=self.clock).tick()


async def classroom(world, learner, folder, *, tries_all):
    await world.yard.registry.agents.create(world.boss, AgentFields(name="Support"), agent_id="a", why=WHY)
    here = Classroom(world, learner, folder, tries_all=tries_all)
    world.yard.history.register_undo("release.promoted", here.rooms.releases.undo)
    return here


@pytest.fixture
async def room(world, learner, tmp_path):
    return await classroom(world, learner, tmp_path, tries_all=True)


@pytest.fixture
async def lab(world, learner, tmp_path):
    """Where only what is proven is released."""
    return await classroom(world, learner, tmp_path, tries_all=False)


async def refunds(world, **more):
    bundle = world.bundle("refunds", body=BODY)
    return (await world.publish_bundle(world.boss, bundle, visibility=Visibility.PUBLIC, **more)).skill


async def test_a_lesson_is_tried_by_some_sandboxes_and_the_rest_keep_what_they_have(room, world):
    skill = await refunds(world)
    await room.registry.attachments.attach(room.boss, SkillRef(name=skill.id), agent_id=None, why=WHY)
    (effect,) = await room.learn(EDIT)
    assert (effect.kind, effect.version) == ("release", "0.1.1-canary.1")
    assert await room.tags(skill) == {"canary": "0.1.1-canary.1", "stable": "0.1.0"}
    assert await room.latest(skill) == "0.1.0"
    given = await room.in_sandboxes()
    expected = {each: ["0.1.1-canary.1" if takes_canary(each, effect.id, 50) else "0.1.0"] for each in given}
    assert given == expected
    assert len(set(map(tuple, given.values()))) == 2


async def test_whoever_asked_for_a_certain_version_gets_that(room, world):
    skill = await refunds(world)
    await room.registry.attachments.attach(room.boss, SkillRef(name=skill.id, wanted="0.1.0"), agent_id=None, why=WHY)
    await room.registry.attachments.attach(room.boss, SkillRef(name=skill.id, wanted="*"), agent_id="a", why=WHY)
    await room.learn(EDIT)
    assert set(map(tuple, (await room.in_sandboxes()).values())) == {("0.1.0",)}


async def test_what_did_well_is_for_all_under_the_number_that_it_led_up_to(room, world):
    skill = await refunds(world)
    await room.learn(EDIT)
    await room.outcomes(skill, "0.1.0", passed=30)
    await room.outcomes(skill, "0.1.1-canary.1", passed=60)
    assert not (await room.watch()).promoted  # it was not watched for long enough
    room.ahead = timedelta(days=2)
    watched = await room.watch()
    assert len(watched.promoted) == 1, watched
    assert await room.latest(skill) == "0.1.1"
    assert await room.tags(skill) == {"stable": "0.1.1"}
    assert "3. Thank." in await room.text(skill)


async def test_what_did_badly_is_taken_back_with_the_working_copy(room, world):
    skill = await refunds(world)
    before = await room.text(skill)
    await room.learn(EDIT)
    await room.outcomes(skill, "0.1.0", passed=30)
    await room.outcomes(skill, "0.1.1-canary.1", passed=2, failed=20)
    watched = await room.watch()
    assert len(watched.rolled_back) == 1, watched
    assert await room.tags(skill) == {"stable": "0.1.0"}
    assert await room.text(skill) == before
    tried = next(one for one in await room.registry.versions.all(room.boss, skill.id) if "canary" in one.version)
    assert tried.yank_reason


async def test_a_person_promotes_it_or_takes_it_back(room, world):
    skill = await refunds(world)
    (first,) = await room.learn(EDIT)
    release = await room.rooms.releases.get(room.boss, first.id)
    await room.rooms.releases.promote(room.boss, release.candidate_id, Promotion(stage=Stage.STABLE))
    assert await room.latest(skill) == "0.1.1"
    (second,) = await room.learn(MORE)
    assert second.version == "0.1.2-canary.1"
    await room.rooms.releases.rollback(room.boss, second.id, reason="It smiles too much.")
    assert await room.latest(skill) == "0.1.1"
    assert "4. Smile." not in await room.text(skill)
    assert "3. Thank." in await room.text(skill)


async def test_publishers_of_the_namespace_decide_and_strangers_find_nothing(room, world):
    await refunds(world)
    (effect,) = await room.learn(EDIT)
    assert await room.rooms.releases.get(world.publisher, effect.id)
    for stranger in (world.editor, world.foreigner):
        with pytest.raises(NotFoundError):
            await room.rooms.releases.get(stranger, effect.id)


async def test_the_next_lesson_builds_on_the_one_that_is_tried(room, world):
    skill = await refunds(world)
    await room.learn(EDIT)
    (effect,) = await room.learn(MORE)
    assert effect.version == "0.1.1-canary.2"
    assert await room.tags(skill) == {"canary": "0.1.1-canary.2", "stable": "0.1.0"}
    assert "3. Thank.\n4. Smile." in await room.text(skill)
    await room.rooms.releases.rollback(room.boss, effect.id)
    assert await room.latest(skill) == "0.1.0"


async def test_the_same_lesson_is_tried_once(room, world):
    skill = await refunds(world)
    pupil = await room.pupil()
    first = await room.learn(EDIT, pupil)
    lesson = await room.lessons.get(room.boss, pupil.lesson.id)
    again = await room.committing.resume(replace(pupil, lesson=lesson))
    assert again.effects == first
    assert len(await room.registry.versions.all(room.boss, skill.id)) == 2


@pytest.mark.parametrize("promoted", [False, True])
async def test_undoing_a_lesson_takes_its_release_back_however_far_it_got(room, world, promoted):
    skill = await refunds(world)
    before = await room.text(skill)
    (effect,) = await room.learn(EDIT)
    if promoted:
        release = await room.rooms.releases.get(room.boss, effect.id)
        await room.rooms.releases.promote(room.boss, release.candidate_id, Promotion(stage=Stage.STABLE))
    await room.registry.chronicle.undo(room.boss, effect.history, why=WHY)
    assert await room.latest(skill) == "0.1.0"
    assert await room.tags(skill) == {"stable": "0.1.0"}
    assert await room.text(skill) == before


async def test_undoing_after_it_was_taken_back_changes_nothing_more(room, world):
    skill = await refunds(world)
    (effect,) = await room.learn(EDIT)
    await room.rooms.releases.rollback(room.boss, effect.id)
    await room.registry.chronicle.undo(room.boss, effect.history, why=WHY)
    assert await room.tags(skill) == {"stable": "0.1.0"}


async def test_a_lesson_that_others_built_on_is_not_undone_below_them(room, world):
    await refunds(world)
    (first,) = await room.learn(EDIT)
    await room.learn(MORE)
    with pytest.raises(ConflictError):
        await room.registry.chronicle.undo(room.boss, first.history, why=WHY)


async def test_what_somebody_published_since_is_neither_replaced_nor_tried_against(room, world):
    skill = await refunds(world)
    await room.registry.attachments.attach(room.boss, SkillRef(name=skill.id), agent_id=None, why=WHY)
    (effect,) = await room.learn(EDIT)
    edited = await world.edit(world.boss, skill, f"{BODY}\n5. By hand.\n")
    await world.publish(world.boss, edited)
    assert set(map(tuple, (await room.in_sandboxes()).values())) == {("0.1.1",)}
    release = await room.rooms.releases.get(room.boss, effect.id)
    with pytest.raises(ConflictError, match="was published since"):
        await room.rooms.releases.promote(room.boss, release.candidate_id, Promotion(stage=Stage.STABLE))
    (later,) = await room.learn(AGAIN)
    assert later.version == "0.1.2-canary.1"
    assert await room.tags(skill) == {"canary": "0.1.2-canary.1", "stable": "0.1.1"}


async def test_a_working_copy_that_was_never_published_stays_what_the_others_are_given(room, world):
    skill = await world.create(world.boss, "refunds", body=BODY, visibility=Visibility.PUBLIC)
    await room.learn(EDIT)
    assert await room.latest(skill) == "0.1.0"
    assert await room.tags(skill) == {"canary": "0.1.1-canary.1", "stable": "0.1.0"}


async def test_a_new_skill_has_nothing_stable_beside_it_and_is_for_all_its_agents(room, world):
    made, release, *attached = await room.learn(NEW, operation=Operation.CREATE)
    skill = await room.registry.shelf.get(room.boss, made.id)
    assert (made.kind, release.kind, len(attached)) == ("skill", "release", 1)
    assert await room.tags(skill) == {"canary": "0.1.0-canary.1"}
    given = await room.in_sandboxes(5, **{AGENT_LABEL: "a"})
    assert set(map(tuple, given.values())) == {("0.1.0-canary.1",)}
    assert set(map(tuple, (await room.in_sandboxes(5)).values())) == {()}
    for effect in reversed([made, release, *attached]):
        await room.registry.chronicle.undo(room.boss, effect.history, why=WHY)
    assert "handle-refunds" not in await world.listing(world.boss)


async def test_where_versions_are_reviewed_people_decide_and_nothing_is_tried(room, world):
    skill = await refunds(world)
    await world.yard.namespaces.set_policy(world.boss, world.team, {"review": True}, why=WHY)
    copied, published = await room.learn(EDIT)
    assert (copied.kind, published.version) == ("skill", "0.1.1")
    assert await room.tags(skill) == {}


async def test_what_evals_speak_for_is_evaluated_and_released_to_all_and_can_be_taken_back(lab, world):
    skill = await refunds(world)
    before, pupil = await lab.text(skill), await lab.pupil()
    (effect,) = await lab.prove(EDIT, pupil)
    assert (effect.kind, effect.label, effect.version) == ("release", "team/refunds (stable)", "0.1.1")
    assert (await lab.tags(skill), await lab.latest(skill)) == ({"stable": "0.1.1"}, "0.1.1")
    release = await lab.rooms.releases.get(lab.boss, effect.id)
    [evaluation] = await lab.rooms.evaluations.all(lab.boss, release.candidate_id)
    assert evaluation.passed
    assert "'make check' holds: without the skill no, with the new one yes." in evaluation.report
    lesson = await lab.lessons.get(lab.boss, pupil.lesson.id)
    assert (await lab.committing.resume(replace(pupil, lesson=lesson))).effects == (effect,)
    assert len(await lab.registry.versions.all(lab.boss, skill.id)) == 3
    await lab.registry.chronicle.undo(lab.boss, effect.history, why=WHY)
    assert (await lab.tags(skill), await lab.latest(skill)) == ({"stable": "0.1.0"}, "0.1.0")
    assert await lab.text(skill) == before


@pytest.mark.parametrize("cut_off", ["begin", "promote"])
async def test_what_is_cut_off_before_it_is_released_to_all_is_released_once(lab, world, monkeypatch, cut_off):
    skill = await refunds(world)
    pupil = await lab.pupil()
    owner = lab.rooms.canaries if cut_off == "begin" else lab.rooms.releases

    async def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(owner, cut_off, killed)
        with pytest.raises(KeyboardInterrupt):
            await lab.prove(EDIT, pupil)
    assert await lab.latest(skill) == "0.1.0"
    lesson = await lab.lessons.get(lab.boss, pupil.lesson.id)
    done = await lab.committing.resume(replace(pupil, lesson=lesson))
    assert [(effect.kind, effect.version) for effect in done.effects] == [("release", "0.1.1")]
    assert await lab.tags(skill) == {"stable": "0.1.1"}


async def test_a_change_without_evals_is_published_and_not_released(lab, world):
    skill = await refunds(world)
    copied, published = await lab.learn(EDIT)
    assert (copied.kind, published.version) == ("skill", "0.1.1")
    assert await lab.tags(skill) == {}
