"""Agents, the skills attached to them, and declarations of both."""

import pytest

from skillyard.errors import ConflictError, InputError, NotAllowedError, NotFoundError
from skillyard.history.entries import Why
from skillyard.identity.agent_file import read_declaration
from skillyard.identity.agents import AgentFields
from skillyard.identity.principals import Scope
from skillyard.registry.agent_plans import PlanAction
from skillyard.registry.attachments import Via
from skillyard.registry.shipping import SkillRef
from skillyard.registry.skills import Visibility

pytestmark = pytest.mark.anyio

WHY = Why(reason="a test asked for it")


async def agent(world, agent_id="helper", principal=None, **fields):
    fields.setdefault("name", agent_id.title())
    agents = world.yard.registry.agents
    return await agents.create(principal or world.boss, AgentFields(**fields), agent_id=agent_id, why=WHY)


async def attach(world, skill, agent_id="helper", wanted="", principal=None):
    ref = SkillRef.of(skill.full_name, wanted)
    return await world.yard.registry.attachments.attach(principal or world.boss, ref, agent_id=agent_id, why=WHY)


async def detach(world, skill, agent_id="helper", principal=None):
    ref = SkillRef.of(skill.id)
    await world.yard.registry.attachments.detach(principal or world.boss, ref, agent_id=agent_id, why=WHY)


async def skills(world, agent_id="helper", principal=None):
    found = await world.yard.registry.attachments.agent_skills(principal or world.boss, agent_id)
    return [(each.full_name, each.wanted, each.via) for each in found.attached]


async def apply(world, dry_run=False, principal=None, **values):
    plans = world.yard.registry.agent_plans
    return await plans.apply(principal or world.boss, read_declaration(values), dry_run=dry_run, why=WHY)


def steps(plan):
    return [(step.action, step.agent, step.skill) for step in plan.steps]


async def all_ids(world, principal=None):
    return [one.id for one in await world.yard.registry.agents.all(principal or world.boss)]


async def test_an_agent_is_made_read_changed_and_deleted(world):
    agents = world.yard.registry.agents
    made = await agent(world, role="Helps", goal="Happy people")
    assert (await agents.get(world.viewer, "helper")) == made
    changed = await agents.update(world.boss, "helper", {"goal": "Happier people"}, why=WHY)
    assert (changed.name, changed.role, changed.goal) == ("Helper", "Helps", "Happier people")
    assert await agents.get(world.viewer, "helper") == changed
    await agents.delete(world.boss, "helper", why=WHY)
    with pytest.raises(NotFoundError):
        await agents.get(world.boss, "helper")
    assert await all_ids(world) == []


async def test_without_an_id_one_is_made(world):
    made = await world.yard.registry.agents.create(world.boss, AgentFields(name="x"), why=WHY)
    assert await all_ids(world, world.stranger) == [made.id]


async def test_ids_and_names_are_given_once(world):
    await agent(world, "one", name="One")
    await agent(world, "two", name="Two")
    for agent_id, name in (("one", "Other"), ("three", "One")):
        with pytest.raises(ConflictError):
            await agent(world, agent_id, name=name)
    with pytest.raises(ConflictError, match="'one' is called 'One'"):
        await world.yard.registry.agents.update(world.boss, "two", {"name": "One"}, why=WHY)
    await world.yard.registry.agents.delete(world.boss, "one", why=WHY)
    await agent(world, "one", name="Two again")


async def test_agents_belong_to_one_tenant(world):
    await agent(world)
    assert await all_ids(world, world.foreigner) == []
    with pytest.raises(NotFoundError):
        await world.yard.registry.agents.get(world.foreigner, "helper")
    await agent(world, principal=world.foreigner)
    await world.yard.registry.agents.delete(world.foreigner, "helper", why=WHY)
    assert await all_ids(world) == ["helper"]


