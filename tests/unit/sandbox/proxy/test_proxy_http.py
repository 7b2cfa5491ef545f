import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.sandbox.proxy.http_messages import BadRequestError, absolute_target, onward_request, parse_request

pytestmark = pytest.mark.anyio


async def test_every_request_of_a_kept_connection_is_checked_also_when_they_come_at_once(wire):
    async with (
        wire.origin() as site,
        wire.origin() as evil,
        wire.proxied(f"http://127.0.0.1:{site.port}") as (proxy, connect),
    ):
        good = f"GET http://127.0.0.1:{site.port}/ HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        answer = await wire.say(connect, good + good + wire.get(f"http://127.0.0.1:{evil.port}/"))
    assert answer.count(b"HTTP/1.1 200") == 2
    assert answer.count(b"HTTP/1.1 403") == 1
    assert (site.connections, evil.connections) == (2, 0)
    assert sum(proxy.seen.allowed.values()) == 2


async def test_a_body_passes_with_its_length_and_in_chunks_and_the_next_request_is_found_behind_it(wire):
    async with wire.origin() as site, wire.proxied(f"http://127.0.0.1:{site.port}") as (_, connect):
        start = f"POST http://127.0.0.1:{site.port}/ HTTP/1.1\r\nHost: x\r\n".encode()
        length = start + b"Content-Length: 4\r\nExpect: 100-continue\r\n\r\nabcd"
        chunks = start + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        answer = await wire.say(connect, length + chunks + wire.get(f"http://127.0.0.1:{site.port}/"))
    assert answer.count(b"HTTP/1.1 200") == 3
    assert site.bodies == [b"abcd", b"3\r\nabc\r\n0\r\n\r\n", b""]


async def test_answers_pass_whatever_their_framing_and_their_length_is_never_ambiguous(wire):
    both = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    to_the_end = b"HTTP/1.0 200 OK\r\nKeep-Alive: 5\r\n\r\nhello"
    early = b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    for response in (both, to_the_end, early):
        async with wire.origin(response) as site, wire.proxied(f"http://127.0.0.1:{site.port}") as (_, connect):
            answer = await wire.say(connect, wire.get(f"http://127.0.0.1:{site.port}/"))
        client = h11.Connection(h11.CLIENT)
        client.send(h11.Request(method="GET", target="/", headers=[("Host", "x")]))
        client.receive_data(answer)
        client.receive_data(b"")
        assert client.next_event().status_code == 200
        assert client.next_event().data == b"hello"
        assert isinstance(client.next_event(), h11.EndOfMessage)
        assert not (b"content-length" in answer.lower() and b"transfer-encoding" in answer.lower())


SMUGGLED = [
    b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET",
    b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
    b"Content-Length: +4\r\n\r\nabcd",
    b"Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n3\r\nabcXX0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n-1\r\n",
    b"X: a\r\n b\r\n\r\n",
    b"X: a\nY: b\r\n\r\n",
    b"X: a\rY: b\r\n\r\n",
    b"X: a\n\n",
    b"X: a\0b\r\n\r\n",
    b"X y: a\r\n\r\n",
    b": a\r\n\r\n",
    b"Host: again\r\n\r\n",
]


@pytest.mark.parametrize("rest", SMUGGLED)
async def test_a_request_that_parsers_read_differently_is_refused(rest, wire):
    async with wire.origin() as site, wire.proxied(f"http://127.0.0.1:{site.port}") as (_, connect):
        start = f"POST http://127.0.0.1:{site.port}/ HTTP/1.1\r\nHost: x\r\n".encode()
        answer = await wire.say(connect, start + rest)
    assert wire.status(answer) == 400
    assert site.bodies == []


@pytest.mark.parametrize(
    "head",
    [
        *(b"GET http://{site}/ HTTP/1.1\r\n\r\n", b"GET http://{site}/ HTTP/2\r\nHost: x\r\n\r\n", b"\r\n\r\n"),
        *(b"GET http://{site}/ a HTTP/1.1\r\nHost: x\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x00\x05hello\r\n\r\n"),
        *(
            b"GET http://{site}/\xff HTTP/1.1\r\nHost: x\r\n\r\n",
            b"CONNECT {site} HTTP/1.1\r\nContent-Length: 3\r\n\r\n",
        ),
        *(b"CONNECT 127.0.0.1 HTTP/1.1\r\nHost: x\r\n\r\n", b"CONNECT http://{site}/ HTTP/1.1\r\nHost: x\r\n\r\n"),
        *(b"POST http://{site}/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",),
        *(b"GET http://{site}/" + b"a" * 40_000, b"GET http://{site}/ HTTP/1.1\r\nX: " + b"a" * 40_000 + b"\r\n\r\n"),
    ],
)
async def test_what_is_not_a_request_is_refused_within_its_bounds(head, wire):
    async with wire.origin() as site, wire.proxied(f"http://127.0.0.1:{site.port}") as (_, connect):
        answer = await wire.say(connect, head.replace(b"{site}", f"127.0.0.1:{site.port}".encode()))
    assert wire.status(answer) == 400
    assert site.connections == 0


