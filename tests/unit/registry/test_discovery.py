import hashlib
from dataclasses import replace
from datetime import timedelta

import pytest

from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.errors import NotFoundError
from skillyard.history.entries import Why
from skillyard.registry.artifacts import ArtifactKind
from skillyard.registry.discovery import Discovery, unique_names
from skillyard.registry.drafts import draft_of
from skillyard.registry.marketplace import Marketplace, Plugin, marketplace_name, plugins_of
from skillyard.registry.skills import Visibility
from skillyard.skill.archive import read_archive
from skillyard.skill.bundle import BundleFile, bundle_of

pytestmark = pytest.mark.anyio
WHY = Why()
WORLD = Visibility.DISCOVERABLE


@pytest.fixture
async def yard(tmp_path, new_home):
    async with open_yard(Settings(home=new_home(tmp_path))) as yard:
        yield yard


@pytest.fixture
async def ana(yard):
    return await yard.access.operator("ana")


@pytest.fixture
async def ben(yard):
    tenant = await yard.people.ensure_tenant()
    await yard.world.allow(await yard.access.operator("ana"), allowed=True, why=WHY)
    return await yard.access.of_person(await yard.people.ensure_person(tenant, "ben"))


@pytest.fixture
async def eve(yard, ana):
    """The administrator of another tenant."""
    tenant = await yard.people.create_tenant(ana, "elsewhere", why=WHY)
    return await yard.access.of_person(await yard.people.ensure_person(tenant, "eve", admin=True))


@pytest.fixture
def discovery(yard):
    return Discovery(yard.database, yard.registry.bundles)


def bundle(name, text="", *files):
    skill_file = f"---\nname: {name}\ndescription: Does {name}.\n---\n{text}\n"
    return bundle_of([BundleFile("SKILL.md", skill_file.encode()), *files]).require()


async def publish(yard, who, bundle, version="1.0.0", visibility=None, namespace=None):
    return await yard.registry.publishing.publish_bundle(
        who, draft_of(bundle), version=version, visibility=visibility, namespace=namespace, why=WHY
    )


async def names(discovery, principal=None):
    return [skill.listed_as for skill in await discovery.listing(principal)]


async def test_the_world_sees_what_is_discoverable_and_a_person_what_is_theirs_too(yard, discovery, ana, ben):
    await publish(yard, ana, bundle("open"), visibility=WORLD)
    await publish(yard, ana, bundle("house"), visibility=Visibility.PUBLIC)
    await publish(yard, ana, bundle("own"), visibility=Visibility.PRIVATE)
    assert await names(discovery) == ["open"]
    assert await names(discovery, ben) == ["house", "open"]
    assert await names(discovery, ana) == ["house", "open", "own"]


async def test_another_tenant_sees_only_what_the_world_sees(yard, discovery, ana):
    await publish(yard, ana, bundle("open"), visibility=WORLD)
    await publish(yard, ana, bundle("house"), visibility=Visibility.PUBLIC)
    tenant = await yard.people.create_tenant(ana, "elsewhere", why=WHY)
    eve = await yard.access.of_person(await yard.people.ensure_person(tenant, "eve"))
    assert await names(discovery, eve) == ["open"]


async def test_the_latest_version_is_listed_with_its_own_description(yard, discovery, ana):
    first, second = bundle("pdf", "one"), bundle("pdf", "two")
    await publish(yard, ana, second, "1.10.0", visibility=WORLD)
    await publish(yard, ana, first, "1.9.0")
    skill = (await publish(yard, ana, bundle("pdf", "three"), "2.0.0-rc.1")).skill
    await yard.registry.workbench.edit(ana, skill.id, fields={"description": "Not yet told."}, why=WHY)
    (listed,) = await discovery.listing(None)
    assert (listed.version, listed.artifact.bundle_digest) == ("1.10.0", second.digest)
    assert listed.artifact.description == "Does pdf."