async def test_only_administrators_with_a_token_to_write_change_agents(world):
    await agent(world)
    skill = await world.create(world.publisher, "tool", visibility=Visibility.PUBLIC)
    agents = world.yard.registry.agents
    reader = await world.with_scope(world.boss, Scope.READ)
    for principal in (world.publisher, world.stranger, reader):
        for attempt in (
            lambda who: agent(world, "new", principal=who),
            lambda who: agents.update(who, "helper", {"goal": "x"}, why=WHY),
            lambda who: agents.delete(who, "helper", why=WHY),
            lambda who: attach(world, skill, principal=who),
            lambda who: detach(world, skill, principal=who),
            lambda who: apply(world, principal=who, dry_run=True),
        ):
            with pytest.raises(NotAllowedError):
                await attempt(principal)
    writer = await world.with_scope(world.boss, Scope.WRITE)
    await agent(world, "new", principal=writer)


@pytest.mark.parametrize("fields", [{"name": " "}, {"name": "x" * 129}, {"name": "a\u202eb"}, {"goal": "x" * 20_001}])
async def test_odd_names_and_endless_goals_are_refused(world, fields):
    with pytest.raises(InputError):
        await agent(world, **fields)


async def test_an_agent_gets_what_is_attached_to_it_and_to_everyone(world):
    mine = await world.create(world.editor, "mine")
    shared = await world.create(world.editor, "shared")
    await agent(world)
    await agent(world, "other")
    await attach(world, mine)
    await attach(world, shared, agent_id=None)
    assert await skills(world) == [("team/mine", "", Via.AGENT), ("team/shared", "", Via.TENANT)]
    assert await skills(world, "other") == [("team/shared", "", Via.TENANT)]
    everyone = await world.yard.registry.attachments.tenant_skills(world.boss)
    assert [each.full_name for each in everyone.attached] == ["team/shared"]
    await detach(world, shared, agent_id=None)
    assert await skills(world, "other") == []
    with pytest.raises(NotFoundError, match="not attached"):
        await detach(world, shared)


async def test_an_agent_gets_the_version_it_is_pinned_to_with_what_that_requires(world):
    await world.publish_bundle(world.publisher, world.bundle("base"), "1.0.0")
    needing = world.bundle("tool", metadata={"requires": "base"})
    tool = (await world.publish_bundle(world.publisher, needing, "1.2.5")).skill
    await world.publish_bundle(world.publisher, world.bundle("tool", body="Newer.\n"), "2.0.0")
    await agent(world)
    await attach(world, tool, agent_id=None)
    await attach(world, tool, wanted="1.2")
    found = await world.yard.registry.attachments.agent_skills(world.viewer, "helper")
    assert [(item.full_name, item.version) for item in found.shipment.items] == [
        ("team/base", "1.0.0"),
        ("team/tool", "1.2.5"),
    ]
    assert await skills(world) == [("team/tool", "1.2", Via.AGENT)]
    with pytest.raises(NotFoundError, match="no version '3'"):
        await attach(world, tool, wanted="3")


async def test_attaching_the_same_again_changes_nothing(world):
    skill = await world.create(world.editor, "tool")
    await agent(world)
    await attach(world, skill)
    number = await world.yard.database.number()
    await attach(world, skill)
    assert await world.yard.database.number() == number


async def test_only_what_one_may_see_can_be_attached_and_is_shown(world):
    await agent(world)
    hidden = await world.create(world.stranger, "hidden", namespace=None)
    with pytest.raises(NotFoundError):
        await attach(world, hidden)
    secret = await world.create(world.editor, "secret")
    await attach(world, secret)
    assert await skills(world, principal=world.stranger) == []
    seen = await world.entries(principal=world.stranger)
    assert not any("secret" in str(entry.change) for entry in seen)
    assert any("secret" in str(entry.change) for entry in await world.entries(principal=world.viewer))


async def test_a_deleted_skill_is_not_given_until_it_is_back(world):
    skill = await world.create(world.publisher, "tool")
    await agent(world)
    await attach(world, skill)
    await world.yard.registry.workbench.delete(world.publisher, skill.id, why=WHY)
    assert await skills(world) == []
    await world.undo(world.boss, (await world.last(skill)).number)
    assert len(await skills(world)) == 1


async def test_who_has_a_skill_attached_is_told_to_whoever_may_see_it(world):
    skill = await world.create(world.editor, "notes")
    for one in ("zoe", "amy", "gone"):
        await agent(world, one)
        await attach(world, skill, one)
    await agent(world, "none")
    holders = world.yard.registry.attachments.holders
    await world.yard.registry.agents.delete(world.boss, "gone", why=WHY)
    assert [each and each.id for each in await holders(world.viewer, skill.id)] == ["amy", "zoe"]
    await attach(world, skill, None)
    assert [each and each.id for each in await holders(world.viewer, skill.id)] == [None, "amy", "zoe"]
    with pytest.raises(NotFoundError):
        await holders(world.stranger, skill.id)


