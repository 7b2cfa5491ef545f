import base64
import hashlib
import ssl
from contextlib import asynccontextmanager, suppress

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.sandbox.proxy.tls import NotTlsError, read_client_hello

pytestmark = pytest.mark.anyio


def hello_for(name):
    outgoing = ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.check_hostname = False
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=name).do_handshake()
    return outgoing.read()


@asynccontextmanager
async def tls_like(wire):
    """A server that takes the first bytes, which are a greeting, and gives their digest."""
    seen = []

    async def handler(reader, writer):
        data = await reader.read(100_000)
        if data:
            seen.append(data)
            writer.write(hashlib.sha256(data).digest())
            await writer.drain()
        writer.close()

    async with wire.serving(handler) as port:
        yield port, seen


@pytest.mark.parametrize("name", ["app.localhost", "APP.localhost", None])
async def test_tls_passes_unchanged_to_an_endpoint_listed_with_https(name, wire):
    hello = hello_for(name)
    async with tls_like(wire) as (port, seen), wire.proxied(f"https://app.localhost:{port}") as (_, connect):
        head = f"CONNECT App.localhost.:{port} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        answer = await wire.say(connect, head + hello)
    assert answer == b"HTTP/1.1 200 Connected\r\n\r\n" + hashlib.sha256(hello).digest()
    assert seen == [hello]


async def test_a_tunnel_for_one_host_does_not_carry_tls_for_another(wire):
    async with tls_like(wire) as (port, seen), wire.proxied(f"https://app.localhost:{port}") as (proxy, connect):
        head = f"CONNECT app.localhost:{port} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        answer = await wire.say(connect, head + hello_for("evil.example"))
        assert answer.endswith(b"\x15\x03\x03\x00\x02\x02\x31")
        for rest in (b"SSH-2.0-x\r\n", b"GET / HTTP/1.1\r\n\r\n"):
            assert b"this is not TLS" in await wire.say(connect, head + rest)
        broken = b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00"
        assert b"\x15\x03\x03" in await wire.say(connect, head + broken)
    assert seen == []
    assert proxy.seen.refused == {f"https://app.localhost:{port}": 4}


async def test_tls_to_an_endpoint_listed_with_http_is_refused_and_with_both_both_pass(wire):
    async with tls_like(wire) as (port, seen):
        head = f"CONNECT localhost:{port} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        async with wire.proxied(f"http://localhost:{port}") as (_, connect):
            assert (await wire.say(connect, head + hello_for(None))).endswith(b"\x15\x03\x03\x00\x02\x02\x31")
        assert seen == []
        async with wire.proxied(f"http://localhost:{port}", f"https://localhost:{port}") as (_, connect):
            await wire.say(connect, head + hello_for("localhost"))
            await wire.say(connect, head + wire.get("/plain"))
    assert len(seen) == 2
    assert seen[1].startswith(b"GET /plain")


async def test_a_secure_page_is_really_fetched_through_the_tunnel(tmp_path, wire):
    certificate = tmp_path / "site.pem"
    certificate.write_bytes(base64.b64decode(make_certificate()))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)
    trusting = ssl.create_default_context(cafile=str(certificate))
    async with wire.origin(ssl=server) as site, wire.proxied(f"https://localhost:{site.port}") as (_, connect):
        _, writer = await connect()
        port = writer.get_extra_info("peername")[1]
        writer.close()
        async with httpx.AsyncClient(proxy=f"http://127.0.0.1:{port}", verify=trusting) as client:
            assert (await client.get(f"https://localhost:{site.port}/")).text == "hello"
            with pytest.raises(httpx.ProxyError, match="403 Refused by the network policy"):
                await client.get("https://elsewhere.example/")


def make_certificate():
    """A certificate for localhost and its key, in base64 so that no key is ever printed by a failing test."""
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = (
        builder.serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    )
    certificate = builder.add_extension(names, critical=False).sign(key, hashes.SHA256())
    private = serialization.PrivateFormat.PKCS8
    key_bytes = key.private_bytes(serialization.Encoding.PEM, private, serialization.NoEncryption())
    return base64.b64encode(certificate.public_bytes(serialization.Encoding.PEM) + key_bytes)


def test_a_greeting_is_read_however_it_is_cut_into_pieces_and_records():
    hello = hello_for("app.example")
    assert all(read_client_hello(hello[:end]) is None for end in range(len(hello)))
    assert read_client_hello(hello).server_name == "app.example"
    body = hello[5:]
    cut = b"".join(b"\x16\x03\x01\x00\x10" + body[at : at + 16] for at in range(0, len(body) // 16 * 16, 16))
    rest = body[len(body) // 16 * 16 :]
    whole = cut + b"\x16\x03\x01" + len(rest).to_bytes(2, "big") + rest if rest else cut
    assert read_client_hello(whole).server_name == "app.example"


@given(st.binary(max_size=80) | st.binary(max_size=80).map(lambda data: b"\x16\x03\x01" + data))
def test_any_bytes_are_a_greeting_or_not_and_nothing_else_happens(data):
    with suppress(NotTlsError):
        read_client_hello(data)


@given(st.data())
def test_a_damaged_greeting_never_breaks_the_reader(data):
    hello = bytearray(hello_for("app.example"))
    for _ in range(data.draw(st.integers(1, 4))):
        hello[data.draw(st.integers(0, len(hello) - 1))] = data.draw(st.integers(0, 255))
    with suppress(NotTlsError):
        read_client_hello(bytes(hello))