async def test_a_working_copy_is_listed_only_if_nothing_was_published_and_nothing_is_demanded(yard, discovery, ana):
    workbench = yard.registry.workbench
    skill = await workbench.create(ana, draft_of(bundle("raw")), visibility=WORLD, why=WHY)
    (listed,) = await discovery.listing(None)
    assert (listed.version, listed.artifact.bundle_digest) == (None, skill.digest)
    served = await discovery.artifact(None, skill.id, listed.artifact.sha256)
    assert served.for_everyone
    team = (await yard.namespaces.create_team(ana, "team", why=WHY)).name
    ana = await yard.access.operator("ana")
    await yard.namespaces.set_policy(ana, team, {"review": True}, why=WHY)
    await workbench.create(ana, draft_of(bundle("vetted")), namespace=team, visibility=WORLD, why=WHY)
    assert await names(discovery) == ["raw"]
    await yard.registry.publishing.publish(ana, skill.id, version="1.0.0", why=WHY)
    await yard.registry.versions.yank(ana, skill.id, "1.0.0", why=Why(reason="wrong"))
    assert await names(discovery) == []
    assert (await discovery.artifact(None, skill.id, listed.artifact.sha256)).data == served.data


async def test_a_lone_skill_file_is_served_as_it_is_and_a_folder_as_an_archive(yard, discovery, ana):
    lone, folder = bundle("lone"), bundle("folder", "", BundleFile("run.sh", b"#!/bin/sh\n", executable=True))
    await publish(yard, ana, lone, visibility=WORLD)
    await publish(yard, ana, folder, visibility=WORLD)
    second, first = await discovery.listing(None)
    assert (first.artifact.kind, second.artifact.kind) == (ArtifactKind.SKILL_MD, ArtifactKind.ARCHIVE)
    plain = await discovery.artifact(None, first.skill_id, first.artifact.sha256)
    assert plain.data == lone.files[0].data
    packed = await discovery.artifact(None, second.skill_id, second.artifact.sha256)
    assert hashlib.sha256(packed.data).hexdigest() == second.artifact.sha256
    assert read_archive(packed.data).require() == folder


async def test_what_may_not_be_seen_is_not_served(yard, discovery, ana, ben):
    skill = (await publish(yard, ana, bundle("own"), visibility=Visibility.PRIVATE)).skill
    other = (await publish(yard, ana, bundle("open"), visibility=WORLD)).skill
    own = next(one for one in await discovery.listing(ana) if one.name == "own").artifact.sha256
    assert not (await discovery.artifact(ana, skill.id, own)).for_everyone
    for principal, skill_id, sha256 in [
        (None, skill.id, own),
        (ben, skill.id, own),
        (None, other.id, own),
        (ana, skill.id, "0" * 64),
        (ana, "nobody", own),
    ]:
        with pytest.raises(NotFoundError, match=r"^There is nothing here\.$"):
            await discovery.artifact(principal, skill_id, sha256)


async def test_an_edit_that_was_not_published_is_not_served(yard, discovery, ana):
    skill = (await publish(yard, ana, bundle("pdf"), visibility=WORLD)).skill
    changed = bundle("pdf", "secret plans")
    await yard.registry.workbench.put_file(ana, skill.id, changed.files[0], why=WHY)
    with pytest.raises(NotFoundError):
        await discovery.artifact(None, skill.id, hashlib.sha256(changed.files[0].data).hexdigest())


async def test_a_listing_follows_every_change(yard, discovery, ana):
    skill = (await publish(yard, ana, bundle("pdf"), visibility=WORLD)).skill
    assert await discovery.listing(None) is await discovery.listing(None)
    await yard.registry.workbench.show(ana, skill.id, Visibility.PRIVATE, why=WHY)
    assert await names(discovery) == []
    await yard.registry.workbench.show(ana, skill.id, WORLD, why=WHY)
    await yard.registry.workbench.delete(ana, skill.id, why=WHY)
    assert await names(discovery) == []


async def called(discovery, principal=None):
    return {one.namespace_id: one.listed_as for one in await discovery.listing(principal)}


