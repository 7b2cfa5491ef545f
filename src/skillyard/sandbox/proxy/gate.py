"""What a sandbox's proxy lets through: the list, the addresses behind it, and the count of who asked for what."""

import asyncio
import json
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from skillyard.sandbox.network import Endpoint, NetworkPolicy
from skillyard.sandbox.proxy.addresses import Addresses, RefusedError, Resolver

OTHERS: Final = "others"


@dataclass(frozen=True, kw_only=True)
class ProxyLimits:
    """The most that one sandbox may ask of its proxy."""

    connections: int = 64
    """At once."""
    head_bytes: int = 32 * 1024
    idle_seconds: float = 120.0
    connect_seconds: float = 15.0
    """To look up a name, and then for each of its addresses."""
    linger_seconds: float = 1.0
    """After an answer of the proxy itself: a client that is cut off while it still sends would not read it."""
    endpoints_seen: int = 200
    """Told apart in the counters; further ones are counted together."""


@dataclass(kw_only=True)
class Seen:
    """How often each endpoint was asked for since the sandbox started."""

    limit: int
    allowed: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])

    def allow(self, endpoint: Endpoint) -> None:
        self._count(self.allowed, str(endpoint))

    def refuse(self, endpoint: Endpoint) -> None:
        self._count(self.refused, str(endpoint))

    def as_json(self) -> dict[str, dict[str, int]]:
        """As it is recorded with executions."""
        return {"allowed": dict(self.allowed), "refused": dict(self.refused)}

    def _count(self, counter: Counter[str], name: str) -> None:
        counter[name if name in counter or len(counter) < self.limit else OTHERS] += 1


class Gate:
    """Decides for one sandbox, and opens the connections that it allows."""

    def __init__(
        self, policy: NetworkPolicy, *, forbidden_ports: Collection[int], resolver: Resolver, limits: ProxyLimits
    ) -> None:
        self._policy = policy
        self._listed = frozenset(policy.allow)
        self._addresses = Addresses(policy, forbidden_ports=forbidden_ports, resolver=resolver)
        self.limits = limits
        self.seen = Seen(limit=limits.endpoints_seen)

    def lists(self, endpoint: Endpoint) -> bool:
        return endpoint in self._listed

    async def connect(self, endpoint: Endpoint) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to a listed endpoint, at the address that its name had first.

        Raises `RefusedError`, or OSError when the endpoint does not answer.
        """
        try:
            if not self.lists(endpoint):
                raise RefusedError(f"{endpoint} is not on its list")
            async with asyncio.timeout(self.limits.connect_seconds):
                addresses = await self._addresses.of(endpoint)
        except RefusedError:
            self.seen.refuse(endpoint)
            raise
        self.seen.allow(endpoint)
        failures: list[OSError] = []
        for address in addresses:
            try:
                async with asyncio.timeout(self.limits.connect_seconds):
                    return await asyncio.open_connection(str(address), endpoint.port)
            except OSError as error:
                failures.append(error)
        raise failures[0]

    def refusal(self, endpoint: Endpoint, reason: str) -> str:
        """What a program is told, or a model that reads its output: what happened, what works, and how to change it."""
        allowed = [str(listed) for listed in self._policy.allow]
        lines = [
            f"The network policy of this sandbox refused the request: {reason}.",
            f"Allowed: {', '.join(allowed) or 'nothing'}.",
        ]
        if not self.lists(endpoint) and not self._addresses.are_ours(endpoint):
            wanted = json.dumps({"allow": [*allowed, str(endpoint)]})
            lines.append(f'To reach it, create a sandbox with "network": {wanted}.')
        return "\n".join(lines)
