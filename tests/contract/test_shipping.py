"""What is shipped when skills are asked for, with all that they require."""

import pytest

from skillyard.errors import InputError
from skillyard.history.entries import Why
from skillyard.registry.shipping import ProblemCode, SkillRef
from skillyard.registry.skills import Visibility

pytestmark = pytest.mark.anyio

WHY = Why(reason="a test asked for it")


async def ship(world, *refs, principal=None):
    wanted = [SkillRef.parse(ref) for ref in refs]
    return await world.yard.registry.shipping.resolve_shipment(principal or world.boss, wanted)


async def shipped(world, *refs, principal=None):
    """Name and version of each skill; nothing may stand in the way."""
    found = await ship(world, *refs, principal=principal)
    assert found.complete, found.problems
    return [(item.full_name, item.version) for item in found.items]


def codes(shipment):
    return [problem.code for problem in shipment.problems]


async def published(world, name, *versions, requires="", principal=None, **more):
    for version in versions:
        fields = {"metadata": {"requires": requires}} if requires else {}
        bundle = world.bundle(name, body=f"Version {version}.\n", **fields)
        made = await world.publish_bundle(principal or world.publisher, bundle, version, **more)
    return made.skill


@pytest.mark.parametrize(
    ("wanted", "version"),
    [
        ("", "1.10.0"),
        ("@latest", "1.10.0"),
        ("@1.2.0", "1.2.0"),
        ("@1.2", "1.2.0"),
        ("@<1.5", "1.2.0"),
        ("@good", "1.2.0"),
        ("@2.0.0-rc.1", "2.0.0-rc.1"),
    ],
)
async def test_what_follows_the_at_sign_says_which_version(world, wanted, version):
    skill = await published(world, "tool", "1.2.0", "1.10.0", "2.0.0-rc.1")
    await world.yard.registry.versions.tag(world.publisher, skill.id, "good", "1.2.0", why=WHY)
    assert await shipped(world, f"team/tool{wanted}") == [("team/tool", version)]
    by_id = SkillRef(name=skill.id, wanted=wanted.removeprefix("@").replace("latest", ""))
    found = await world.yard.registry.shipping.resolve_shipment(world.boss, [by_id])
    (item,) = found.items
    version_row = await world.yard.registry.versions.get(world.boss, skill.id, version)
    assert (item.skill_id, item.version, item.digest) == (skill.id, version, version_row.digest)


@pytest.mark.parametrize("text", ["", "@1", "a@", "/a", "a/", "a/b/c"])
def test_what_names_no_skill_is_refused(text):
    with pytest.raises(InputError, match="names no skill"):
        SkillRef.parse(text)


async def test_a_yanked_version_comes_only_by_its_number_and_with_a_warning(world):
    skill = await published(world, "tool", "1.0.0", "1.1.0")
    await world.yard.registry.versions.yank(world.publisher, skill.id, "1.1.0", why=Why(reason="leaks"))
    assert await shipped(world, "team/tool") == [("team/tool", "1.0.0")]
    assert await shipped(world, "team/tool@^1") == [("team/tool", "1.0.0")]
    found = await ship(world, "team/tool@1.1.0")
    assert [item.version for item in found.items] == ["1.1.0"]
    assert codes(found) == [ProblemCode.YANKED]
    assert "leaks" in found.problems[0].message
    await world.yard.registry.versions.yank(world.publisher, skill.id, "1.0.0", why=Why(reason="old"))
    assert codes(await ship(world, "team/tool")) == [ProblemCode.NOT_PUBLISHED]


async def test_a_skill_that_was_never_published_ships_its_working_copy(world):
    skill = await world.create(world.editor, "fresh")
    (item,) = (await ship(world, "team/fresh")).items
    assert (item.version, item.digest) == (None, skill.digest)


async def test_a_namespace_with_rules_ships_no_working_copy(world):
    await world.create(world.editor, "fresh")
    await published(world, "user", "1.0.0", requires="fresh")
    await world.set_policy(scan="refuse-warnings")
    assert codes(await ship(world, "team/fresh")) == [ProblemCode.NOT_PUBLISHED]
    assert codes(await ship(world, "team/user")) == [ProblemCode.MISSING]


async def test_a_version_that_waits_for_review_is_not_shipped(world):
    await world.set_policy(review=True)
    await published(world, "tool", "1.0.0")
    for ref in ("team/tool", "team/tool@1.0.0"):
        found = await ship(world, ref)
        assert not found.items
        assert not found.complete


