"""The marketplace over HTTP: its list of plugins, and git repositories that any git can clone, shallow or not."""

import re
import zlib
from collections.abc import Iterator
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query, Request, Response

from skillyard.errors import InputError, NotFoundError
from skillyard.registry.git_pack import Repository
from skillyard.registry.marketplace import marketplace_name
from skillyard.server.api.shapes import BEARER, errors
from skillyard.server.discovery import Anyone, TheMarketplace

_SERVICE: Final = "git-upload-pack"
_BRANCH: Final = b"refs/heads/main"
_ABILITIES: Final = b"shallow object-format=sha1 symref=HEAD:%s agent=skillyard" % _BRANCH
_FLUSH: Final = b"0000"
_FRESH: Final = {"Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie"}
_FRESH_HERE: Final = {**_FRESH, "Vary": f"{_FRESH['Vary']}, Host"}
"""Of an answer that holds the address it was asked at."""
_MAX_REQUEST: Final = 1024 * 1024
_LENGTH: Final = 4
_HEX: Final = re.compile(rb"[0-9a-f]{4}")
_WANT: Final = re.compile(rb"want ([0-9a-f]{40})(?: |$)")
_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS

router = APIRouter(tags=["discovery"], responses=errors(), dependencies=[BEARER])

Name = Annotated[str, Path(pattern=r"^[a-z0-9-]{1,64}$", description="The name of a plugin.")]
Service = Annotated[str, Query(max_length=64)]


@router.get("/.claude-plugin/marketplace.json")
@router.get("/marketplace/marketplace.json", include_in_schema=False)
async def manifest(request: Request, response: Response, marketplace: TheMarketplace, caller: Anyone) -> dict[str, Any]:
    """The plugins of the marketplace, one for each namespace, each with a git repository of its own."""
    response.headers.update(_FRESH_HERE)
    base = str(request.base_url).rstrip("/")
    return await marketplace.manifest(
        caller, _name(request), lambda plugin: {"source": "url", "url": f"{base}/marketplace/{plugin.name}.git"}
    )


@router.get("/marketplace.git/info/refs", response_class=Response)
async def refs(request: Request, marketplace: TheMarketplace, caller: Anyone, service: Service = "") -> Response:
    """What git asks first: which commits there are."""
    return _advertised(await marketplace.repository(caller, _name(request)), service)


@router.post("/marketplace.git/git-upload-pack", response_class=Response)
async def upload_pack(request: Request, marketplace: TheMarketplace, caller: Anyone) -> Response:
    """What git asks then: all that is in a commit."""
    return _uploaded(await marketplace.repository(caller, _name(request)), await _body(request))


@router.get("/marketplace/{plugin}.git/info/refs", response_class=Response)
async def plugin_refs(marketplace: TheMarketplace, caller: Anyone, plugin: Name, service: Service = "") -> Response:
    """The same for the repository of one plugin."""
    return _advertised(await marketplace.plugin_repository(caller, plugin), service)


@router.post("/marketplace/{plugin}.git/git-upload-pack", response_class=Response)
async def plugin_upload_pack(request: Request, marketplace: TheMarketplace, caller: Anyone, plugin: Name) -> Response:
    """The same for the repository of one plugin."""
    return _uploaded(await marketplace.plugin_repository(caller, plugin), await _body(request))


def _name(request: Request) -> str:
    return marketplace_name(request.base_url.netloc)


def _advertised(repository: Repository, service: str) -> Response:
    if service != _SERVICE:
        raise NotFoundError(
            "This repository can only be read, by a git that speaks the smart protocol.",
            hint="Clone it: git clone URL",
            details={"service": service},
        )
    commit = repository.commit.encode()
    lines = [
        _line(b"# service=%s\n" % _SERVICE.encode()),
        _FLUSH,
        _line(b"%s HEAD\0%s\n" % (commit, _ABILITIES)),
        _line(b"%s %s\n" % (commit, _BRANCH)),
        _FLUSH,
    ]
    return Response(b"".join(lines), media_type=f"application/x-{_SERVICE}-advertisement", headers=_FRESH)


def _uploaded(repository: Repository, body: bytes) -> Response:
    """The answer to what a client wants. There is one commit and nothing before it, so nothing is negotiated."""
    lines = list(_lines(body))
    wanted = {_wanted(line) for line in lines if line.startswith(b"want ")}
    if wanted - {repository.commit.encode()}:
        answer = _line(b"ERR The marketplace has changed; try again.\n")
    else:
        # A client that limits the depth is told first where history was cut: nowhere.
        answer = _FLUSH if any(line.startswith(b"deepen") for line in lines) else b""
        if b"done" in lines:
            answer += _line(b"NAK\n") + repository.pack
        elif any(line.startswith(b"have ") for line in lines):
            answer += _line(b"NAK\n")
    return Response(answer, media_type=f"application/x-{_SERVICE}-result", headers=_FRESH)


async def _body(request: Request) -> bytes:
    body = await request.body()
    if request.headers.get("content-encoding", "") in {"gzip", "x-gzip"}:
        unpacking = zlib.decompressobj(_GZIP_OR_ZLIB)
        try:
            body = unpacking.decompress(body, _MAX_REQUEST)
        except zlib.error as error:
            raise _wrong() from error
        if not unpacking.eof:
            raise _wrong()
    return body


def _line(data: bytes) -> bytes:
    """A line as git sends it: its length, counting itself, in four hex digits."""
    return b"%04x%s" % (len(data) + _LENGTH, data)


def _lines(body: bytes) -> Iterator[bytes]:
    position = 0
    while position < len(body):
        digits = _HEX.match(body, position)
        length = int(digits[0], 16) if digits else _LENGTH
        end = position + max(length, _LENGTH)
        if not digits or end > len(body):
            raise _wrong()
        line = body[position + _LENGTH : end].rstrip(b"\n")
        if length:
            yield line
        position = end


def _wanted(line: bytes) -> bytes:
    found = _WANT.match(line)
    if found is None:
        raise _wrong()
    return found[1]


def _wrong() -> InputError:
    return InputError("Not a Git request.", hint="Clone with git 1.6.6 or later.")
