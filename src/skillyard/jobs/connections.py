"""Connections of durable work to its database."""

from sqlalchemy.pool import ConnectionPoolEntry, QueuePool


class EndingPool(QueuePool):
    """A pool that keeps no connection once it is over.

    DBOS does not wait for the threads of its workflows when it ends: one that comes back later, or is made then, would
    stay open for as long as the process lives.
    """

    is_over = False

    def dispose(self) -> None:
        self.is_over = True
        super().dispose()

    def recreate(self) -> QueuePool:
        again = super().recreate()
        again.is_over = self.is_over  # pyright: ignore[reportAttributeAccessIssue] -- it is of this class too
        return again

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        super()._do_return_conn(record)
        if self.is_over:
            super().dispose()
