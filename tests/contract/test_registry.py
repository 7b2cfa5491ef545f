"""What a registry keeps to, whatever it is kept in: content byte for byte, fields that follow from it, no lost edit."""

import asyncio
import unicodedata

import pytest

from skillyard.errors import ConflictError, InputError, NotFoundError
from skillyard.history.entries import Outcome, Why
from skillyard.registry.drafts import draft_of
from skillyard.registry.skills import Visibility
from skillyard.skill.bundle import Bundle, BundleFile

pytestmark = pytest.mark.anyio

WHY = Why(reason="a test asked for it")
BINARY = bytes(range(256)) * 5 + b"\r\n\0"
FILES = (
    BundleFile("assets/empty.bin", b""),
    BundleFile("assets/logo.png", BINARY),
    BundleFile("references/설명서.md", "읽어 주세요\n".encode()),
    BundleFile("references/说明 (1).md", "请看\r\n".encode()),
    BundleFile("scripts/run.sh", b"#!/bin/sh\n", executable=True),
)


async def test_every_file_comes_back_byte_for_byte(world):
    bundle = world.bundle("keeper", *FILES)
    skill = await world.create(world.editor, "keeper", *FILES)
    assert skill.digest == bundle.digest
    assert await world.stored(skill) == bundle
    assert {file.path: (file.size, file.executable) for file in skill.files} == {
        file.path: (len(file.data), file.executable) for file in bundle
    }


async def test_a_file_is_read_by_its_path_and_by_its_id(world):
    shelf = world.yard.registry.shelf
    skill = await world.create(world.editor, "keeper", *FILES)
    for file in FILES:
        _, by_path = await shelf.file(world.viewer, skill.id, file.path)
        _, by_id = await shelf.file_with_id(world.viewer, by_path.id)
        assert by_id == by_path
        assert await shelf.content(by_id) == file.data
    with pytest.raises(NotFoundError, match="no file"):
        await shelf.file(world.viewer, skill.id, "assets/other.bin")


async def test_a_file_keeps_its_id_while_its_path_stays(world):
    skill = await world.create(world.editor, "keeper", *FILES)
    before = {file.path: file.id for file in skill.files}
    changed = BundleFile("scripts/run.sh", b"#!/bin/bash\n", executable=True)
    after = await world.yard.registry.workbench.put_file(world.editor, skill.id, changed, why=WHY)
    assert {file.path: file.id for file in after.files} == before


async def test_zero_bytes_in_the_text_are_kept_in_the_file(world):
    text = b'---\nname: zero\ndescription: "a \\0 b"\nlicense: "x\\0"\ntags: ["t\\0"]\n---\nbody \0 end\n'
    bundle = Bundle([BundleFile("SKILL.md", text)])
    workbench = world.yard.registry.workbench
    skill = await workbench.create(world.editor, draft_of(bundle), namespace=world.team, why=WHY)
    assert await world.stored(skill) == bundle
    assert "\0" not in skill.content


async def test_the_longest_names_and_paths_that_are_accepted_are_kept(world):
    path = "/".join(["p" * 100] * 9)
    link = f"See [other](../{'k' * 300}/SKILL.md), [mine]({path}) and [[{'w' * 299}]].\n"
    skill = await world.create(world.editor, "n" * 255, BundleFile(path, b"x"), body=link, tags=["t" * 300, "t" * 301])
    assert skill.name == "n" * 255
    assert await world.listing(world.editor) == ["n" * 255]
    for name in ("n" * 256, "\ufdfa" * 85):
        with pytest.raises(InputError, match="cannot be a folder everywhere"):
            await world.create(world.editor, name)


async def test_fields_follow_from_the_text(world):
    skill = await world.create(
        world.editor,
        "derived",
        body="# Title\n",
        description="Derives",
        license="MIT",
        compatibility="Any",
        metadata={"author": "me", "requires": "other >=1.2"},
        tags=["b", "a", "b"],
        **{"allowed-tools": "Read Bash(git:*)"},
    )
    assert (skill.description, skill.content, skill.license, skill.compatibility) == (
        "Derives",
        "# Title\n",
        "MIT",
        "Any",
    )
    assert skill.metadata["author"] == "me"
    assert skill.tags == ("b", "a")
    assert skill.allowed_tools == ("Read", "Bash(git:*)")
    assert skill.requires == "other >=1.2"
    text = world.bundle("derived", body="New.\n", description="Says something else", tags=["c"]).get("SKILL.md")
    after = await world.yard.registry.workbench.put_file(world.editor, skill.id, text, why=WHY)
    assert (after.description, after.content, after.license, after.tags) == (
        "Says something else",
        "New.\n",
        "",
        ("c",),
    )
    assert await world.listing(world.editor, tags=["c"]) == ["derived"]
    assert await world.listing(world.editor, tags=["a"]) == []