async def test_every_change_can_be_undone_and_that_too(world):
    skill = await world.create(world.editor, "tool")
    agents = world.yard.registry.agents
    await agent(world)
    await attach(world, skill)
    attached = (await world.last()).number
    undone = await world.undo(world.boss, attached)
    assert await skills(world) == []
    redone = await world.undo(world.boss, undone.number)
    assert await skills(world) == [("team/tool", "", Via.AGENT)]
    assert redone.change.undoes == undone.number

    await agents.update(world.boss, "helper", {"goal": "More"}, why=WHY)
    await world.undo(world.boss, (await world.last()).number)
    assert (await agents.get(world.boss, "helper")).goal == ""

    await agents.delete(world.boss, "helper", why=WHY)
    await world.undo(world.boss, (await world.last()).number)
    assert await skills(world) == [("team/tool", "", Via.AGENT)]

    await agent(world, "brief")
    await world.undo(world.boss, (await world.last()).number)
    assert await all_ids(world) == ["helper"]


async def test_what_has_moved_on_is_not_undone(world):
    skill = await world.create(world.editor, "tool")
    await agent(world)
    created = (await world.last()).number
    await attach(world, skill)
    attached = (await world.last()).number
    await world.yard.registry.agents.update(world.boss, "helper", {"goal": "More"}, why=WHY)
    with pytest.raises(ConflictError):
        await world.undo(world.boss, created)
    await world.yard.registry.agents.delete(world.boss, "helper", why=WHY)
    deleted = (await world.last()).number
    for number in (attached, created):
        with pytest.raises(ConflictError):
            await world.undo(world.boss, number)
    await agent(world, goal="More")
    with pytest.raises(ConflictError):
        await world.undo(world.boss, deleted)


async def test_an_agent_made_anew_under_an_old_id_has_no_skills_of_the_old_one(world):
    skill = await world.create(world.editor, "tool")
    await agent(world)
    await attach(world, skill)
    await world.yard.registry.agents.delete(world.boss, "helper", why=WHY)
    deleted = (await world.last()).number
    await agent(world)
    assert await skills(world) == []
    await world.undo(world.boss, (await world.last()).number)
    await world.undo(world.boss, deleted)
    assert len(await skills(world)) == 1


async def test_only_administrators_undo_changes_to_agents(world):
    await agent(world)
    with pytest.raises(NotAllowedError):
        await world.undo(world.stranger, (await world.last()).number)


async def test_a_declaration_is_applied_once_and_then_nothing_is_to_do(world):
    await world.create(world.editor, "tool")
    await world.create(world.editor, "first", tags=["shared"])
    await world.create(world.editor, "second", tags=["shared", "more"])
    declared = {
        "agents": {
            "helper": {"name": "Helper", "role": "Helps", "skills": ["team/tool"], "tags": ["shared"]},
            "plain": {},
        },
        "everyone": {"tags": ["more"]},
    }
    plan = await apply(world, **declared)
    assert plan.applied
    assert steps(plan) == [
        (PlanAction.CREATE, "helper", None),
        (PlanAction.ATTACH, "helper", "team/first"),
        (PlanAction.ATTACH, "helper", "team/second"),
        (PlanAction.ATTACH, "helper", "team/tool"),
        (PlanAction.CREATE, "plain", None),
        (PlanAction.ATTACH, None, "team/second"),
    ]
    assert [name for name, _, _ in await skills(world)] == ["team/first", "team/second", "team/tool"]
    assert await skills(world, "plain") == [("team/second", "", Via.TENANT)]
    number = await world.yard.database.number()
    assert (await apply(world, **declared)).steps == ()
    assert await world.yard.database.number() == number


