from collections.abc import Sequence

import pytest

from skillyard.delivery.bundle_source import Origin, Receiver
from skillyard.delivery.release_source import ActiveRelease, LearnedSkills
from skillyard.skill.bundle import Bundle

pytestmark = pytest.mark.anyio
RECEIVER = Receiver(owner="kim", sandbox_id="sandbox-1")


async def never() -> Bundle:
    raise AssertionError


def release(key: str, *, stage: str = "stable", uses: int = 0) -> ActiveRelease:
    return ActiveRelease(
        id=f"sr-{key}-{stage}",
        skill_key=key,
        folder=f"learned-{key}",
        stage=stage,
        digest=f"sha256:{key}",
        load=never,
        uses=uses,
    )


class Kept:
    def __init__(self, *releases: ActiveRelease) -> None:
        self.releases = releases
        self.asked: list[tuple[str, tuple[str, ...], str]] = []

    async def active(self, owner: str, stages: Sequence[str], sandbox_id: str) -> Sequence[ActiveRelease]:
        self.asked.append((owner, tuple(stages), sandbox_id))
        return self.releases


async def test_each_active_release_is_wanted_under_the_name_that_it_was_rendered_with():
    kept = Kept(release("login"), release("report", stage="canary"))
    desired = await LearnedSkills(kept).desired(RECEIVER)
    assert kept.asked == [("kim", ("stable", "canary"), "sandbox-1")]
    assert [each.folder for each in desired.bundles] == ["learned-login", "learned-report"]
    assert desired.bundles[0].origin == Origin(kind="release", skill="login", version="sr-login-stable")


async def test_over_the_cap_the_most_used_come_first_and_the_rest_is_told():
    kept = Kept(*(release(f"s-{number}", uses=number) for number in range(5)))
    desired = await LearnedSkills(kept, max_skills=2).desired(RECEIVER)
    assert [each.folder for each in desired.bundles] == ["learned-s-4", "learned-s-3"]
    assert [each.origin.skill for each in desired.shortfalls] == ["s-2", "s-1", "s-0"]
    assert "5 learned skills are active and 2 may be injected" in desired.shortfalls[0].reason


async def test_stages_that_are_not_included_are_left_out():
    kept = Kept(release("login", stage="canary"), release("report"))
    desired = await LearnedSkills(kept, include_stages=("stable",)).desired(RECEIVER)
    assert [each.folder for each in desired.bundles] == ["learned-report"]


@pytest.mark.parametrize(("stages", "version"), [(("stable", "canary"), "stable"), (("canary", "stable"), "canary")])
async def test_of_two_releases_of_a_skill_the_stage_named_first_gets_the_folder(stages, version):
    kept = Kept(release("login", stage="canary", uses=9), release("login"))
    desired = await LearnedSkills(kept, include_stages=stages).desired(RECEIVER)
    assert [each.origin.version for each in desired.bundles] == [f"sr-login-{version}"]