async def test_an_edit_changes_what_it_names_and_keeps_the_rest(world):
    workbench = world.yard.registry.workbench
    skill = await world.create(world.editor, "kept", *FILES, license="MIT", **{"x-own": "stays"})
    after = await workbench.edit(world.editor, skill.id, fields={"description": "New"}, base=skill.digest, why=WHY)
    assert (after.description, after.license, after.content) == ("New", "MIT", skill.content)
    stored = await world.stored(after)
    assert b"x-own: stays" in stored.get("SKILL.md").data
    assert [stored.get(file.path) for file in FILES] == list(FILES)
    fewer = await workbench.edit(world.editor, skill.id, fields={}, files=FILES[:1], why=WHY)
    assert [file.path for file in fewer.files] == ["SKILL.md", FILES[0].path]
    assert fewer.description == "New"


async def test_an_edit_that_changes_nothing_leaves_no_trace(world):
    skill = await world.create(world.editor, "still")
    number = await world.yard.database.number()
    same = await world.edit(world.editor, skill, skill.content, base=skill.digest)
    assert same.digest == skill.digest
    assert await world.yard.database.number() == number


async def test_edits_that_name_no_state_are_all_kept_however_many_arrive_at_once(world):
    workbench = world.yard.registry.workbench
    skill = await world.create(world.editor, "busy", BundleFile("old.txt", b"old"))
    files = [BundleFile(f"notes/{number}.txt", b"note") for number in range(12)]
    await asyncio.gather(
        *(workbench.put_file(world.editor, skill.id, file, why=WHY) for file in files),
        workbench.delete_file(world.editor, skill.id, "old.txt", why=WHY),
        workbench.edit(world.publisher, skill.id, fields={"tags": ["shared"]}, why=WHY),
        world.edit(world.editor, skill, "Together.\n"),
    )
    after = await world.get(skill)
    assert {file.path for file in after.files} == {"SKILL.md", *(file.path for file in files)}
    assert (after.tags, after.content) == (("shared",), "Together.\n")
    assert all(entry.outcome is Outcome.DONE for entry in await world.entries(skill))


async def test_a_stale_edit_is_a_conflict_and_what_it_held_is_kept(world):
    skill = await world.create(world.editor, "contested")
    won = await world.edit(world.publisher, skill, "First.\n", base=skill.digest)
    with pytest.raises(ConflictError, match="has changed since you read it"):
        await world.edit(world.editor, skill, "Second.\n", base=skill.digest)
    assert (await world.get(skill)).digest == won.digest
    refusal = await world.last(skill)
    assert refusal.outcome is Outcome.REFUSED
    assert refusal.actor.name == "editor"
    assert refusal.error["code"] == "conflict"
    lost = await world.yard.registry.bundles.load(refusal.change.digest_after)
    assert b"Second." in lost.get("SKILL.md").data


@pytest.mark.parametrize("kind", ["put_file", "delete_file", "delete", "show"])
async def test_every_kind_of_edit_minds_its_base(world, kind):
    skill = await world.create(world.publisher, "based", *FILES)
    moved_on = await world.edit(world.publisher, skill, "Moved on.\n")
    given = {
        "put_file": (BundleFile("new.md", b"x"),),
        "delete_file": (FILES[0].path,),
        "delete": (),
        "show": (Visibility.PUBLIC,),
    }
    change = getattr(world.yard.registry.workbench, kind)
    with pytest.raises(ConflictError):
        await change(world.publisher, skill.id, *given[kind], base=skill.digest, why=WHY)
    assert await world.get(skill) == moved_on


async def test_of_many_edits_from_one_base_one_wins(world):
    skill = await world.create(world.editor, "raced")
    edits = (world.edit(world.editor, skill, f"Edit {number}.\n", base=skill.digest) for number in range(12))
    done = await asyncio.gather(*edits, return_exceptions=True)
    winners = [answer for answer in done if not isinstance(answer, BaseException)]
    assert len(winners) == 1
    assert all(isinstance(answer, ConflictError) for answer in done if answer not in winners)
    refused = [entry for entry in await world.entries(skill) if not entry.done]
    assert len(refused) == 11
    assert len({entry.change.digest_after for entry in refused}) == 11


