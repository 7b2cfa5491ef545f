"""The graph of references: what leads where for whom, what is broken, and what a deletion would break."""

import pytest

from skillyard.errors import NotFoundError
from skillyard.history.entries import Why
from skillyard.registry.graph import Trouble
from skillyard.registry.skills import Visibility
from skillyard.skill.bundle import BundleFile

pytestmark = pytest.mark.anyio

WHY = Why(reason="a test asked for it")
PUBLIC = Visibility.PUBLIC
GUIDE = BundleFile("references/guide.md", b"# Guide\n")


async def graph(world, principal=None, **kwargs):
    return await world.yard.registry.references.graph(principal or world.boss, **kwargs)


async def around(world, skill, principal=None):
    return await world.yard.registry.references.around(principal or world.boss, skill.id)


def lines(edges):
    """Each edge in short: from where to where, and what is wrong with it."""
    return [
        (
            f"{edge.source.full_name}:{edge.file}:{edge.line}",
            f"{edge.target.full_name if edge.target else '?' + edge.name}/{edge.path}",
            edge.trouble,
        )
        for edge in edges
    ]


async def test_an_edge_names_the_place_and_the_file_it_leads_to(world):
    await world.create(world.editor, "target", GUIDE)
    body = "See [the guide](../target/references/guide.md).\n"
    source = await world.create(world.editor, "source", BundleFile("notes.md", b"\n[[target]]\n"), body=body)
    found = await graph(world, world.viewer)
    line = next(
        number
        for number, text in enumerate((await world.stored(source)).get("SKILL.md").data.split(b"\n"), 1)
        if b"guide.md" in text
    )
    assert lines(found.edges) == [
        (f"team/source:SKILL.md:{line}", "team/target/references/guide.md", None),
        ("team/source:notes.md:2", "team/target/", None),
    ]
    assert [node.full_name for node in found.nodes] == ["team/source", "team/target"]
    assert (found.broken, found.cycles) == ((), ())


async def test_what_leads_nowhere_is_broken(world):
    await world.create(world.editor, "target", GUIDE)
    body = (
        "[a](../target/references/gone.md) [b](../nobody/SKILL.md) [c](references/own.md) [d](../target/references)\n"
    )
    await world.create(world.editor, "source", body=body)
    found = await graph(world)
    assert [(where, trouble) for _, where, trouble in lines(found.broken)] == [
        ("team/target/references/gone.md", Trouble.NO_FILE),
        ("?nobody/SKILL.md", Trouble.NO_SKILL),
        ("team/source/references/own.md", Trouble.NO_FILE),
    ]


async def test_a_file_of_ones_own_does_not_stand_for_one_of_another_skill(world):
    await world.create(world.editor, "target")
    await world.create(world.editor, "source", GUIDE, body="[a](../target/references/guide.md)\n")
    assert [edge.trouble for edge in (await graph(world)).broken] == [Trouble.NO_FILE]


async def test_a_path_in_code_may_be_one_of_the_project(world):
    script = BundleFile("scripts/run.py", b"print()\n")
    body = "Run `scripts/gone.py`, read `references/gone.md`, look into `assets/logo.png`.\n"
    await world.create(world.editor, "source", script, body=body)
    found = await graph(world)
    assert [edge.path for edge in found.broken] == ["scripts/gone.py", "references/gone.md"]


async def test_a_private_skill_of_others_is_as_if_it_were_not_there(world):
    await world.create(world.editor, "secret", GUIDE)
    source = await world.create(world.publisher, "source", body="[[secret]] [[unheard]]\n", visibility=PUBLIC)
    for_members = await around(world, source, world.viewer)
    assert [edge.trouble for edge in for_members.outgoing] == [None, Trouble.NO_SKILL]
    for_others = await around(world, source, world.stranger)
    assert [(edge.target, edge.trouble) for edge in for_others.outgoing] == [(None, Trouble.NO_SKILL)] * 2
    seen = await graph(world, world.stranger)
    assert [node.full_name for node in seen.nodes] == ["team/source"]
    assert len(seen.broken) == 2


async def test_a_stranger_can_ask_for_nothing_around_a_private_skill(world):
    secret = await world.create(world.editor, "secret")
    for outsider in (world.stranger, world.foreigner):
        with pytest.raises(NotFoundError):
            await around(world, secret, outsider)
        with pytest.raises(NotFoundError):
            await graph(world, outsider, namespace="team")
    with pytest.raises(NotFoundError):
        await graph(world, namespace="nowhere")


async def test_nothing_of_another_tenant_is_in_the_graph(world):
    await world.create(world.publisher, "open", visibility=PUBLIC)
    assert (await graph(world, world.foreigner)).nodes == ()


