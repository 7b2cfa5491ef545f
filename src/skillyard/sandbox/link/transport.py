"""The stream between the server and a guest, whatever carries it."""

from typing import Protocol


class Transport(Protocol):
    async def read(self, n: int) -> bytes:
        """At most so many bytes; none at the end."""
        ...

    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None: ...

    async def close(self) -> None: ...
