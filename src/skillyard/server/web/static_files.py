"""The scripts and styles of the pages: read once, named by what is in them, and kept by browsers for good."""

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from skillyard.errors import NotFoundError
from skillyard.server.asgi import header
from skillyard.server.cache import accepts_gzip

STATIC: Final = "/static/"
_FOLDER: Final = Path(__file__).parent / "static"
_FOREVER: Final = "public, max-age=31536000, immutable"
_KINDS: Final = frozenset({".js", ".css", ".svg", ".png"})

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asset:
    data: bytes
    compressed: bytes
    kind: str
    name: str
    """With its digest."""


@router.get(STATIC + "{name:path}")
async def static_file(name: str, request: Request) -> Response:
    """A file of the pages; its name holds its digest, so it never changes."""
    asset = _assets().get(name)
    if asset is None:
        raise NotFoundError(f"There is no file {STATIC}{name}.", hint="Load the page again.")
    headers = {"Cache-Control": _FOREVER, "Vary": "Accept-Encoding"}
    if accepts_gzip(header(request.scope, b"accept-encoding") or b""):
        return Response(asset.compressed, media_type=asset.kind, headers={**headers, "Content-Encoding": "gzip"})
    return Response(asset.data, media_type=asset.kind, headers=headers)


def asset_url(name: str) -> str:
    """Where a file of the pages is: `asset_url("yard.css")`."""
    return STATIC + _names()[name]


@cache
def _names() -> dict[str, str]:
    return {original: name for original, name, _ in _files()}


@cache
def _assets() -> dict[str, _Asset]:
    return {name: _asset(path, name) for _, name, path in _files()}


@cache
def _files() -> list[tuple[str, str, Path]]:
    found: list[tuple[str, str, Path]] = []
    for path in sorted(_FOLDER.rglob("*")):
        if path.suffix in _KINDS:
            original = path.relative_to(_FOLDER).as_posix()
            digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
            found.append((original, f"{original.removesuffix(path.suffix)}.{digest}{path.suffix}", path))
    return found


def _asset(path: Path, name: str) -> _Asset:
    data = path.read_bytes()
    kind = mimetypes.types_map.get(path.suffix, "application/octet-stream")
    return _Asset(data=data, compressed=gzip.compress(data, mtime=0), kind=kind, name=name)