WEBSOCKET = "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n"


async def websocket(connect, *heads):
    reader, writer = await connect()
    for head in heads:
        writer.write(head)
        answer = await reader.readuntil(b"\r\n\r\n")
    assert await reader.readexactly(5) == b"first"
    writer.write(b"abc")
    assert await reader.readexactly(3) == b"ABC"
    writer.write_eof()
    assert await reader.read() == b""
    writer.close()
    return answer


async def test_a_websocket_opens_to_a_listed_endpoint_as_a_request_and_through_a_tunnel(wire):
    async with wire.origin() as site, wire.proxied(f"http://127.0.0.1:{site.port}") as (_, connect):
        place = f"127.0.0.1:{site.port}"
        request = f"GET http://{place}/ws HTTP/1.1\r\nHost: x\r\n{WEBSOCKET}\r\n".encode()
        assert wire.status(await websocket(connect, request)) == 101
        tunnel = f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()
        inside = f"GET /ws HTTP/1.1\r\nHost: evil.example\r\n{WEBSOCKET}\r\n".encode()
        assert wire.status(await websocket(connect, tunnel, inside)) == 101
    assert all(f"Host: {place}\r\n".encode() in head for head in site.heads)


async def test_a_connection_becomes_nothing_but_a_websocket(wire):
    async with wire.origin() as site, wire.proxied(f"http://127.0.0.1:{site.port}") as (_, connect):
        more = "Upgrade: h2c\r\nHTTP2-Settings: x\r\n"
        request = f"GET http://127.0.0.1:{site.port}/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\n"
        answer = await wire.say(connect, f"{request}{more}\r\n".encode() + wire.get(f"http://127.0.0.1:{site.port}/"))
    assert answer.count(b"HTTP/1.1 200") == 2
    assert b"upgrade" not in site.heads[0].lower()
    assert b"http2-settings" not in site.heads[0].lower()


@pytest.mark.parametrize(
    "inside", [b"GET http://evil.example/ HTTP/1.1", b"GET //x#y HTTP/1.1", b"CONNECT a:1 HTTP/1.1"]
)
async def test_in_a_tunnel_of_plain_http_only_paths_of_its_endpoint_can_be_asked_for(inside, wire):
    async with wire.origin() as site, wire.proxied(f"http://127.0.0.1:{site.port}") as (_, connect):
        head = f"CONNECT 127.0.0.1:{site.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        answer = await wire.say(connect, head + inside + b"\r\nHost: x\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 Connected\r\n\r\nHTTP/1.1 400 ")
    assert site.connections == 0


TOKENS = st.sampled_from(
    [
        *(b"GET", b"POST", b"CONNECT", b" ", b"http://", b"a.example", b"@", b":80", b"/", b"HTTP/1.1", b"HTTP/1.0"),
        *(b"\r\n", b"\n", b"\r", b"\0", b"\xff", b":", b"[::1]", b"#", b"?", b"\\", b" folded\r\n"),
        *(b"Host: a.example\r\n", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n"),
        *(b"Upgrade: websocket\r\n", b"Connection: upgrade, host\r\n"),
    ]
)
HEADS = st.lists(TOKENS | st.binary(max_size=3), max_size=16).map(b"".join)
NEARLY = st.tuples(HEADS, HEADS).map(lambda parts: b"GET http://a.example/" + parts[0] + b" HTTP/1.1\r\n" + parts[1])


@given(HEADS | NEARLY)
def test_any_head_is_refused_or_goes_on_as_exactly_one_unambiguous_request(head):
    try:
        request = parse_request(h11.Connection(h11.SERVER), head + b"\r\n\r\n")
        endpoint, path = absolute_target(request.target)
    except BadRequestError:
        return
    sent = h11.Connection(h11.CLIENT).send(onward_request(request, endpoint, path))
    lines = sent.removesuffix(b"\r\n\r\n").split(b"\r\n")
    assert lines[0].count(b" ") == 2
    assert lines[1] == b"Host: " + endpoint.authority.encode()
    assert all(line and line[:1] not in b" \t:" for line in lines)
    names = [line.split(b":")[0].lower() for line in lines[1:]]
    assert names.count(b"host") == 1
    assert names.count(b"content-length") + names.count(b"transfer-encoding") <= 1
    assert not {b"\n", b"\r", b"\0"} & {bytes([byte]) for line in lines for byte in line}
