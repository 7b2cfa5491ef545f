"""Keeping payloads: each content of one owner once, as it was sent, and safe from the sweep of orphans."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any, Final, cast

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.blobs.claims import put_and_claim
from skillyard.blobs.store import Blobs
from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import InputError, LimitError, NotFoundError
from skillyard.identity.principals import Principal, Scope
from skillyard.releases.candidate_spec import clean_json
from skillyard.releases.commands_document import commands_document
from skillyard.releases.ids import new_id
from skillyard.releases.models import PayloadRow
from skillyard.releases.payload_json import is_replayable, parse_payload, payload_document
from skillyard.releases.payloads import Payload
from skillyard.sandbox.models import SandboxRow, TraceRow

BLOB: Final = "blob:"
MAX_BYTES: Final = 1024 * 1024
MAX_KIND: Final = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredPayload:
    """A payload as it is kept."""

    ref: str
    kind: str
    document: Any


class PayloadStore:
    """The payloads of everyone, each for its owner."""

    def __init__(self, database: Database, blobs: Blobs, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._blobs = blobs
        self._clock = clock

    async def put(self, caller: Principal, document: Any, kind: str) -> StoredPayload:  # noqa: ANN401 -- any JSON
        """Keep a payload; what can be replayed is checked, anything else is kept as it is."""
        caller.require_scope(Scope.WRITE)
        if is_replayable(kind):
            await asyncio.to_thread(parse_payload, document, kind=kind)
        return await self._keep(caller, document, kind, once=True)

    async def put_parsed(self, caller: Principal, payload: Payload) -> StoredPayload:
        """Keep a payload that was made here."""
        return await self._keep(caller, payload_document(payload), payload.kind.value, once=False)

    async def get(self, caller: Principal, ref: str) -> StoredPayload:
        """A payload of the caller's, or the trace of a run of theirs."""
        return await self.read(caller.person_id, ref)

    async def read(self, owner_id: str, ref: str) -> StoredPayload:
        """The same for whoever acts for the owner."""
        if not ref.startswith(BLOB):
            raise unsupported(ref)
        own_id = ref.removeprefix(BLOB)
        async with self._database.read() as session:
            row = await session.get(PayloadRow, own_id)
            trace = None if row is not None else await _own_trace(session, owner_id, own_id)
        if row is not None and row.owner_id == owner_id:
            document = json.loads(await self._blobs.get(row.sha256))
            return StoredPayload(ref=ref, kind=row.kind, document=document)
        if trace is None:
            raise NotFoundError(
                f"There is no payload {ref[:100]!r}.",
                hint="POST /v1/skills/payloads answers with the payload_ref to ask for.",
                details={"payload_ref": ref[:100]},
            )
        document = json.loads(await self._blobs.get(trace.sha256))
        said = cast("dict[str, Any]", document) if isinstance(document, dict) else dict[str, Any]()
        return StoredPayload(ref=ref, kind=str(said.get("kind", "trace")), document=document)

    async def payload(self, owner_id: str, ref: str) -> Payload:
        """What can be replayed of a payload; what cannot is an error that says why."""
        stored = await self.read(owner_id, ref)
        if is_replayable(stored.kind):
            return parse_payload(stored.document, kind=stored.kind)
        return parse_payload(commands_document(stored.document))

    async def _keep(self, caller: Principal, document: Any, kind: str, *, once: bool) -> StoredPayload:  # noqa: ANN401
        if not kind.strip() or len(kind) > MAX_KIND:
            raise InputError(
                f"{kind[:100]!r} is no kind of payload.",
                hint=f"Use 1 to {MAX_KIND} characters, such as browser, code or hybrid_sequence.",
                details={"field": "kind", "value": kind[:100], "limit": MAX_KIND},
            )
        clean, data = await asyncio.to_thread(_written, document)
        if len(data) > MAX_BYTES:
            raise LimitError(
                f"The payload has {len(data):,} bytes; at most {MAX_BYTES:,} are kept.",
                hint="Let its steps write and read files instead of carrying them.",
                details={"field": "payload", "value": len(data), "limit": MAX_BYTES},
            )

        async def register(transaction: Transaction, hashes: list[str]) -> str:
            transaction.once = once
            same = select(PayloadRow.id).where(
                PayloadRow.owner_id == caller.person_id, PayloadRow.kind == kind, PayloadRow.sha256 == hashes[0]
            )
            known = await transaction.session.scalar(same)
            if known is not None:
                return known
            own_id = new_id("blob")
            row = {
                "id": own_id,
                "tenant_id": caller.tenant_id,
                "owner_id": caller.person_id,
                "kind": kind,
                "sha256": hashes[0],
                "size": len(data),
                "created_at": self._clock(),
            }
            await transaction.insert((PayloadRow, [row]))
            return own_id

        own_id = await put_and_claim(self._database, self._blobs, [data], register, clock=self._clock)
        return StoredPayload(ref=f"{BLOB}{own_id}", kind=kind, document=clean)


def _written(document: Any) -> tuple[Any, bytes]:  # noqa: ANN401 -- any JSON
    """A document without secrets, and the bytes that are kept of it."""
    clean = clean_json(document)
    return clean, json.dumps(clean, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def unsupported(ref: str | None) -> InputError:
    return InputError(
        f"Unsupported payload_ref {(ref or '')[:100]!r}: only payloads that are kept here can be read or run.",
        hint="Send the payload with POST /v1/skills/payloads, and make a candidate with the payload_ref it answers.",
        details={"field": "payload_ref", "value": (ref or "")[:100]},
    )


async def _own_trace(session: AsyncSession, owner_id: str, trace_id: str) -> TraceRow | None:
    query = select(TraceRow).join(SandboxRow, SandboxRow.id == TraceRow.sandbox_id)
    return await session.scalar(query.where(TraceRow.id == trace_id, SandboxRow.owner_id == owner_id))
