import pytest

from skillyard.blobs.disk import DiskBlobs
from skillyard.config.settings import Settings
from skillyard.errors import StoreUnavailableError
from skillyard.history.entries import Why
from skillyard.library.folder import FolderLibrary
from skillyard.server.serving import NO_TOKEN, serving

pytestmark = pytest.mark.anyio


async def opened(tmp_path, **given):
    told = []
    async with serving(Settings(home=tmp_path, **given), FolderLibrary(tmp_path), ready=told.extend) as app:
        yard = app.api.state.yard
        root = await yard.access.operator("someone")
        page = await yard.registry.shelf.page(root, limit=200)
        number = await yard.database.number()
    assert app.streams.closed
    return told, [(skill.full_name, skill.latest) for skill in page.skills], number


async def test_a_fresh_registry_has_the_built_in_skills_once(tmp_path):
    told, skills, number = await opened(tmp_path)
    assert ("system/skill-creator", "0.1.0") in skills
    assert told == []
    assert await opened(tmp_path) == (told, skills, number)


async def test_a_server_that_nobody_can_enter_says_how_to_make_the_first_token(tmp_path):
    assert (await opened(tmp_path, auth="token"))[0] == [NO_TOKEN]
    assert (await opened(tmp_path, auth="token", admin_token="a-long-and-random-text"))[0] == []
    async with serving(Settings(home=tmp_path), FolderLibrary(tmp_path), ready=lambda _: None) as app:
        yard = app.api.state.yard
        root = await yard.access.operator("someone")
        await yard.tokens.create(root, label="first", why=Why())
    assert (await opened(tmp_path, auth="token"))[0] == []


async def test_a_server_starts_while_its_store_of_files_does_not_answer(tmp_path, monkeypatch):
    async def get(*_):
        raise StoreUnavailableError("The store did not answer.", hint="Look at it.")

    await opened(tmp_path)
    monkeypatch.setattr(DiskBlobs, "get", get)
    assert (await opened(tmp_path))[0] == ["The store did not answer. Look at it."]
