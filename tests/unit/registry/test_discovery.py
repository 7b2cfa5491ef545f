import hashlib

import pytest

from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.errors import NotFoundError
from skillyard.history.entries import Why
from skillyard.registry.artifacts import ArtifactKind
from skillyard.registry.discovery import Discovery, unique_names
from skillyard.registry.drafts import draft_of
from skillyard.registry.marketplace import Marketplace
from skillyard.registry.skills import Visibility
from skillyard.skill.archive import read_archive
from skillyard.skill.bundle import BundleFile, bundle_of

pytestmark = pytest.mark.anyio
WHY = Why()
WORLD = Visibility.DISCOVERABLE


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
async def yard(tmp_path):
    async with open_yard(Settings(home=tmp_path)) as yard:
        yield yard


@pytest.fixture
async def ana(yard):
    return await yard.access.at_this_machine("ana")


@pytest.fixture
async def ben(yard):
    tenant = await yard.people.ensure_tenant()
    return await yard.access.of_person(await yard.people.ensure_person(tenant, "ben"))


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
    ana = await yard.access.at_this_machine("ana")
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
    await yard.registry.workbench.replace(ana, skill.id, changed, why=WHY)
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


async def test_of_two_with_one_name_the_system_s_and_then_the_oldest_keeps_it(yard, discovery, ana, ben):
    await publish(yard, ben, bundle("pdf"), visibility=WORLD)
    await publish(yard, ana, bundle("pdf"), visibility=WORLD)
    listed = {one.namespace: one.listed_as for one in await discovery.listing(None)}
    assert listed == {"ben": "pdf", "ana": "ana-pdf"}
    await publish(yard, ana, bundle("pdf"), visibility=WORLD, namespace="system")
    listed = {one.namespace: one.listed_as for one in await discovery.listing(None)}
    assert listed == {"system": "pdf", "ben": "ben-pdf", "ana": "ana-pdf"}


async def test_a_name_beyond_ascii_is_listed_under_its_alias(yard, discovery, ana):
    await publish(yard, ana, bundle("überblick"), visibility=WORLD)
    (listed,) = await discovery.listing(None)
    assert listed.name == "überblick"
    assert listed.listed_as.isascii()


async def test_names_stay_apart_even_where_the_longer_one_is_taken():
    items = [("1", "pdf", "a-pdf"), ("2", "pdf", "b-pdf"), ("3", "b-pdf", "c-b-pdf"), ("4", "pdf", "b-pdf")]
    given = unique_names(items)
    assert (given["1"], given["3"]) == ("pdf", "b-pdf")
    assert len(set(given.values())) == len(items)
    assert all(given[key].startswith("b-pdf-") for key in ("2", "4"))
    assert unique_names(items) == given
    assert all(len(name) <= 64 for name in unique_names([(str(n), "x" * 64, "y" * 80) for n in range(3)]).values())


async def test_a_bundle_whose_bytes_are_lost_does_not_take_the_others_away(yard, discovery, ana):
    lost = bundle("lost")
    await publish(yard, ana, lost, visibility=WORLD)
    await publish(yard, ana, bundle("kept"), visibility=WORLD)
    await yard.blobs.delete(hashlib.sha256(lost.files[0].data).hexdigest())
    assert await names(discovery) == ["kept"]


async def test_a_repository_follows_from_its_content_alone(yard, discovery, ana, ben):
    market = Marketplace(discovery, yard.registry.bundles)
    await publish(yard, ana, bundle("open"), visibility=WORLD)
    first = await market.repository(None)
    await publish(yard, ana, bundle("own"), visibility=Visibility.PRIVATE)
    assert await market.repository(None) is first
    again = Marketplace(Discovery(yard.database, yard.registry.bundles), yard.registry.bundles)
    assert await again.repository(None) == first
    assert (await market.repository(ana)).commit != first.commit
    with pytest.raises(NotFoundError):
        await market.repository(None, "ben")