async def test_what_a_skill_requires_comes_along(world):
    await published(world, "base", "1.0.0", "1.4.0", "2.0.0")
    await published(world, "middle", "1.0.0", requires="base ^1")
    await published(world, "top", "1.0.0", requires="middle base >=1.2")
    found = await ship(world, "top", principal=world.viewer)
    assert [(item.full_name, item.version, item.required_by) for item in found.items] == [
        ("team/base", "1.4.0", ("team/middle", "team/top")),
        ("team/middle", "1.0.0", ("team/top",)),
        ("team/top", "1.0.0", ()),
    ]


async def test_the_requirements_are_those_of_the_version_that_is_taken(world):
    await published(world, "base", "1.0.0")
    await published(world, "tool", "1.0.0", requires="base")
    await published(world, "tool", "2.0.0")
    assert await shipped(world, "team/tool") == [("team/tool", "2.0.0")]
    assert await shipped(world, "team/tool@1.0.0") == [("team/base", "1.0.0"), ("team/tool", "1.0.0")]


async def test_what_is_asked_for_together_suits_each_other(world):
    await published(world, "base", "1.0.0", "2.0.0")
    await published(world, "tool", "1.0.0", requires="base ^1")
    assert ("team/base", "1.0.0") in await shipped(world, "team/base", "team/tool")
    found = await ship(world, "team/base@2.0.0", "team/tool")
    assert codes(found) == [ProblemCode.CONFLICT]
    assert not found.items
    assert "^1 by 'team/tool'" in found.problems[0].message


async def test_what_is_missing_is_reported_and_the_rest_comes(world):
    await published(world, "tool", "1.0.0", requires="nobody other/thing")
    found = await ship(world, "team/tool")
    assert [item.full_name for item in found.items] == ["team/tool"]
    assert [(problem.code, problem.skill) for problem in found.problems] == [
        (ProblemCode.MISSING, "nobody"),
        (ProblemCode.MISSING, "other/thing"),
    ]


async def test_skills_that_require_each_other_come_with_a_warning(world):
    await published(world, "one", "1.0.0", requires="two")
    await published(world, "two", "1.0.0", requires="one")
    found = await ship(world, "team/one")
    assert found.complete
    assert codes(found) == [ProblemCode.CYCLE]
    assert found.resolution.cycles == (("team/one", "team/two"),)


async def test_nothing_of_a_private_skill_of_others_is_shipped_or_told(world):
    await published(world, "secret", "1.0.0")
    await published(world, "open", "1.0.0", requires="secret", visibility=Visibility.PUBLIC)
    assert len(await shipped(world, "team/open", principal=world.viewer)) == 2
    for_stranger = await ship(world, "team/open", principal=world.stranger)
    assert [item.full_name for item in for_stranger.items] == ["team/open"]
    assert [problem.skill for problem in for_stranger.problems] == ["secret"]
    hidden = await ship(world, "team/secret", principal=world.stranger)
    unknown = await ship(world, "team/unheard", principal=world.stranger)
    assert codes(hidden) == codes(unknown) == [ProblemCode.UNKNOWN_SKILL]
    assert hidden.problems[0].message.replace("secret", "unheard") == unknown.problems[0].message


async def test_a_required_name_is_looked_up_from_the_namespace_of_the_one_who_requires_it(world):
    await published(world, "base", "1.0.0", principal=world.stranger, namespace=None, visibility=Visibility.PUBLIC)
    await published(world, "tool", "1.0.0", requires="base")
    assert ("stranger/base", "1.0.0") in await shipped(world, "team/tool")
    await published(world, "base", "3.0.0", principal=world.boss, namespace="system")
    assert ("system/base", "3.0.0") in await shipped(world, "team/tool")
    await published(world, "base", "2.0.0")
    assert ("team/base", "2.0.0") in await shipped(world, "team/tool")


async def test_names_are_compared_without_case(world):
    await published(world, "base", "1.0.0")
    await published(world, "tool", "1.0.0", requires="Team/BASE")
    assert await shipped(world, "TEAM/Tool") == [("team/base", "1.0.0"), ("team/tool", "1.0.0")]


async def test_a_version_that_is_not_there_is_a_problem(world):
    await published(world, "tool", "1.0.0")
    for wanted in ("9.9.9", "^2", "nope", "!!"):
        assert codes(await ship(world, f"team/tool@{wanted}")) == [ProblemCode.UNKNOWN_VERSION]
