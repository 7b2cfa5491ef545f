"""The browser where it belongs: inside a sandbox that reaches one server of the host, and nothing else."""

import asyncio

import pytest
from tests.components import missing

from skillyard.sandbox.browser_steps import parse_step
from skillyard.sandbox.local.browser_parts import BrowserParts
from skillyard.sandbox.local.bwrap import BwrapBackend
from skillyard.sandbox.local.cgroups import Cgroups
from skillyard.sandbox.local.uids import DEFAULT_UIDS, Users
from skillyard.sandbox.network import parse_network
from skillyard.sandbox.place import Place
from skillyard.sandbox.profiles import PROFILES
from skillyard.sandbox.proxy.proxy import NetworkProxy

pytestmark = pytest.mark.anyio

PAGE = b"<title>Listed</title><label>Word <input type=password></label><button onclick='document.title=1'>Go</button>"
SECRET = "correct horse"


async def serve(reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(PAGE) + PAGE)
    writer.close()


@pytest.fixture
async def servers():
    """The addresses of two servers of the host."""
    started = [await asyncio.start_server(serve, "127.0.0.1", 0) for _ in range(2)]
    yield [f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}" for server in started]
    for server in started:
        server.close()
        await server.wait_closed()


@pytest.fixture
async def sandbox(tmp_path, servers):
    """A sandbox that may reach the first of them, and its proxy."""
    parts = BrowserParts.find()
    proxy = NetworkProxy(parse_network({"allow": servers[:1]}))
    users, cgroups = Users.of(DEFAULT_UIDS), Cgroups.here()
    backend = BwrapBackend(tmp_path, users=users, cgroups=cgroups, proxy=lambda _: proxy, browser=parts)
    offered = await backend.capabilities()
    if parts is None or not offered.available:
        missing(f"no browser in bubblewrap: {offered.reason or 'Chromium or Playwright is missing'}")
    policy = parse_network({"allow": servers[:1]})
    limits = PROFILES["browser-python"].limits
    session = await backend.start(Place(sandbox_id="browsing", cargo_id="browsing", network=policy, limits=limits))
    yield session, proxy
    await session.close()
    await backend.close()


async def test_inside_a_sandbox_the_browser_works_and_reaches_only_what_is_listed(sandbox, servers):
    session, proxy = sandbox

    async def step(text, secrets=None):
        return await session.browse(parse_step(text), seconds=30, secrets=secrets)

    opened = await step(f"open {servers[0]}/")
    assert opened.success, opened.error
    assert opened.output.startswith("Listed\n")
    assert (await step("snapshot -i")).output.splitlines()[1:] == ['- button "Go" [ref=e2]']
    filled = await step(f'fill --secret @e1 "{SECRET}"', {"WORD": SECRET})
    assert filled.target["is_password"] is True
    assert (await step("click @e2")).target["name"] == "Go"
    assert (await step("get title")).output == "1"
    pictured = await step("screenshot page.png")
    assert pictured.screenshot == await session.read_file("page.png")
    refused = await step(f"open {servers[1]}/")
    assert f"{servers[1]} is not on its list" in refused.error
    assert "https://example.org:443 is not on its list" in (await step("open https://example.org/")).error
    assert {entry.name for entry in await session.list_folder()} == {"page.png"}
    assert set(proxy.seen.allowed) == set(servers[:1])
    assert set(proxy.seen.refused) >= {servers[1], "https://example.org:443"}
