import pytest

from skillyard.app.seeding import seed_builtin
from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.history.entries import Why
from skillyard.registry.skills import Visibility

pytestmark = pytest.mark.anyio


@pytest.fixture
async def yard(tmp_path, new_home):
    async with open_yard(Settings(home=new_home(tmp_path / "home"))) as yard:
        yield yard


@pytest.fixture
def root(tmp_path):
    for name in ("one", "two"):
        folder = tmp_path / "built-in" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Does {name}.\n---\n\n# {name}\n")
    return tmp_path / "built-in"


async def test_built_in_skills_become_system_skills_with_a_version(yard, root):
    person = await yard.access.operator("jane")
    assert await seed_builtin(yard, person, root=root) == ["one", "two"]
    skill = await yard.registry.shelf.named(person, "one", "system")
    assert (skill.owner_id, skill.visibility, skill.latest) == (None, Visibility.PUBLIC, "0.1.0")


async def test_seeding_again_changes_nothing_and_brings_nothing_back(yard, root):
    person = await yard.access.operator("jane")
    await seed_builtin(yard, person, root=root)
    skill = await yard.registry.shelf.named(person, "one", "system")
    await yard.registry.workbench.delete(person, skill.id, why=Why())
    number = await yard.database.number()
    assert await seed_builtin(yard, person, root=root) == []
    assert await yard.database.number() == number


async def test_what_an_interrupted_start_left_out_is_added_by_the_next(yard, root):
    person = await yard.access.operator("jane")
    (root / "two/SKILL.md").rename(root / "later")
    assert await seed_builtin(yard, person, root=root) == ["one"]
    (root / "later").rename(root / "two/SKILL.md")
    assert await seed_builtin(yard, person, root=root) == ["two"]


async def test_another_process_may_be_quicker(yard, root, monkeypatch):
    person = await yard.access.operator("jane")
    await seed_builtin(yard, person, root=root)
    (root / "one/SKILL.md").write_text("---\nname: one\ndescription: Another.\n---\n\n# one\n")

    async def nothing(*_given):
        return set()

    monkeypatch.setattr("skillyard.app.seeding._known", nothing)
    assert await seed_builtin(yard, person, root=root) == ["two"]
