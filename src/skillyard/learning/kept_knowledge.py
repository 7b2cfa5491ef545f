"""What memories and decision rules share: a change is one transaction, stands in the history, and can be undone."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import NotFoundError
from skillyard.history.entries import Change, Entry, Subject
from skillyard.history.service import History, Step, moved_on
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.learning.drafts import Author, Draft, Effect, gone
from skillyard.learning.ids import id_of, new_id
from skillyard.learning.models import MemoryRow, RuleRow
from skillyard.learning.places import COMMON, is_visible, place_of, require_at
from skillyard.learning.states import Operation
from skillyard.learning.traces import same_words, trace_of


class Kept(Protocol):
    """Something that is kept, as a value."""

    @property
    def locked(self) -> bool: ...

    @property
    def state(self) -> Mapping[str, Any]:
        """As the history keeps it."""
        ...

    @property
    def digest(self) -> str | None: ...

    @property
    def subject(self) -> Subject: ...


Row = TypeVar("Row", MemoryRow, RuleRow)
Value = TypeVar("Value", bound=Kept)


class KeptKnowledge(ABC, Generic[Row, Value]):
    """Each thing lives in a place, whose roles say who may change it: an editor, with the scope `publish`. Where it is
    locked, only an administrator may.
    """

    def __init__(
        self, database: Database, history: History, kind: str, rows: type[Row], *, clock: Clock = utc_now
    ) -> None:
        self._database = database
        self._history = history
        self._kind = kind
        self._rows = rows
        self._clock = clock
        self._created, self._updated, self._deleted = (f"{kind}.{done}" for done in ("created", "updated", "deleted"))
        history.register_undo(self._created, self._uncreate)
        history.register_undo(self._updated, self._revert)
        history.register_undo(self._deleted, self._undelete)

    async def get(self, principal: Principal, key: str) -> Value:
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            return self._value(await self._visible_row(session, principal, key))

    async def apply(self, draft: Draft, author: Author) -> Sequence[Effect]:
        """Make a prepared change, once for each key. A proposal was approved by someone with the right to do so."""
        principal = author.principal
        principal.require_scope(Scope.PUBLISH)
        async with self._database.write() as transaction:
            done = await self._done_before(transaction, draft, author)
            if done:
                return done
            if draft.operation is Operation.CREATE:
                if author.proposal_id is None:
                    require_at(principal, draft.place or COMMON, Role.EDITOR, Scope.PUBLISH)
                return (self._create(transaction, draft, author),)
            try:
                row = await self._visible_row(transaction.session, principal, draft.target_id or "")
            except NotFoundError:
                raise gone(draft) from None
            if author.proposal_id is None:
                require_at(principal, place_of(row), Role.EDITOR, Scope.PUBLISH, locked=row.locked)
            self._require_base(row, draft)
            if draft.operation is Operation.DELETE:
                return (self._record(transaction, author, self._remove(row), Operation.DELETE),)
            return await self._update(transaction, row, draft, author)

    async def lock(self, author: Author, key: str, *, locked: bool) -> Value:
        """Lock something, so that lessons only propose changes to it, or unlock it, which only administrators may."""
        author.principal.require_scope(Scope.PUBLISH)
        async with self._database.write() as transaction:
            row = await self._visible_row(transaction.session, author.principal, key)
            require_at(author.principal, place_of(row), Role.EDITOR, Scope.PUBLISH, locked=row.locked)
            present = self._value(row)
            if present.locked != locked:
                change = self._set(row, {**present.state, "locked": locked})
                self._record(transaction, author, change, Operation.UPDATE)
            return self._value(row)

    @abstractmethod
    def _value(self, row: Row) -> Value: ...

    async def require_undo(self, principal: Principal, entry: Entry) -> None:
        """Refuses a person who may not undo a change. Locking and unlocking count as changes to what is locked."""
        async with self._database.read() as session:
            row = await session.get(self._rows, entry.change.subject.id)
        place, locked = (COMMON, False) if row is None else (place_of(row), row.locked)
        locked = locked or any(
            bool(state and state.get("locked")) for state in (entry.change.before, entry.change.after)
        )
        require_at(principal, place, Role.EDITOR, Scope.PUBLISH, locked=locked)

    async def _row(self, session: AsyncSession, tenant_id: str, key: str) -> Row:
        """The row of something, whether or not the caller may read it."""
        row = await session.get(self._rows, key)
        if row is None or row.tenant_id != tenant_id or row.deleted_at is not None:
            raise self._missing(key)
        return row

    async def _visible_row(self, session: AsyncSession, principal: Principal, key: str) -> Row:
        row = await self._row(session, principal.tenant_id, key)
        if not is_visible(principal, row):
            raise self._missing(key)
        return row

    @abstractmethod
    def _missing(self, key: str) -> NotFoundError: ...

    @abstractmethod
    def _require_base(self, row: Row, draft: Draft) -> None:
        """Refuses a change that was worked out against another state."""

    @abstractmethod
    def _create(self, transaction: Transaction, draft: Draft, author: Author) -> Effect: ...

    @abstractmethod
    async def _update(self, transaction: Transaction, row: Row, draft: Draft, author: Author) -> Sequence[Effect]: ...

    @abstractmethod
    async def _entries(self, transaction: Transaction, draft: Draft, author: Author) -> Sequence[Entry | None]:
        """Those by which this key has created or updated something already."""

    @abstractmethod
    def _fill(self, row: Row, state: Mapping[str, Any]) -> None:
        """Let a row be in a state, as the history keeps it."""

    def _id(self, prefix: str, author: Author) -> str:
        """The id of what is new: the same whenever the same key makes it."""
        return id_of(prefix, author.key) if author.key else new_id(prefix)

    def _set(self, row: Row, state: Mapping[str, Any]) -> Change:
        before = self._value(row)
        self._fill(row, state)
        row.updated_at = self._clock()
        return _change(self._updated, before, self._value(row))

    def _remove(self, row: Row) -> Change:
        present = self._value(row)
        row.deleted_at = self._clock()
        return _change(self._deleted, present, None)

    def _record_new(self, transaction: Transaction, author: Author, row: Row, operation: Operation) -> Effect:
        return self._record(transaction, author, _change(self._created, None, self._value(row)), operation)

    def _record(self, transaction: Transaction, author: Author, change: Change, operation: Operation) -> Effect:
        number = self._history.record(transaction, author.principal.actor, change, author.why)
        return self._effect(change, operation, number)

    def _effect(self, change: Change, operation: Operation, number: int | None) -> Effect:
        state = change.after or change.before or {}
        return Effect(
            kind=self._kind,
            operation=operation,
            id=change.subject.id,
            label=change.subject.label,
            version=state.get("version", ""),
            history=number,
        )

    async def _done_before(self, transaction: Transaction, draft: Draft, author: Author) -> Sequence[Effect]:
        """What this key did already."""
        if author.key is None:
            return ()
        if draft.operation is Operation.DELETE:
            row = await transaction.session.get(self._rows, draft.target_id or "")
            if row is None or row.deleted_at is None:
                return ()
            found = [await self._trace(transaction, author, row.id, self._deleted, _any_entry)]
        else:
            found = await self._entries(transaction, draft, author)
        return [self._effect(entry.change, draft.operation, entry.number) for entry in found if entry is not None]

    async def _trace(
        self, transaction: Transaction, author: Author, key: str, action: str, fits: Callable[[Entry], bool]
    ) -> Entry | None:
        """The last change of something that was made for the same words, and fits."""
        return await trace_of(
            transaction.session,
            author.principal.tenant_id,
            (self._kind, key),
            action,
            lambda entry: same_words(entry.why, author.why) and fits(entry),
        )

    async def _as_left(self, transaction: Transaction, entry: Entry) -> Row:
        row = await self._row(transaction.session, entry.tenant_id, entry.change.subject.id)
        if self._value(row).state != entry.change.after:
            raise moved_on(entry)
        return row

    async def _uncreate(self, entry: Entry) -> Step:
        async def step(transaction: Transaction) -> Change:
            return self._remove(await self._as_left(transaction, entry))

        return step

    async def _revert(self, entry: Entry) -> Step:
        async def step(transaction: Transaction) -> Change:
            return self._set(await self._as_left(transaction, entry), entry.change.before or {})

        return step

    async def _undelete(self, entry: Entry) -> Step:
        async def step(transaction: Transaction) -> Change:
            row = await transaction.session.get(self._rows, entry.change.subject.id)
            if row is None or row.deleted_at is None:
                raise moved_on(entry)
            row.deleted_at = None
            return _change(self._created, None, self._value(row))

        return step


def _change(action: str, before: Kept | None, after: Kept | None) -> Change:
    present = after or before
    assert present is not None  # noqa: S101 -- a change is of something
    return Change(
        action=action,
        subject=present.subject,
        before=before.state if before else None,
        after=after.state if after else None,
        digest_before=before.digest if before else None,
        digest_after=after.digest if after else None,
    )


def _any_entry(_: Entry) -> bool:
    return True