async def test_what_cannot_be_read_is_refused_and_changes_nothing(world):
    skill = await world.create(world.editor, "sound")
    number = await world.yard.database.number()
    for data in (b"", b"no frontmatter", b"---\nname: x\n---\n", b"\xff\xfe"):
        with pytest.raises(InputError):
            await world.yard.registry.workbench.put_file(world.editor, skill.id, BundleFile("SKILL.md", data), why=WHY)
    for path in ("../out", "/etc/passwd", "a\\b", "skill.md", "con", ".git/config", "a//b", ""):
        with pytest.raises(InputError):
            await world.yard.registry.workbench.put_file(world.editor, skill.id, BundleFile(path, b"x"), why=WHY)
    with pytest.raises(InputError, match="cannot be deleted"):
        await world.yard.registry.workbench.delete_file(world.editor, skill.id, "SKILL.md", why=WHY)
    assert await world.yard.database.number() == number


async def test_a_name_is_found_whatever_its_case(world):
    skill = await world.create(world.editor, "My-Skill")
    named = world.yard.registry.shelf.named
    for name in ("my-skill", "MY-SKILL", " My-Skill ", "ｍｙ-ｓｋｉｌｌ"):
        assert (await named(world.viewer, name)).id == skill.id
        assert (await named(world.viewer, name, world.team)).id == skill.id
    for wrong in (("my_skill", None), ("my-skill", "viewer"), ("my-skill", "nowhere"), ("", None), ("%", None)):
        with pytest.raises(NotFoundError):
            await named(world.viewer, *wrong)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("보고서-쓰기", unicodedata.normalize("NFD", "보고서-쓰기")),
        ("写报告", "写报告"),
        ("straße", "STRASSE"),
        ("ﬁle-keeper", "FILE-KEEPER"),
        ("resumé", unicodedata.normalize("NFD", "RESUMÉ")),
    ],
)
async def test_names_that_read_the_same_are_one_name(world, name, same):
    skill = await world.create(world.editor, name)
    assert (await world.yard.registry.shelf.named(world.editor, same)).id == skill.id
    with pytest.raises(ConflictError, match="already"):
        await world.create(world.editor, same)
    refusal = await world.last()
    assert (refusal.outcome, refusal.change.action) == (Outcome.REFUSED, "skill.created")
    assert await world.yard.registry.bundles.load(refusal.change.digest_after) == world.bundle(same)
    assert await world.listing(world.editor) == [skill.name]


async def test_a_name_is_free_in_every_other_namespace(world):
    first = await world.create(world.editor, "twice")
    second = await world.create(world.editor, "twice", namespace=None)
    assert (first.full_name, second.full_name) == ("team/twice", "editor/twice")
    assert (await world.yard.registry.shelf.named(world.editor, "twice")).id == second.id
    assert (await world.yard.registry.shelf.named(world.viewer, "twice")).id == first.id


async def test_renaming_keeps_the_skill_and_frees_its_name(world):
    workbench = world.yard.registry.workbench
    skill = await world.create(world.editor, "old-name")
    other = await world.create(world.editor, "taken")
    renamed = await workbench.edit(world.editor, skill.id, fields={"name": "new-name"}, why=WHY)
    assert (renamed.id, renamed.name) == (skill.id, "new-name")
    await world.create(world.editor, "old-name")
    with pytest.raises(ConflictError, match="already"):
        await workbench.edit(world.editor, skill.id, fields={"name": "TAKEN"}, why=WHY)
    assert (await world.get(other)).name == "taken"


async def test_a_deleted_skill_is_gone_and_its_name_is_free(world):
    shelf = world.yard.registry.shelf
    skill = await world.create(world.publisher, "passing", *FILES)
    await world.yard.registry.workbench.delete(world.publisher, skill.id, why=WHY)
    for look in (
        shelf.get(world.boss, skill.id),
        shelf.named(world.boss, "passing"),
        shelf.file_with_id(world.boss, skill.files[0].id),
        world.yard.registry.versions.all(world.boss, skill.id),
    ):
        with pytest.raises(NotFoundError):
            await look
    assert await world.listing(world.boss) == []
    again = await world.create(world.publisher, "passing")
    assert again.id != skill.id


async def test_every_change_is_in_the_history_with_who_and_why(world):
    why = Why(reason="clearer", feedback="I did not understand it", request_id="r-1")
    skill = await world.create(world.editor, "told")
    edited = await world.yard.registry.workbench.edit(world.publisher, skill.id, fields={}, body="Clear.\n", why=why)
    entry = await world.last(skill)
    assert (entry.why, entry.actor.name, entry.change.action) == (why, "publisher", "skill.updated")
    assert (entry.change.digest_before, entry.change.digest_after) == (skill.digest, edited.digest)
    assert await world.yard.registry.bundles.load(entry.change.digest_before) == world.bundle("told")
    assert edited.changed == entry.number
