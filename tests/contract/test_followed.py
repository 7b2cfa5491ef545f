"""What is kept of all skills and mended after each change is what would be made anew, for everyone."""

import pytest

from skillyard.errors import NotFoundError
from skillyard.history.entries import Change, Subject, Why
from skillyard.registry.followed import MOST_TOUCHED, Followed
from skillyard.registry.graph import References
from skillyard.registry.skills import Visibility
from skillyard.skill.bundle import BundleFile

pytestmark = pytest.mark.anyio

WHY = Why(reason="a test asked for it")
GUIDE = BundleFile("references/guide.md", b"# Guide\n")


async def told(references, world, skills):
    """All that the references say to each person."""
    people = [world.boss, world.editor, world.viewer, world.stranger, world.foreigner]
    whole = {person.name: _shown(await references.graph(person)) for person in people}
    of_team = _shown(await references.graph(world.boss, namespace="team"))
    broken = [await references.broken(person, [skills[0].namespace_id]) for person in people]
    dependents = [(await references.impact(world.boss, skill.id)).dependents for skill in skills]
    return whole, of_team, broken, dependents


def _shown(graph):
    return graph.nodes, graph.edges, graph.broken, graph.cycles


async def test_after_every_change_all_is_as_if_it_were_made_anew(world):
    registry = world.yard.registry
    target = await world.create(world.publisher, "target", GUIDE)
    body = "[[target]] [a](../target/references/guide.md) [[later]] [[renamed]]\n"
    source = await world.create(world.publisher, "source", body=body, metadata={"requires": "target"})
    stays = [source]
    kept = References(world.yard.database)
    await told(kept, world, [target, source])

    async def edit(skill, text):
        await world.edit(world.publisher, skill, text)

    async def undo_last():
        await world.undo(world.boss, (await world.last()).number)

    changes = [
        lambda: world.create(world.stranger, "later", namespace=None, visibility=Visibility.PUBLIC),
        lambda: registry.workbench.show(world.publisher, source.id, Visibility.PUBLIC, why=WHY),
        lambda: registry.workbench.show(world.publisher, target.id, Visibility.PUBLIC, why=WHY),
        lambda: registry.workbench.delete_file(world.publisher, target.id, GUIDE.path, why=WHY),
        undo_last,
        lambda: edit(target, "[[source]] [[nobody]]\n"),
        lambda: registry.workbench.edit(world.publisher, target.id, fields={"name": "renamed"}, body=None, why=WHY),
        undo_last,
        lambda: registry.workbench.edit(
            world.publisher, target.id, fields={"metadata": {"requires": "source"}}, body=None, why=WHY
        ),
        lambda: world.publish(world.publisher, source, "1.0.0"),
        lambda: registry.versions.yank(world.publisher, source.id, "1.0.0", why=WHY),
        lambda: registry.workbench.delete(world.publisher, target.id, why=WHY),
        undo_last,
        lambda: registry.workbench.show(world.publisher, target.id, Visibility.PRIVATE, why=WHY),
        lambda: registry.workbench.delete(world.publisher, target.id, why=WHY),
        lambda: registry.workbench.show(world.publisher, source.id, Visibility.PRIVATE, why=WHY),
    ]
    for number, change in enumerate(changes):
        await change()
        fresh = await told(References(world.yard.database), world, stays)
        assert await told(kept, world, stays) == fresh, number


async def test_a_graph_stays_the_same_while_nothing_in_it_changes(world):
    skill = await world.create(world.publisher, "source", body="[[target]]\n")
    references = world.yard.registry.references
    before = await references.graph(world.boss)
    await world.publish(world.publisher, skill, "1.0.0")
    assert await references.graph(world.boss) is before
    await world.create(world.publisher, "target")
    assert await references.graph(world.boss) is not before


async def test_a_namespace_of_which_nothing_can_be_seen_any_more_is_not_there(world):
    skill = await world.create(world.publisher, "shown", visibility=Visibility.PUBLIC)
    references = world.yard.registry.references
    assert len((await references.graph(world.stranger, namespace="team")).nodes) == 1
    await world.yard.registry.workbench.show(world.publisher, skill.id, Visibility.PRIVATE, why=WHY)
    with pytest.raises(NotFoundError):
        await references.graph(world.stranger, namespace="team")


@pytest.fixture
def followed(world):
    """A value that tells how it came to be: every `made`, and how many skills were touched."""
    kept = Followed(world.yard.database, size=2)

    async def make(_session):
        return ("made",)

    async def mend(_session, value, touched):
        return (*value, len(touched.ids))

    return lambda key="": kept.get(key, make, mend)


async def test_what_has_nothing_to_do_with_skills_leaves_a_value_alone(world, followed):
    assert await followed() == ("made",)
    await world.set_policy(review=True)
    assert await followed() == ("made",)


async def test_changes_to_skills_mend_a_value_once(world, followed):
    await followed()
    skill = await world.create(world.editor, "one")
    await world.edit(world.editor, skill, "More.\n")
    await world.create(world.editor, "two")
    assert [await followed(), await followed()] == [("made", 2)] * 2


async def test_a_number_that_the_history_does_not_tell_of_has_a_value_made_anew(world, followed):
    await followed()
    await world.create(world.editor, "one")
    assert await followed() == ("made", 1)
    async with world.yard.database.write() as transaction:
        transaction.take_number()
    await world.create(world.editor, "two")
    assert await followed() == ("made",)


async def test_after_very_many_changes_a_value_is_made_anew(world, followed):
    await followed()
    async with world.yard.database.write() as transaction:
        for number in range(MOST_TOUCHED + 1):
            subject = Subject(kind="note", id=str(number), label="", audience=world.boss.name)
            change = Change(action="note.written", subject=subject)
            world.yard.history.record(transaction, world.boss.actor, change, WHY)
    assert await followed() == ("made",)


async def test_the_value_that_was_not_asked_for_longest_is_forgotten(world, followed):
    for key in "abc":
        await followed(key)
    await world.create(world.editor, "one")
    assert [await followed(key) for key in "cba"] == [("made", 1), ("made", 1), ("made",)]
