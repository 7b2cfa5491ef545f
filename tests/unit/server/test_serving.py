import pytest

from skillyard.config.settings import Settings
from skillyard.errors import NotAllowedError
from skillyard.history.entries import Why
from skillyard.library.folder import FolderLibrary
from skillyard.server.serving import NO_TOKEN, require_safe_address, serving

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.5", "10.0.0.1", "2001:db8::1"])
async def test_an_address_that_others_reach_needs_tokens(tmp_path, address):
    with pytest.raises(NotAllowedError) as caught:
        require_safe_address(Settings(home=tmp_path, auth="local"), address)
    assert "SKILLYARD_AUTH=token" in caught.value.hint
    assert "SKILLYARD_ADMIN_TOKEN" in caught.value.hint
    assert "127.0.0.1" in caught.value.hint
    require_safe_address(Settings(home=tmp_path, auth="token"), address)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "127.8.8.8"])
async def test_this_machine_is_safe(tmp_path, address):
    require_safe_address(Settings(home=tmp_path, auth="local"), address)


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