async def test_of_two_with_one_name_the_oldest_keeps_it_and_at_home_the_system_s(yard, discovery, ana, ben):
    first = (await publish(yard, ben, bundle("pdf"), visibility=WORLD)).skill.namespace_id
    second = (await publish(yard, ana, bundle("pdf"), visibility=WORLD)).skill.namespace_id
    assert await called(discovery) == await called(discovery, ana) == {first: "pdf", second: "ana-pdf"}
    system = (await publish(yard, ana, bundle("pdf"), visibility=WORLD, namespace="system")).skill.namespace_id
    assert await called(discovery) == {first: "pdf", second: "ana-pdf", system: "system-pdf"}
    assert await called(discovery, ana) == {system: "pdf", first: "ben-pdf", second: "ana-pdf"}


async def test_another_tenant_takes_no_name_away(yard, discovery, ana, ben, eve):
    market = Marketplace(discovery, yard.registry.bundles)
    await publish(yard, eve, bundle("old"), visibility=WORLD, namespace="system")
    for who, skill in ((ben, "pdf"), (ana, "pdf"), (ana, "old")):
        await publish(yard, who, bundle(skill), visibility=WORLD)
    await publish(yard, ana, bundle("own"), visibility=WORLD, namespace="system")

    async def seen(principal):
        listed = {one.skill_id: one.listed_as for one in await discovery.listing(principal)}
        plugins = plugins_of(await discovery.listing(principal))
        return listed, {one.skills[0].namespace_id: one.name for one in plugins}

    own, everyone = await seen(ana), await seen(None)
    assert "old" in await names(discovery, ana)
    assert next(one for one in await discovery.listing(ana) if one.listed_as == "old").namespace == "ana"
    for skill in ("pdf", "ana-pdf", "own"):
        await publish(yard, eve, bundle(skill), visibility=WORLD, namespace="system")
    for (names_now, plugins_now), (names_then, plugins_then) in ((await seen(ana), own), (await seen(None), everyone)):
        assert names_then.items() <= names_now.items()
        assert plugins_then.items() <= plugins_now.items()
    plugins = {one["name"] for one in (await market.manifest(ana, "yard", str))["plugins"]}
    assert {"ana", "ben", "system"} < plugins


async def test_the_older_namespace_and_the_own_one_keep_the_name_of_the_plugin(yard, discovery, ana, eve):
    await publish(yard, eve, bundle("a"), visibility=WORLD, namespace="system")
    await publish(yard, ana, bundle("b"), visibility=WORLD, namespace="system")
    listing = await discovery.listing(None)
    for late in ("a", "b"):
        later = [
            replace(one, namespace_since=one.namespace_since + timedelta(days=one.name == late)) for one in listing
        ]
        system = next(one for one in plugins_of(later) if one.name == "system")
        assert system.skills[0].name != late
    for who, skill in ((ana, "b"), (eve, "a")):
        system = next(one for one in plugins_of(await discovery.listing(who)) if one.name == "system")
        assert system.skills[0].name == skill


async def test_a_name_beyond_ascii_is_listed_under_its_alias(yard, discovery, ana):
    await publish(yard, ana, bundle("überblick"), visibility=WORLD)
    (listed,) = await discovery.listing(None)
    assert listed.name == "überblick"
    assert listed.listed_as.isascii()


async def test_names_stay_apart_even_where_the_longer_one_is_taken():
    items = [("1", "pdf", "a-pdf"), ("2", "pdf", "b-pdf"), ("3", "b-pdf", "c-b-pdf"), ("4", "pdf", "b-pdf")]
    given = unique_names(items)
    assert (given["1"], given["2"], given["3"]) == ("pdf", "b-pdf", "c-b-pdf")
    assert len(set(given.values())) == len(items)
    assert given["4"].startswith("b-pdf-")
    for end in range(len(items)):
        assert unique_names(items[:end]).items() <= given.items()
    assert unique_names(items) == given
    assert all(len(name) <= 64 for name in unique_names([(str(n), "x" * 64, "y" * 80) for n in range(3)]).values())


