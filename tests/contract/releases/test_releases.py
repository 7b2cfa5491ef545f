"""What is in use, what the registry shows of it, and what is left when it is taken back."""

import asyncio

import pytest

from skillyard.blobs.address import BlobMissingError
from skillyard.errors import ConflictError, QuotaError
from skillyard.registry.skills import Visibility
from skillyard.releases.models import ReleaseRow
from skillyard.releases.promotion import Promotion
from skillyard.releases.values import ReleaseMode, Stage
from skillyard.skill.bundle import BundleFile

pytestmark = pytest.mark.anyio
BOTH = ("stable", "canary")


async def test_a_release_is_a_version_in_the_registry_with_its_tag(learning):
    released = await learning.released()
    skill = await learning.skill("greet")
    assert (skill.digest, skill.visibility) == (released.digest, Visibility.PRIVATE)
    assert await learning.tags("greet") == {"stable": released.digest}
    assert released.digest == (await learning.candidates.get(learning.caller, released.candidate_id)).digest
    bundle = await learning.yard.registry.bundles.load(released.digest)
    assert bundle.get("SKILL.md") is not None


async def test_tags_follow_promotion_and_rollback_and_what_was_bad_is_shipped_no_more(learning):
    stable = await learning.released()
    canary = await learning.released(stage=Stage.CANARY, document=await learning.greeting("Goodbye"))
    assert await learning.tags("greet") == {"stable": stable.digest, "canary": canary.digest}
    newest = await learning.releases.page(learning.caller, active_only=True)
    assert (newest.total, [one.id for one in newest.items]) == (1, [canary.id])
    both = await learning.releases.page(learning.caller, active_only=True, every_stage=True)
    assert (both.total, [one.id for one in both.items]) == (2, [canary.id, stable.id])
    restored = await learning.releases.rollback(learning.caller, canary.id, reason="it is rude")
    assert (restored.candidate_id, restored.stage, restored.digest) == (stable.candidate_id, "stable", stable.digest)
    assert await learning.tags("greet") == {"stable": stable.digest}
    registry = learning.yard.registry
    versions = await registry.versions.all(learning.caller, (await learning.skill("greet")).id)
    assert {one.digest: one.yank_reason for one in versions} == {stable.digest: None, canary.digest: "it is rude"}
    assert (await registry.versions.get(learning.caller, (await learning.skill("greet")).id)).digest == stable.digest

    await learning.evaluations.evaluate(learning.caller, canary.candidate_id, passed=True)
    again = await learning.releases.promote(learning.caller, canary.candidate_id, Promotion(stage=Stage.STABLE))
    assert await learning.tags("greet") == {"stable": again.digest}
    versions = await registry.versions.all(learning.caller, (await learning.skill("greet")).id)
    assert [one.yank_reason for one in versions] == [None, None]


async def test_what_is_switched_off_has_no_tag_and_is_given_to_no_sandbox(learning):
    await learning.released()
    await learning.released(stage=Stage.CANARY, document=await learning.greeting("Goodbye"))
    assert len(await learning.active.active(learning.caller.person_id, BOTH, "sandbox-1")) == 1
    killed = await learning.releases.kill_skill(learning.caller, "greet", reason="stop")
    assert {(one.stage, one.state, one.is_active) for one in killed} == {
        ("stable", "killed", False),
        ("canary", "killed", False),
    }
    assert await learning.tags("greet") == {}
    assert await learning.active.active(learning.caller.person_id, BOTH, "sandbox-1") == []
    assert await learning.releases.kill_skill(learning.caller, "greet") == []


async def test_a_candidate_names_no_release_that_was_deleted(learning):
    released = await learning.released()
    assert (await learning.candidates.get(learning.caller, released.candidate_id)).promotion_release_id == released.id
    await learning.releases.delete(learning.caller, released.id)
    assert (await learning.candidates.get(learning.caller, released.candidate_id)).promotion_release_id is None


async def test_every_change_is_in_the_history_for_its_owner_alone(learning, world):
    released = await learning.released(stage=Stage.CANARY)
    await learning.releases.rollback(learning.caller, released.id, reason="no")
    await learning.releases.delete(learning.caller, released.id, reason="old")
    await learning.candidates.delete(learning.caller, released.candidate_id, reason="old")
    actions = [
        entry.change.action
        for entry in await world.entries(principal=learning.caller)
        if entry.change.subject.kind in {"candidate", "release"}
    ]
    assert actions == [
        "candidate.deleted",
        "release.deleted",
        "release.rolled_back",
        "release.promoted",
        "candidate.evaluated",
        "candidate.created",
    ]
    assert not [e for e in await world.entries(principal=world.publisher) if e.change.subject.kind == "release"]


