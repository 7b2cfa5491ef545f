import asyncio
from ipaddress import ip_address

import httpx
import pytest

from skillyard.sandbox.network import parse_network
from skillyard.sandbox.proxy.addresses import is_own, is_private, is_public
from skillyard.sandbox.proxy.proxy import ProxyLimits

pytestmark = pytest.mark.anyio


def answers_to(name, *addresses):
    calls = []

    async def resolver(host):
        calls.append(host)
        if host != name:
            raise OSError(-2, "Name or service not known")
        return addresses

    resolver.calls = calls
    return resolver


async def test_a_listed_endpoint_is_reached_with_its_own_host_header_and_nothing_of_the_hop(wire):
    async with wire.origin() as site, wire.proxied(f"http://127.0.0.1:{site.port}") as (proxy, connect):
        hop = (
            "Proxy-Authorization: Basic eDp5\r\nX-Hop: 1\r\nConnection: X-Hop, close\r\nKeep-Alive: 5\r\nX-Kept: 1\r\n"
        )
        answer = await wire.say(connect, wire.get(f"http://127.0.0.1:{site.port}/a?b=c", host="evil.example", more=hop))
    assert wire.status(answer) == 200
    assert answer.endswith(b"hello")
    (head,) = site.heads
    assert head.startswith(b"GET /a?b=c HTTP/1.1\r\n")
    assert f"\r\nHost: 127.0.0.1:{site.port}\r\n".encode() in head
    assert b"X-Kept: 1\r\n" in head
    for gone in (b"evil", b"proxy-authorization", b"x-hop", b"keep-alive"):
        assert gone not in head.lower()
    assert proxy.seen.as_json() == {"allowed": {f"http://127.0.0.1:{site.port}": 1}, "refused": {}}


