"""What is served of a bundle: one file, known by its digest before anyone asks for it."""

import asyncio
import hashlib
import zlib
from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.database import Database
from skillyard.errors import SkillyardError
from skillyard.registry.bundles import Bundles
from skillyard.registry.discovery_models import ArtifactRow
from skillyard.registry.naming import in_chunks
from skillyard.skill.archive import pack_flat
from skillyard.skill.bundle import SKILL_FILE, Bundle
from skillyard.skill.document import parse

PACKING: Final = f"zip-1 zlib-{zlib.ZLIB_RUNTIME_VERSION}"
_REMEMBERED: Final = 50_000
_AT_ONCE: Final = 4
"""Bundles that are held in memory together while they are packed."""
_KEPT_AT_ONCE: Final = 64
"""Artifacts that one write keeps."""


class ArtifactKind(StrEnum):
    SKILL_MD = "skill-md"
    """The bundle is nothing but its SKILL.md, which is served as it is."""
    ARCHIVE = "archive"
    """A zip with SKILL.md at its top."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Artifact:
    """The file that a bundle is served as."""

    bundle_digest: str
    kind: ArtifactKind
    sha256: str
    size: int
    description: str


class Artifacts:
    """Knows the artifact of each bundle; works it out once."""

    def __init__(self, database: Database, bundles: Bundles) -> None:
        self._database = database
        self._bundles = bundles
        self._known: dict[str, Artifact] = {}
        self._room = asyncio.Semaphore(_AT_ONCE)

    async def of(self, digests: AbstractSet[str]) -> dict[str, Artifact]:
        """The artifacts of these bundles. One that cannot be packed or read is left out, and not in the others' way."""
        known = {digest: self._known[digest] for digest in digests if digest in self._known}
        if len(known) < len(digests):
            async with self._database.read() as session:
                known.update(await known_artifacts(session, set(digests) - known.keys()))
        missing = sorted(set(digests) - known.keys())
        for start in range(0, len(missing), _KEPT_AT_ONCE):
            made = await asyncio.gather(*map(self._make, missing[start : start + _KEPT_AT_ONCE]))
            found = [artifact for artifact in made if artifact is not None]
            await self._keep(found)
            known.update((artifact.bundle_digest, artifact) for artifact in found)
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        self._known.update(known)
        return known

    async def content(self, digest: str) -> bytes:
        """The bytes of a bundle's artifact."""
        bundle = await self._bundles.load(digest)
        return await asyncio.to_thread(artifact_bytes, bundle)

    async def _make(self, digest: str) -> Artifact | None:
        async with self._room:
            try:
                bundle = await self._bundles.load(digest)
                return await asyncio.to_thread(artifact_of, bundle)
            except SkillyardError:
                return None

    async def _keep(self, artifacts: Iterable[Artifact]) -> None:
        by_digest = {artifact.bundle_digest: artifact for artifact in artifacts}
        async with self._database.write() as transaction:
            known = await known_artifacts(transaction.session, by_digest)
            transaction.session.add_all(_row(by_digest[digest]) for digest in by_digest.keys() - known.keys())


async def known_artifacts(session: AsyncSession, digests: Collection[str]) -> dict[str, Artifact]:
    """Those that were worked out already."""
    known: dict[str, Artifact] = {}
    for chunk in in_chunks(digests):
        query = select(
            ArtifactRow.bundle_digest, ArtifactRow.kind, ArtifactRow.sha256, ArtifactRow.size, ArtifactRow.description
        ).where(ArtifactRow.bundle_digest.in_(chunk), ArtifactRow.packing == PACKING)
        for digest, kind, sha256, size, description in await session.execute(query):
            known[digest] = Artifact(
                bundle_digest=digest, kind=ArtifactKind(kind), sha256=sha256, size=size, description=description
            )
    return known


def artifact_of(bundle: Bundle) -> Artifact:
    data = artifact_bytes(bundle)
    skill_file = bundle.get(SKILL_FILE)
    document = parse(skill_file.data).document if skill_file else None
    return Artifact(
        bundle_digest=bundle.digest,
        kind=_kind(bundle),
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        description=document.description if document else "",
    )


def artifact_bytes(bundle: Bundle) -> bytes:
    """The bytes that a bundle is served as: the same each time."""
    return bundle.files[0].data if _kind(bundle) is ArtifactKind.SKILL_MD else pack_flat(bundle)


def _kind(bundle: Bundle) -> ArtifactKind:
    # An executable SKILL.md is not the same when it is served by itself.
    alone = len(bundle) == 1 and bundle.files[0].path == SKILL_FILE and not bundle.files[0].executable
    return ArtifactKind.SKILL_MD if alone else ArtifactKind.ARCHIVE


def _row(artifact: Artifact) -> ArtifactRow:
    return ArtifactRow(
        bundle_digest=artifact.bundle_digest,
        packing=PACKING,
        kind=artifact.kind.value,
        sha256=artifact.sha256,
        size=artifact.size,
        description=artifact.description,
    )