async def test_what_a_policy_does_is_done_by_the_yard(learning, world):
    canary = await learning.released(stage=Stage.CANARY)
    policy = Promotion(stage=Stage.STABLE, mode=ReleaseMode.AUTO, auto_promoted_from=canary.id)
    stable = await learning.releases.promote(learning.caller, canary.candidate_id, policy)
    assert (stable.release_mode, stable.auto_promoted_from, stable.promoted_by) == ("auto", canary.id, None)
    await learning.releases.rollback(learning.caller, stable.id, reason="it fails", mode=ReleaseMode.AUTO)
    by = {entry.change.action: entry.actor.name for entry in await world.entries(principal=learning.caller)}
    assert by["release.rolled_back"] == "skillyard"


async def test_promotions_at_once_leave_one_release_in_use_and_no_number_twice(learning):
    made = [await learning.passed(document=await learning.greeting(word)) for word in ("A", "B", "C")]
    stable = Promotion(stage=Stage.STABLE)
    done = await asyncio.gather(*(learning.releases.promote(learning.caller, one.id, stable) for one in made))
    assert sorted(one.version for one in done) == [1, 2, 3]
    active = [row for row in await learning.rows(ReleaseRow) if row.is_active]
    assert [row.version for row in active] == [3]
    assert await learning.tags("greet") == {"stable": active[0].digest}
    again = await asyncio.gather(*(learning.releases.rollback(learning.caller, active[0].id) for _ in range(3)))
    assert len({one.id for one in again}) == 1


async def test_sandboxes_keep_what_they_were_given_and_share_a_canary(learning):
    stable = await learning.released()
    canary = await learning.released(stage=Stage.CANARY, document=await learning.greeting("Goodbye"))
    given = {}
    for number in range(60):
        sandbox = f"sandbox-{number:012x}"
        (one,) = await learning.active.active(learning.caller.person_id, BOTH, sandbox)
        given[sandbox] = one.id
        assert (await learning.active.choose(learning.caller.person_id, "greet", sandbox)).id == one.id
    assert set(given.values()) == {stable.id, canary.id}
    share = sum(release == canary.id for release in given.values()) / len(given)
    assert 0.05 < share < 0.4
    only_stable = await learning.active.active(learning.caller.person_id, ("stable",), "sandbox-1")
    assert [one.id for one in only_stable] == [stable.id]


async def test_a_canary_with_nothing_stable_beside_it_is_for_all(learning):
    canary = await learning.released(stage=Stage.CANARY)
    for number in range(5):
        (one,) = await learning.active.active(learning.caller.person_id, BOTH, f"sandbox-{number}")
        assert (one.id, one.folder, one.stage) == (canary.id, "greet", "canary")


async def test_a_release_whose_files_are_gone_leaves_the_others_alone(learning):
    broken = await learning.released("broken")
    fine = await learning.released("fine", document=await learning.greeting("Fine"))
    bundles = learning.yard.registry.bundles
    theirs = {file.sha256 for file in await bundles.files(fine.digest)}
    gone = next(file.sha256 for file in await bundles.files(broken.digest) if file.sha256 not in theirs)
    await learning.yard.blobs.delete(gone)
    active = await learning.active.active(learning.caller.person_id, BOTH, "sandbox-1")
    assert [one.skill_key for one in active] == ["broken", "fine"]
    with pytest.raises(BlobMissingError):
        await active[0].load()
    assert (await active[1].load()).digest == fine.digest
    back = await learning.releases.rollback(learning.caller, broken.id)
    assert not back.is_active


async def test_more_skills_than_the_cap_are_not_in_use(strict):
    for key in ("one", "two"):
        await strict.released(key)
    third = await strict.passed("three")
    with pytest.raises(QuotaError, match="2 learned skills in use") as caught:
        await strict.releases.promote(strict.caller, third.id)
    assert caught.value.details == {"value": 2, "limit": 2}
    await strict.released("two", document=await strict.greeting("New"))
    (one,) = (await strict.releases.page(strict.caller, skill_key="one")).items
    retired = await strict.releases.retire(strict.caller, one.id, reason="nobody used it")
    assert (retired.state, retired.end_reason) == ("retired", "nobody used it")
    assert (await strict.releases.promote(strict.caller, third.id)).is_active


async def test_a_skill_that_was_written_since_keeps_its_name(learning, world):
    made = await learning.passed()
    await world.create(learning.caller, "greet", BundleFile("notes.md", b"mine\n"), namespace=None)
    with pytest.raises(ConflictError, match="was not learned"):
        await learning.releases.promote(learning.caller, made.id)
    assert await learning.rows(ReleaseRow) == []
    assert (await learning.skill("greet")).metadata.get("source") is None
