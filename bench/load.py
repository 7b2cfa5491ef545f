"""A client that sends requests it was given ready made."""

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Answer:
    status: int
    head: bytes
    body: bytes

    def header(self, name: str) -> str:
        found = re.search(rf"\r\n{name}: ([^\r]*)", self.head.decode("latin-1"), re.IGNORECASE)
        return found[1] if found else ""

    @property
    def data(self) -> Any:  # noqa: ANN401 -- whatever the server said
        return json.loads(self.body)


class Connection:
    """One connection that is kept, and asks one thing at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, port: int) -> "Connection":
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=16 * 1024 * 1024))

    async def ask(self, request: bytes) -> Answer:
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        body = await self._reader.readexactly(int(length[1])) if length else b""
        return Answer(status=int(head[9:12]), head=head, body=body)

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()


def get(path: str, *, token: str = "", etag: str = "") -> bytes:
    return _request("GET", path, token, f"If-None-Match: {etag}" if etag else "")


def post_json(path: str, body: object, *, token: str = "") -> bytes:
    return _request("POST", path, token, "Content-Type: application/json", body=json.dumps(body).encode())


def post_archive(archive: bytes, *, token: str = "") -> bytes:
    """Import an archive and publish it: what `skillyard publish` sends."""
    form = (
        b'--edge\r\nContent-Disposition: form-data; name="publish"\r\n\r\ntrue\r\n'
        b'--edge\r\nContent-Disposition: form-data; name="file"; filename="a.skill"\r\n\r\n'
    )
    kind = "Content-Type: multipart/form-data; boundary=edge"
    return _request("POST", "/api/v1/skills/import", token, kind, body=form + archive + b"\r\n--edge--\r\n")


def _request(method: str, path: str, token: str, *headers: str, body: bytes | None = None) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *filter(None, headers)]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + (body or b"")


def ask(port: int, request: bytes, *, status: int = 200) -> Answer:
    """One request on a connection of its own."""

    async def once() -> Answer:
        connection = await Connection.open(port)
        try:
            return await connection.ask(request)
        finally:
            await connection.close()

    answer = asyncio.run(once())
    _require(answer, status)
    return answer


def drive(ports: Sequence[int], requests: Sequence[bytes], *, lanes: int = 1, status: int = 200) -> None:
    """Send all requests over so many lanes at once; each lane asks the servers in turn."""

    async def lane(waiting: Iterator[bytes]) -> None:
        connections = [await Connection.open(port) for port in ports]
        for turn, request in enumerate(waiting):
            _require(await connections[turn % len(connections)].ask(request), status)
        for connection in connections:
            await connection.close()

    async def all_lanes() -> None:
        waiting = iter(requests)
        await asyncio.gather(*(lane(waiting) for _ in range(lanes)))

    asyncio.run(all_lanes())


def _require(answer: Answer, status: int) -> None:
    if answer.status != status:
        raise SystemExit(f"{answer.status} instead of {status}: {answer.body[:500]!r}")