async def test_an_unlisted_endpoint_gets_an_answer_that_says_what_is_allowed_and_how_to_list_it(wire):
    async with (
        wire.origin() as site,
        wire.origin() as other,
        wire.proxied(f"http://127.0.0.1:{site.port}") as (proxy, connect),
    ):
        answer = await wire.say(connect, wire.get(f"http://127.0.0.1:{other.port}/"))
        tunnel = await wire.say(connect, b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n")
    assert wire.status(answer) == wire.status(tunnel) == 403
    text = answer.decode()
    assert f"http://127.0.0.1:{other.port} is not on its list" in text
    assert f"Allowed: http://127.0.0.1:{site.port}." in text
    assert f'"network": {{"allow": ["http://127.0.0.1:{site.port}", "http://127.0.0.1:{other.port}"]}}' in text
    assert other.connections == 0
    assert proxy.seen.refused == {f"http://127.0.0.1:{other.port}": 1, "https://evil.example:443": 1}


ELSEWHERE = [
    *("http://{site}@{evil}/", "http://{site}:80@{evil}/", "http://{evil}#@{site}/", "http://{evil}\\@{site}/"),
    *("http://{site}%00.{evil}/", "http://{site}%2f@{evil}/", "http://{evil}/http://{site}/", "http://{evil}?{site}"),
    *("http://2130706433:{evil_port}/", "http://0x7f.0.0.1:{evil_port}/", "http://0177.0.0.1:{evil_port}/"),
    *("http://127.1:{evil_port}/", "http://[::ffff:127.0.0.1]:{evil_port}/", "http://[::ffff:7f00:1]:{evil_port}/"),
    *("http://localhost:{evil_port}/", "http://LOCALHOST.:{evil_port}/", "http://127.0.0.1.:{evil_port}/"),
    *("http://0.0.0.0:{evil_port}/", "http://[::]:{evil_port}/", "http://0:{evil_port}/", "http:///{evil}/"),
    *("http://127.0.0.1:0/", "http://127.0.0.1:{site_port}{evil_port}/", "https://{site}/", "ftp://{site}/"),
    *("/", "*", "{site}", "//{evil}/", "http:{evil}", "http://[::1]:{evil_port}/", "http://{evil}"),
    *("http://[fe80::1%25lo]:{evil_port}/", "http://127.0.0.1:+{site_port}/", "http://127.0.0.1:0x50/"),
]


@pytest.mark.parametrize("target", ELSEWHERE)
async def test_no_way_of_writing_an_address_leads_elsewhere(target, wire):
    async with (
        wire.origin() as site,
        wire.origin() as evil,
        wire.proxied(f"http://127.0.0.1:{site.port}") as (_, connect),
    ):
        places = {"site": f"127.0.0.1:{site.port}", "site_port": site.port}
        url = target.format(evil=f"127.0.0.1:{evil.port}", evil_port=evil.port, **places)
        answer = await wire.say(connect, wire.get(url, host=places["site"]))
    assert wire.status(answer) in {400, 403}
    assert evil.connections == site.connections == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1.", "[::ffff:127.0.0.1]", "[0:0:0:0:0:FFFF:127.0.0.1]"])
async def test_other_spellings_of_a_listed_address_are_that_address(host, wire):
    async with wire.origin() as site, wire.proxied(f"http://127.0.0.1:{site.port}") as (_, connect):
        assert wire.status(await wire.say(connect, wire.get(f"HTTP://{host}:{site.port}/"))) == 200
    assert f"Host: 127.0.0.1:{site.port}".encode() in site.heads[0]


async def test_a_redirect_is_a_new_request_and_is_checked(wire):
    async with wire.origin() as evil:
        moved = f"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{evil.port}/\r\nContent-Length: 0\r\n\r\n"
        async with wire.origin(moved.encode()) as site, wire.proxied(f"http://127.0.0.1:{site.port}") as (_, connect):
            _, writer = await connect()
            port = writer.get_extra_info("peername")[1]
            writer.close()
            async with httpx.AsyncClient(proxy=f"http://127.0.0.1:{port}", follow_redirects=True) as client:
                answer = await client.get(f"http://127.0.0.1:{site.port}/")
    assert [one.status_code for one in answer.history] == [302]
    assert answer.status_code == 403
    assert "is not on its list" in answer.text
    assert evil.connections == 0


async def test_a_name_is_looked_up_once_and_later_answers_change_nothing(wire):
    async with wire.origin() as site:
        name = f"http://app.example:{site.port}"
        itself = f"http://127.0.0.1:{site.port}"
        resolver = answers_to("app.example", "127.0.0.1", "::ffff:127.0.0.1")
        async with wire.proxied(name, itself, resolver=resolver) as (_, connect):
            answers = [await wire.say(connect, wire.get(f"{name}/")) for _ in range(3)]
    assert [wire.status(answer) for answer in answers] == [200, 200, 200]
    assert resolver.calls == ["app.example"]
    assert f"Host: app.example:{site.port}".encode() in site.heads[0]


async def test_a_lookup_that_failed_is_tried_again(wire):
    async with wire.proxied("http://app.example:8080", resolver=answers_to("other.example")) as (proxy, connect):
        answers = [await wire.say(connect, wire.get("http://app.example:8080/")) for _ in range(2)]
    assert [wire.status(answer) for answer in answers] == [502, 502]
    assert b"could not be reached: Name or service not known" in answers[0]
    assert proxy.seen.refused == {}


INSIDE = [
    *("127.0.0.1", "127.255.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200"),
    *(
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "240.0.0.1",
        "192.0.0.192",
        "168.63.129.16",
        "198.18.0.1",
        "::",
        "::1",
    ),
    *("fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1", "::ffff:10.0.0.1", "::127.0.0.1", "2002:7f00:1::1"),
    *(
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::a00:1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:db8::1",
    ),
]


@pytest.mark.parametrize("address", INSIDE)
async def test_a_listed_name_that_leads_to_an_address_inside_is_refused(address, wire):
    assert not is_public(ip_address(address))
    async with wire.proxied("http://app.example:8080", resolver=answers_to("app.example", address)) as (proxy, connect):
        answer = await wire.say(connect, wire.get("http://app.example:8080/"))
    assert wire.status(answer) == 403
    assert b"must be on the list itself" in answer
    assert proxy.seen.refused == {"http://app.example:8080": 1}


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700::1111", "64:ff9b::101:101", "2002:101:101::1"])
def test_addresses_of_the_internet_are_public(address):
    assert is_public(ip_address(address))


@pytest.mark.parametrize("host", ["localhost", "db.localhost", "127.0.0.1", "10.0.0.5", "[::1]", "169.254.169.254"])
def test_listing_this_machine_or_its_network_opens_what_is_not_public(host):
    (endpoint,) = parse_network({"allow": [f"http://{host}"]}).allow
    assert is_private(endpoint)


@pytest.mark.parametrize("host", ["example.org", "localhost.example", "1.1.1.1", "[2606:4700::1111]"])
def test_listing_a_name_or_a_public_address_does_not(host):
    (endpoint,) = parse_network({"allow": [f"http://{host}"]}).allow
    assert not is_private(endpoint)


async def test_localhost_is_the_loopback_address_whatever_the_resolver_says(wire):
    resolver = answers_to("localhost", "203.0.113.5")
    async with wire.origin() as site:
        allow = (f"http://localhost:{site.port}", f"http://app.localhost:{site.port}")
        async with wire.proxied(*allow, resolver=resolver) as (_, connect):
            for url in allow:
                assert wire.status(await wire.say(connect, wire.get(f"{url}/"))) == 200
            assert wire.status(await wire.say(connect, wire.get(f"http://127.0.0.1:{site.port}/"))) == 403
    assert resolver.calls == []


async def test_ports_of_skillyard_are_refused_also_when_listed_and_also_when_opened_later(wire):
    ours: set[int] = set()
    async with wire.origin() as site:
        allow = [f"http://{host}:{site.port}" for host in ("127.0.0.1", "localhost", "[::1]", "127.9.9.9")]
        async with wire.proxied(*allow, forbidden_ports=ours) as (_, connect):
            assert wire.status(await wire.say(connect, wire.get(f"{allow[0]}/"))) == 200
            ours.add(site.port)
            for url in allow:
                answer = await wire.say(connect, wire.get(f"{url}/"))
                assert wire.status(answer) == 403
                assert b"belongs to Skillyard" in answer
    assert site.connections == 1


async def test_a_port_of_skillyard_is_refused_without_advice_to_list_it(wire):
    async with wire.proxied(forbidden_ports={8321}) as (_, connect):
        for host in ("127.0.0.1", "localhost", "[::1]"):
            answer = await wire.say(connect, wire.get(f"http://{host}:8321/"))
            assert wire.status(answer) == 403
            assert b"create a sandbox with" not in answer
        assert b"create a sandbox with" in await wire.say(connect, wire.get("http://127.0.0.1:8322/"))


def test_an_address_of_another_machine_is_not_our_own():
    assert not is_own(ip_address("198.51.100.7"))
    assert is_own(ip_address("127.8.8.8"))
    assert is_own(ip_address("64:ff9b::7f00:1"))


async def test_trouble_of_the_endpoint_is_told_apart_from_a_refusal(wire):
    async with wire.origin(b"nonsense\r\n\r\n") as site, wire.proxied(f"http://127.0.0.1:{site.port}") as (_, connect):
        assert wire.status(await wire.say(connect, wire.get(f"http://127.0.0.1:{site.port}/"))) == 502
        site.response = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nshort"
        cut = await wire.say(connect, wire.get(f"http://127.0.0.1:{site.port}/"))
        assert cut.endswith(b"short")
        assert cut.count(b"HTTP/1.1") == 1
        site.response = b""
        assert wire.status(await wire.say(connect, wire.get(f"http://127.0.0.1:{site.port}/"))) == 502
    async with wire.proxied(f"http://127.0.0.1:{site.port}") as (_, connect):
        answer = await wire.say(connect, wire.get(f"http://127.0.0.1:{site.port}/"))
    assert wire.status(answer) == 502
    assert b"is on the list of this sandbox, but could not be reached" in answer


async def test_an_endpoint_that_never_answers_and_a_client_that_never_asks_are_let_go(wire):
    async def silent(reader, writer):
        await reader.read()
        writer.close()

    limits = ProxyLimits(idle_seconds=0.2)
    async with wire.serving(silent) as port, wire.proxied(f"http://127.0.0.1:{port}", limits=limits) as (_, connect):
        assert wire.status(await wire.say(connect, wire.get(f"http://127.0.0.1:{port}/"))) == 504
        assert await wire.say(connect, b"GET http://127.0.0.1") == b""


async def test_a_lookup_that_hangs_is_let_go(wire):
    async def resolver(host):
        await asyncio.Event().wait()

    limits = ProxyLimits(connect_seconds=0.1)
    async with wire.proxied("http://app.example", resolver=resolver, limits=limits) as (_, connect):
        assert wire.status(await wire.say(connect, wire.get("http://app.example/"))) == 504


async def test_only_so_many_connections_are_served_at_once(wire):
    limits = ProxyLimits(connections=1)
    async with wire.origin() as site, wire.proxied(f"http://127.0.0.1:{site.port}", limits=limits) as (_, connect):
        reader, writer = await connect()
        writer.write(f"GET http://127.0.0.1:{site.port}/ HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        await reader.readuntil(b"hello")  # and the connection is kept
        assert wire.status(await wire.say(connect, wire.get("http://app.example/"))) == 503
        writer.close()
        await writer.wait_closed()
        while wire.status(answer := await wire.say(connect, wire.get("http://app.example/"))) == 503:
            pass  # until the proxy has seen that it ended
        assert wire.status(answer) == 403


async def test_a_refusal_reaches_a_client_that_is_still_sending_its_body(wire):
    async with wire.proxied() as (_, connect):
        reader, writer = await connect()
        writer.write(b"POST http://app.example/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n")
        writer.write(bytes(3_000_000))
        await writer.drain()
        assert wire.status(await reader.readuntil(b"\r\n\r\n")) == 403
        writer.close()


async def test_the_counters_stay_small_however_many_endpoints_are_asked_for(wire):
    async with wire.proxied(limits=ProxyLimits(endpoints_seen=3)) as (proxy, connect):
        for number in range(6):
            await wire.say(connect, wire.get(f"http://h{number}.example/"))
    assert len(proxy.seen.refused) == 4
    assert proxy.seen.refused["others"] == 3
