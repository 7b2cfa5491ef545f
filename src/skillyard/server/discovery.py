"""Discovery over HTTP: the index of skills that installers read, and the files it names."""

import json
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path, Request, Response

from skillyard.identity.principals import Principal
from skillyard.registry.artifacts import Artifact, ArtifactKind
from skillyard.registry.discovery import Discovery, Listed, nothing_here
from skillyard.registry.marketplace import Marketplace
from skillyard.server.api.caller import TheYard
from skillyard.server.api.shapes import BEARER, errors
from skillyard.server.etags import is_known, without_gzip

SCHEMA: Final = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
_MAX_DESCRIPTION: Final = 1024
"""UTF-16 units: what installers take at most; a skill with a longer one would be left out."""
_ENDINGS: Final = {ArtifactKind.SKILL_MD: "md", ArtifactKind.ARCHIVE: "zip"}
_MEDIA_TYPES: Final = {ArtifactKind.SKILL_MD: "text/plain; charset=utf-8", ArtifactKind.ARCHIVE: "application/zip"}
_FOREVER: Final = "max-age=31536000, immutable"

router = APIRouter(prefix="/.well-known/agent-skills", tags=["discovery"], responses=errors(), dependencies=[BEARER])


async def anyone(request: Request) -> Principal | None:
    """Who is calling, or nobody: discovery is for everyone."""
    return getattr(request.state, "principal", None)


async def discovery_of(yard: TheYard) -> Discovery:
    return yard.registry.discovery


async def marketplace_of(yard: TheYard) -> Marketplace:
    return yard.registry.marketplace


TheDiscovery = Annotated[Discovery, Depends(discovery_of)]
Anyone = Annotated[Principal | None, Depends(anyone)]
TheMarketplace = Annotated[Marketplace, Depends(marketplace_of)]


@router.get("/index.json", response_class=Response)
async def index(discovery: TheDiscovery, caller: Anyone) -> Response:
    """Every discoverable skill, and with a token everything it may read, as it is shipped (discovery 0.2.0)."""
    document = {"$schema": SCHEMA, "skills": [_entry(skill) for skill in await discovery.listing(caller)]}
    # Escaped to ASCII: half a surrogate pair in a description is no UTF-8.
    return Response(json.dumps(document, separators=(",", ":")), media_type="application/json")


@router.get("/{skill_id}/versions.json", response_class=Response)
async def versions(discovery: TheDiscovery, caller: Anyone, skill_id: str) -> Response:
    """Every published version of a skill, the newest first, with where its file is; yanked ones say so."""
    entries = [
        {"version": one.version, **_file(one.artifact), **({"yanked": True} if one.is_yanked else {})}
        for one in await discovery.versions(caller, skill_id)
    ]
    return Response(json.dumps({"versions": entries}, separators=(",", ":")), media_type="application/json")


@router.get("/{skill_id}/{file}", response_class=Response)
async def artifact(
    request: Request,
    discovery: TheDiscovery,
    caller: Anyone,
    skill_id: str,
    file: Annotated[str, Path(description="`<sha256>.zip` or `<sha256>.md`, as the index gives it.")],
) -> Response:
    """A skill as one file. Its name is its digest, so what is here never changes."""
    sha256, _, ending = file.partition(".")
    served = await discovery.artifact(caller, skill_id, sha256)
    if ending != _ENDINGS[served.artifact.kind]:
        raise nothing_here()
    etag = f'"{served.artifact.sha256}"'
    shared = "public" if served.for_everyone else "private"
    headers = {"ETag": etag, "Cache-Control": f"{shared}, {_FOREVER}", "Vary": "Authorization"}
    seen = without_gzip(request.headers.get("if-none-match", "").encode("latin-1"))
    if seen and is_known(seen, etag.encode()):
        return Response(status_code=304, headers=headers)
    if served.artifact.kind is ArtifactKind.ARCHIVE:
        headers["Content-Disposition"] = "attachment"
    return Response(served.data, media_type=_MEDIA_TYPES[served.artifact.kind], headers=headers)


def _entry(skill: Listed) -> dict[str, Any]:
    artifact = skill.artifact
    file = _file(artifact)
    entry = {
        "name": skill.listed_as,
        "type": file["type"],
        "description": _fitting(artifact.description or skill.name),
        # Relative, so that it is right behind any proxy: both it and the index are in one folder.
        "url": f"{skill.skill_id}/{file['url']}",
        "digest": file["digest"],
    }
    if skill.version is None:
        return entry
    return {**entry, "version": skill.version, "versions": f"{skill.skill_id}/versions.json"}


def _file(artifact: Artifact) -> dict[str, str]:
    return {
        "type": artifact.kind.value,
        "url": f"{artifact.sha256}.{_ENDINGS[artifact.kind]}",
        "digest": f"sha256:{artifact.sha256}",
    }


def _fitting(description: str) -> str:
    if len(description) * 2 <= _MAX_DESCRIPTION:
        return description
    units = description.encode("utf-16-le", "surrogatepass")[: _MAX_DESCRIPTION * 2]
    return units.decode("utf-16-le", "ignore")