async def test_a_bare_name_is_looked_up_from_where_it_is_written(world):
    mine = await world.create(world.stranger, "shared", namespace=None, visibility=PUBLIC)
    user = await world.create(world.stranger, "user", namespace=None, body="[[shared]]\n", visibility=PUBLIC)
    other = await world.create(world.publisher, "user", body="[[shared]]\n", visibility=PUBLIC)

    async def meant(skill):
        (edge,) = (await around(world, skill)).outgoing
        return edge.target.full_name

    assert await meant(other) == "stranger/shared"
    await world.create(world.boss, "shared", namespace="system")
    assert await meant(other) == "system/shared"
    await world.create(world.publisher, "shared")
    assert await meant(other) == "team/shared"
    assert await meant(user) == mine.full_name


async def test_a_private_skill_of_another_namespace_is_not_meant(world):
    await world.create(world.boss, "own", namespace="boss")
    user = await world.create(world.boss, "user", body="[[own]]\n")
    assert [edge.trouble for edge in (await around(world, user)).outgoing] == [Trouble.NO_SKILL]


async def test_skills_that_refer_to_each_other_are_a_circle(world):
    await world.create(world.editor, "one", body="[[two]]\n")
    await world.create(world.editor, "two", body="[[three]] [[four]]\n")
    await world.create(world.editor, "three", body="[[one]]\n")
    await world.create(world.editor, "four", body="[[four]]\n")
    cycles = (await graph(world)).cycles
    assert [[node.full_name for node in cycle] for cycle in cycles] == [["team/one", "team/three", "team/two"]]


async def test_those_that_lead_nowhere_are_counted_as_the_graph_has_them(world):
    await world.create(world.editor, "target", GUIDE)
    await world.create(world.boss, "elsewhere", body="[[nobody]]\n", namespace=None)
    body = "[a](../target/references/gone.md) [b](../nobody/SKILL.md) [c](references/own.md) [[target]] [[elsewhere]]\n"
    source = await world.create(world.editor, "source", body=body)
    broken = world.yard.registry.references.broken
    for principal, count in ((world.editor, 4), (world.boss, 4), (world.stranger, 0)):
        found = (await graph(world, principal)).broken
        assert len([edge for edge in found if edge.source.id == source.id]) == count
        assert await broken(principal, [source.namespace_id]) == count
    assert await broken(world.boss, ()) == 0


async def test_a_graph_that_was_asked_for_before_knows_of_what_changed_since_then(world):
    await world.create(world.editor, "source", BundleFile("notes.md", b"See [[target]].\n"))
    for _ in range(2):
        assert [edge.trouble for edge in (await graph(world)).broken] == [Trouble.NO_SKILL]
    await world.create(world.editor, "target")
    for _ in range(2):
        assert (await graph(world)).broken == ()


async def test_one_namespace_shows_what_its_skills_lead_to(world):
    await world.create(world.stranger, "far", namespace=None, body="[[near]]\n", visibility=PUBLIC)
    await world.create(world.publisher, "near", body="[[far]]\n", visibility=PUBLIC)
    found = await graph(world, namespace="team")
    assert [node.full_name for node in found.nodes] == ["stranger/far", "team/near"]
    assert [edge.source.full_name for edge in found.edges] == ["team/near"]


async def test_deleting_a_skill_would_break_what_leads_to_it(world):
    target = await world.create(world.editor, "target", GUIDE)
    body = "[[target]] [a](../target/references/guide.md) [b](../target/references/gone.md)\n"
    source = await world.create(world.editor, "source", body=body)
    found = await around(world, target)
    assert [edge.path for edge in found.incoming] == ["references/guide.md", "references/gone.md", ""]
    assert sorted(edge.path for edge in found.impact.references) == ["", "references/guide.md"]
    await world.yard.registry.workbench.delete(world.publisher, target.id, why=WHY)
    broken = [edge.trouble for edge in (await around(world, source)).outgoing]
    assert broken == [Trouble.NO_SKILL] * 3


async def test_deleting_a_skill_breaks_nothing_that_another_of_its_name_can_serve(world):
    await world.create(world.boss, "target", GUIDE, namespace="system")
    own = await world.create(world.editor, "target", GUIDE, BundleFile("references/more.md", b"#\n"))
    body = "[a](../target/references/guide.md) [b](../target/references/more.md)\n"
    await world.create(world.editor, "source", body=body, metadata={"requires": "target"})
    impact = (await around(world, own)).impact
    assert [edge.path for edge in impact.references] == ["references/more.md"]
    assert impact.dependents == ()


async def test_deleting_a_skill_would_leave_those_that_require_it_without(world):
    target = await world.create(world.editor, "target")
    user = await world.create(world.publisher, "user", metadata={"requires": "target >=1 other"})
    await world.publish(world.publisher, user, "1.0.0")
    far = await world.create(world.boss, "far", namespace="boss", metadata={"requires": "team/Target"})
    found = await world.yard.registry.references.impact(world.boss, target.id)
    assert [(each.full_name, each.version, each.range) for each in found.dependents] == [
        (far.full_name, None, "*"),
        ("team/user", None, ">=1"),
        ("team/user", "1.0.0", ">=1"),
    ]
    seen = await world.yard.registry.references.impact(world.viewer, target.id)
    assert {each.full_name for each in seen.dependents} == {"team/user"}