async def test_a_bundle_whose_bytes_are_lost_does_not_take_the_others_away(yard, discovery, ana):
    lost = bundle("lost")
    await publish(yard, ana, lost, visibility=WORLD)
    await publish(yard, ana, bundle("kept"), visibility=WORLD)
    await yard.blobs.delete(hashlib.sha256(lost.files[0].data).hexdigest())
    assert await names(discovery) == ["kept"]


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("skills.example.com", "skillyard-skills-example-com"),
        ("127.0.0.1:18500", "skillyard-127-0-0-1-18500"),
        ("[::1]:8321", "skillyard-1-8321"),
        ("a" * 80 + ".example", "skillyard-" + "a" * 54),
    ],
)
def test_a_marketplace_is_called_after_the_address_of_its_yard(address, name):
    assert marketplace_name(address) == name


async def test_a_repository_follows_from_its_content_alone(yard, discovery, ana, ben):
    market = Marketplace(discovery, yard.registry.bundles)
    await publish(yard, ana, bundle("open"), visibility=WORLD)
    first = await market.repository(None, "yard")
    await publish(yard, ana, bundle("own"), visibility=Visibility.PRIVATE)
    assert await market.repository(None, "yard") is first
    again = Marketplace(Discovery(yard.database, yard.registry.bundles), yard.registry.bundles)
    assert await again.repository(None, "yard") == first
    assert (await market.repository(ana, "yard")).commit != first.commit
    with pytest.raises(NotFoundError):
        await market.plugin_repository(None, "ben")


class Watched:
    """Bundles that notice how many are being loaded at once."""

    def __init__(self, bundles):
        self.bundles = bundles
        self.loaded = []
        self.busy = self.most = 0

    async def load(self, digest):
        self.loaded.append(digest)
        self.busy += 1
        self.most = max(self.most, self.busy)
        try:
            return await self.bundles.load(digest)
        finally:
            self.busy -= 1


async def test_few_bundles_are_in_memory_at_once(yard, ana):
    for number in range(12):
        await publish(yard, ana, bundle(f"skill-{number}"), visibility=WORLD)
    packing, cloning = Watched(yard.registry.bundles), Watched(yard.registry.bundles)
    market = Marketplace(Discovery(yard.database, packing), cloning)
    await market.repository(None, "yard")
    assert len(packing.loaded) == len(cloning.loaded) == 12
    assert 1 < packing.most <= 4
    assert 1 < cloning.most <= 4


async def test_what_does_not_fit_into_a_repository_is_left_out_and_never_loaded(yard, discovery, ana, eve, monkeypatch):
    big = BundleFile("data.bin", bytes(2000))
    theirs = (await publish(yard, eve, bundle("theirs", "", big), visibility=WORLD)).version.digest
    first = (await publish(yard, ana, bundle("first", "", big), visibility=WORLD)).version.digest
    later = (await publish(yard, ana, bundle("later", "", big), visibility=WORLD)).version.digest
    small = (await publish(yard, ana, bundle("small"), visibility=WORLD)).version.digest
    monkeypatch.setattr("skillyard.registry.marketplace.MAX_BYTES", 3000)
    for who, plugin, expected in (
        (ana, None, {first, small}),
        (None, None, {theirs, small}),
        (None, "ana", {first, small}),
    ):
        watched = Watched(yard.registry.bundles)
        market = Marketplace(discovery, watched)
        await (market.plugin_repository(who, plugin) if plugin else market.repository(who, "yard"))
        assert set(watched.loaded) == expected
    monkeypatch.setattr("skillyard.registry.marketplace.MAX_BYTES", 10_000)
    watched = Watched(yard.registry.bundles)
    await Marketplace(discovery, watched).repository(None, "yard")
    assert set(watched.loaded) == {theirs, first, later, small}


async def test_a_plugin_says_what_was_left_out_of_it():
    assert Plugin(name="a", namespace="a", skills=(), left_out=3).manifest["description"] == (
        "The skills of a. 3 did not fit into this repository."
    )
