"""Which addresses a sandbox's proxy connects to, and the one answer it keeps for each name."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Collection, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, TypeAlias

from skillyard.sandbox.network import Address, Endpoint, NetworkPolicy, literal_address, plain_address

Resolver: TypeAlias = Callable[[str], Awaitable[Sequence[str]]]
"""The addresses of a name; raises OSError when there are none."""

_LOOPBACK: Final[tuple[Address, ...]] = (IPv4Address("127.0.0.1"), IPv6Address("::1"))
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_METADATA: Final = (IPv4Network("168.63.129.16/32"), IPv4Network("192.0.0.0/24"))
"""Services of a cloud's host at addresses that look public; the others are link-local, shared or private ones."""


class RefusedError(Exception):
    """The policy does not let the sandbox go there; the message says why and what would."""


async def system_resolver(host: str) -> Sequence[str]:
    """What the system answers for a name, without holding up anybody else."""
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


class Addresses:
    """The addresses of listed endpoints: each name is looked up once, so that later answers change nothing."""

    def __init__(self, policy: NetworkPolicy, *, forbidden_ports: Collection[int], resolver: Resolver) -> None:
        self._allow = frozenset(policy.allow)
        self._forbidden_ports = forbidden_ports
        self._resolver = resolver
        self._pinned: dict[str, asyncio.Task[tuple[Address, ...]]] = {}

    async def of(self, endpoint: Endpoint) -> Sequence[Address]:
        """Where to connect for a listed endpoint. Raises `RefusedError`, or OSError when the name is not known."""
        usable = [address for address in await self._all(endpoint.host) if self._listed(endpoint, address)]
        if not usable:
            raise RefusedError(
                f"{endpoint.host} leads to an address that is not public, and such an address must be on the list"
                f" itself, like {endpoint.scheme}://10.0.0.5:{endpoint.port}"
            )
        if endpoint.port in self._forbidden_ports:
            usable = [address for address in usable if not is_own(address)]
            if not usable:
                raise RefusedError(f"port {endpoint.port} of this machine belongs to Skillyard, which no list opens")
        return usable

    def are_ours(self, endpoint: Endpoint) -> bool:
        """Whether an endpoint is, by its name alone, a port of Skillyard, which no list opens."""
        if endpoint.port not in self._forbidden_ports:
            return False
        address = literal_address(endpoint.host)
        return is_local_name(endpoint.host) if address is None else is_own(address)

    def _listed(self, endpoint: Endpoint, address: Address) -> bool:
        if is_public(address) or is_local_name(endpoint.host):
            return True
        itself = Endpoint(scheme=endpoint.scheme, host=str(address), port=endpoint.port)
        return itself in self._allow

    async def _all(self, host: str) -> tuple[Address, ...]:
        literal = literal_address(host)
        if literal is not None:
            return (literal,)
        if is_local_name(host):
            return _LOOPBACK
        task = self._pinned.get(host)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._pinned[host] = asyncio.create_task(self._resolve(host))
        return await asyncio.shield(task)

    async def _resolve(self, host: str) -> tuple[Address, ...]:
        answers = await self._resolver(host)
        addresses = tuple(dict.fromkeys(plain_address(ip_address(answer)) for answer in answers))
        if not addresses:
            raise OSError(f"{host} has no address")
        return addresses


def is_local_name(host: str) -> bool:
    """Whether a name means this machine wherever it is said, so that listing it is listing the loopback address."""
    return host == "localhost" or host.endswith(".localhost")


def is_private(endpoint: Endpoint) -> bool:
    """Whether listing an endpoint opens something that is not on the public internet."""
    address = literal_address(endpoint.host)
    return is_local_name(endpoint.host) if address is None else not is_public(address)


def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet, also when it is wrapped in an IPv6 one."""
    address = _unwrapped(address)
    if isinstance(address, IPv4Address):
        return address.is_global and not address.is_multicast and not any(address in block for block in _METADATA)
    return address in _GLOBAL_UNICAST and address.is_global and address.teredo is None


def is_own(address: Address) -> bool:
    """Whether an address is one of this machine's: only those can be bound."""
    address = _unwrapped(address)
    if address.is_loopback or address.is_unspecified:
        return True
    family = socket.AF_INET if isinstance(address, IPv4Address) else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True


def _unwrapped(address: Address) -> Address:
    """The IPv4 address that an IPv6 one is a way to: mapped, 6to4 or NAT64."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address