async def test_a_declaration_changes_only_what_differs(world):
    tool = await world.create(world.publisher, "tool")
    await world.publish(world.publisher, tool, "1.0.0")
    old = await world.create(world.editor, "old")
    await agent(world, role="Helps")
    await agent(world, "untouched")
    await attach(world, tool)
    await attach(world, old)
    await attach(world, old, "untouched")
    plan = await apply(world, agents={"helper": {"goal": "More", "skills": ["team/tool@1.0.0"]}})
    assert [(step.action, step.skill, dict(step.before), dict(step.after)) for step in plan.steps] == [
        (
            PlanAction.UPDATE,
            None,
            {"name": "Helper", "role": "Helps", "goal": ""},
            {"name": "Helper", "role": "Helps", "goal": "More"},
        ),
        (PlanAction.ATTACH, "team/tool", {"wanted": ""}, {"wanted": "1.0.0"}),
        (PlanAction.DETACH, "team/old", {"wanted": ""}, {"wanted": None}),
    ]
    assert await skills(world, "untouched") == [("team/old", "", Via.AGENT)]


async def test_what_a_declaration_does_not_speak_of_stays(world):
    skill = await world.create(world.editor, "tool")
    await agent(world, goal="Much")
    await attach(world, skill)
    assert (await apply(world, agents={"helper": {}})).steps == ()
    assert steps(await apply(world, agents={"helper": {"skills": []}})) == [(PlanAction.DETACH, "helper", "team/tool")]


async def test_a_dry_run_says_the_same_and_changes_nothing(world):
    await world.create(world.editor, "tool")
    declared = {"agents": {"helper": {"skills": ["tool"]}}, "everyone": {"skills": ["team/tool"]}}
    number = await world.yard.database.number()
    rehearsed = await apply(world, dry_run=True, **declared)
    assert not rehearsed.applied
    assert await world.yard.database.number() == number
    assert await all_ids(world) == []
    assert (await apply(world, **declared)).steps == rehearsed.steps


async def test_a_declaration_that_names_what_is_not_there_changes_nothing(world):
    await world.create(world.stranger, "hidden", namespace=None)
    await world.create(world.editor, "tool")
    declared = {"agents": {"a": {"skills": ["team/tool", "stranger/hidden"]}, "b": {"skills": ["tool@9"]}}}
    with pytest.raises(InputError) as caught:
        await apply(world, **declared)
    problems = caught.value.details["problems"]
    assert [problem.partition(":")[0] for problem in problems] == ["agents.a.skills", "agents.b.skills"]
    assert await all_ids(world) == []


async def test_a_declaration_that_fails_halfway_leaves_nothing_behind(world):
    await agent(world, "first", name="Taken")
    with pytest.raises(ConflictError):
        await apply(world, agents={"second": {}, "third": {"name": "Taken"}})
    assert await all_ids(world) == ["first"]


async def test_a_declaration_leaves_alone_what_its_author_may_not_see(world):
    own = await world.create(world.boss, "own", namespace="boss")
    await agent(world)
    await attach(world, own)
    people = world.yard.people
    row = await people.create(world.boss, "deputy", admin=True, why=WHY)
    deputy = await world.yard.access.of_person(row)
    assert (await apply(world, principal=deputy, agents={"helper": {"skills": []}})).steps == ()
    assert await skills(world) == [("boss/own", "", Via.AGENT)]


async def test_every_step_of_a_declaration_is_in_the_history(world):
    await world.create(world.editor, "tool")
    await apply(world, agents={"helper": {"skills": ["team/tool"]}})
    newest = (await world.entries())[:2]
    assert [entry.change.action for entry in newest] == ["agent.attached", "agent.created"]
    assert all(entry.why == WHY for entry in newest)


async def test_what_was_attached_is_not_told_once_the_skill_is_private(world):
    await agent(world)
    skill = await world.create(world.publisher, "open", visibility=Visibility.PUBLIC)
    await attach(world, skill)
    chronicle, workbench = world.yard.registry.chronicle, world.yard.registry.workbench
    told = [entry.change.action for entry in (await chronicle.entries(world.stranger)).entries]
    assert "agent.attached" in told
    await workbench.show(world.publisher, skill.id, Visibility.PRIVATE, why=WHY)
    told = [entry.change.action for entry in (await chronicle.entries(world.stranger)).entries]
    assert "agent.attached" not in told
    items = (await chronicle.feed(world.stranger, since=0)).items
    assert "agent.attached" not in [item.entry.change.action for item in items if not item.lost]
