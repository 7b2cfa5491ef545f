"""What is decided for each folder, from what is wanted, what is there and what the manifest says."""

import pytest

from skillyard.delivery.bundle_source import DesiredBundle, Origin
from skillyard.delivery.manifest import MAX_ENTRIES, Manifest, ManifestEntry
from skillyard.delivery.ship_plan import Seen, ShipPlan, Step, nameable, plan_shipping
from skillyard.skill.bundle import Bundle

OLD, NEW, EDITED = ("sha256:" + char * 64 for char in "abc")


async def never() -> Bundle:
    raise AssertionError


def want(folder: str = "pdf", digest: str = NEW, *, kind: str = "attached", skill: str = "team/pdf") -> DesiredBundle:
    return DesiredBundle(folder=folder, digest=digest, origin=Origin(kind=kind, skill=skill), load=never)


def entry(digest: str = NEW, *, kind: str = "attached", skill: str = "team/pdf") -> ManifestEntry:
    return ManifestEntry(digest=digest, origin=Origin(kind=kind, skill=skill))


def plan(
    *desired: DesiredBundle,
    ours: dict[str, ManifestEntry] | None = None,
    there: dict[str, str] | None = None,
    speaks_for: tuple[str, ...] = ("attached",),
) -> ShipPlan:
    """`ours` is what the manifest says, None for no manifest; `there` is what lies in the place."""
    present = there or {}
    manifest = Manifest(is_sound=False) if ours is None else Manifest(entries=ours)
    digests = {folder: present.get(folder) for folder in nameable(desired)}
    return plan_shipping(desired, Seen(manifest=manifest, digests=digests, names=list(present)), speaks_for=speaks_for)


def steps(found: ShipPlan) -> list[tuple[str, Step]]:
    return [(item.folder, item.step) for item in found.items]


@pytest.mark.parametrize(("there", "step"), [(NEW, Step.UNCHANGED), (EDITED, Step.SKIPPED)])
def test_what_was_delivered_as_another_skill_counts_if_it_is_the_very_same(there: str, step: Step):
    ours = {"pdf": entry(NEW, kind="builtin", skill="pdf")}
    (item,) = plan(want(kind="loaded"), ours=ours, there={"pdf": there}, speaks_for=()).items
    assert (item.step, item.is_ours) == (step, step is Step.SKIPPED)
    assert "builtin pdf" in item.reason


@pytest.mark.parametrize(
    ("ours", "there", "step"),
    [
        (None, None, Step.ADD),
        ({}, None, Step.ADD),
        (None, NEW, Step.UNCHANGED),
        ({}, NEW, Step.UNCHANGED),
        (None, EDITED, Step.SKIPPED),
        ({}, EDITED, Step.SKIPPED),
        ({"pdf": entry(NEW)}, NEW, Step.UNCHANGED),
        ({"pdf": entry(NEW)}, None, Step.REPAIR),
        ({"pdf": entry(NEW)}, EDITED, Step.REPAIR),
        ({"pdf": entry(OLD)}, OLD, Step.CHANGE),
        ({"pdf": entry(OLD)}, EDITED, Step.CHANGE),
        ({"pdf": entry(OLD)}, None, Step.CHANGE),
        ({"pdf": entry(OLD)}, NEW, Step.UNCHANGED),
    ],
)
def test_what_becomes_of_a_folder(ours: dict[str, ManifestEntry] | None, there: str | None, step: Step):
    assert steps(plan(want(), ours=ours, there={"pdf": there} if there else {})) == [("pdf", step)]


def test_the_same_content_is_taken_over_only_where_nothing_says_whose_it_is():
    (without_manifest,) = plan(want(), ours=None, there={"pdf": NEW}).items
    (with_one,) = plan(want(), ours={}, there={"pdf": NEW}).items
    assert without_manifest.is_ours
    assert not with_one.is_ours
    assert "not from us" in with_one.reason


def test_what_is_wanted_no_more_goes():
    assert steps(plan(ours={"pdf": entry()}, there={"pdf": NEW})) == [("pdf", Step.REMOVE)]


def test_what_others_delivered_stays():
    assert steps(plan(ours={"pdf": entry(kind="loaded")}, there={"pdf": NEW})) == []


def test_what_others_delivered_is_not_replaced_by_another_skill():
    found = plan(want(skill="other/pdf"), ours={"pdf": entry(OLD, kind="loaded")}, there={"pdf": OLD})
    assert steps(found) == [("pdf", Step.SKIPPED)]
    assert "loaded team/pdf" in found.items[0].reason


def test_what_others_delivered_is_replaced_by_a_version_of_the_same_skill():
    found = plan(want(), ours={"pdf": entry(OLD, kind="loaded")}, there={"pdf": OLD})
    assert steps(found) == [("pdf", Step.CHANGE)]


def test_of_two_that_want_one_folder_the_first_gets_it():
    found = plan(want(), want(digest=OLD, skill="other/pdf"))
    assert steps(found) == [("pdf", Step.ADD), ("pdf", Step.SKIPPED)]
    assert "attached team/pdf" in found.items[1].reason


def test_what_two_sources_want_alike_is_wanted_once():
    assert steps(plan(want(), want(kind="picked"))) == [("pdf", Step.ADD)]


@pytest.mark.parametrize("second", ["PDF", "pdF", "ｐｄｆ"])
def test_names_that_some_disks_take_for_one_are_one(second: str):
    assert steps(plan(want(), want(second))) == [("pdf", Step.ADD), (second, Step.SKIPPED)]


def test_a_foreign_folder_of_another_case_is_in_the_way():
    found = plan(want(), ours={}, there={"PDF": EDITED})
    assert steps(found) == [("pdf", Step.SKIPPED)]
    assert "'PDF'" in found.items[0].reason


def test_a_folder_of_ours_gives_way_to_another_case_of_its_name():
    found = plan(want(), ours={"PDF": entry(OLD)}, there={"PDF": OLD})
    assert steps(found) == [("pdf", Step.ADD), ("PDF", Step.REMOVE)]


@pytest.mark.parametrize("folder", ["../x", "", "a/b", ".hidden", ".skillyard.json", "nul", "node_modules"])
def test_a_name_that_cannot_be_a_folder_is_never_asked_about(folder: str):
    assert nameable([want(folder)]) == []
    assert steps(plan(want(folder), want("ok"))) == [(folder, Step.SKIPPED), ("ok", Step.ADD)]


def test_a_place_takes_only_so_many():
    others = {f"other-{number}": entry(kind="loaded") for number in range(MAX_ENTRIES - 1)}
    found = plan(want("a"), want("b"), ours=others)
    assert steps(found) == [("a", Step.ADD), ("b", Step.SKIPPED)]


def test_a_plan_can_be_shown():
    (shown,) = plan(want()).as_dict()["items"]
    assert shown == {
        "action": "add",
        "folder": "pdf",
        "digest": NEW,
        "origin": "attached",
        "skill": "team/pdf",
        "version": "",
        "reason": "",
    }
