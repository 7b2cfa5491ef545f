"""What a sandbox may reach: nothing, or the endpoints of a list."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final, Literal, NoReturn, TypeAlias, cast

from skillyard.errors import InputError, LimitError

Scheme = Literal["http", "https"]
Address: TypeAlias = IPv4Address | IPv6Address

MAX_ENDPOINTS: Final = 64
MAX_HOST: Final = 253
MAX_PORT: Final = 65535
DEFAULT_PORTS: Final[Mapping[Scheme, int]] = {"http": 80, "https": 443}

_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_ENDPOINT: Final = re.compile(r"(https?)://([^/?#]*)(/?)", re.IGNORECASE)
_AUTHORITY: Final = re.compile(r"(\[[^\[\]]*\]|[^\[\]:@]*)(?::([0-9]{1,5}))?")


@dataclass(frozen=True, kw_only=True, order=True)
class Endpoint:
    """One place that may be reached."""

    scheme: Scheme
    host: str
    """Lower case; an IPv6 address without its brackets."""
    port: int

    def __str__(self) -> str:
        return f"{self.scheme}://{bracketed(self.host)}:{self.port}"

    @property
    def authority(self) -> str:
        """The host as a `Host` header names it: with its port, unless that is the scheme's own."""
        host = bracketed(self.host)
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


@dataclass(frozen=True, kw_only=True)
class NetworkPolicy:
    """The endpoints that may be reached; nothing else can."""

    allow: tuple[Endpoint, ...] = ()

    def as_json(self) -> str | dict[str, list[str]]:
        """As it is asked for, recorded and shown: `"none"` or `{"allow": [...]}`."""
        return {"allow": [str(endpoint) for endpoint in self.allow]} if self.allow else "none"


NONE: Final = NetworkPolicy()


def parse_network(value: object) -> NetworkPolicy:
    """The policy that somebody asked for: `"none"`, or `{"allow": ["https://example.org", ...]}`."""
    if value == "none":
        return NONE
    fields: Mapping[str, object] = cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}
    if set(fields) != {"allow"}:
        _refuse("network", cast("object", value), 'is neither "none" nor an object with the one key "allow"')
    if not isinstance(fields["allow"], list | tuple):
        _refuse("network.allow", fields["allow"], "is not a list")
    entries = cast("Sequence[object]", fields["allow"])
    if len(entries) > MAX_ENDPOINTS:
        raise LimitError(
            f"network.allow lists {len(entries)} endpoints; at most {MAX_ENDPOINTS} are allowed.",
            hint="List only what this sandbox needs.",
            details={"field": "network.allow", "value": len(entries), "limit": MAX_ENDPOINTS},
        )
    parsed = (_endpoint(f"network.allow[{index}]", entry) for index, entry in enumerate(entries))
    return NetworkPolicy(allow=tuple(dict.fromkeys(parsed)))


def split_authority(text: str) -> tuple[str, int | None]:
    """The host and the port of `host`, `host:port` or `[v6]:port`; raises ValueError with what is wrong."""
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        raise ValueError("its authority is not of the form host:port")
    host, port = match.groups()
    if port is not None and not 1 <= int(port) <= MAX_PORT:
        raise ValueError(f"its port is not between 1 and {MAX_PORT}")
    return canonical_host(host), None if port is None else int(port)


def canonical_host(text: str) -> str:
    """One spelling for each host, so that hosts can be compared; raises ValueError with what is wrong."""
    if text.startswith("["):
        try:
            return str(plain_address(IPv6Address(_without_zone(text[1:-1]))))
        except ValueError:
            raise ValueError("its host is not an IPv6 address") from None
    host = text.lower().removesuffix(".")
    if not 1 <= len(host) <= MAX_HOST:
        raise ValueError(f"its host is not 1 to {MAX_HOST} characters long")
    labels = host.split(".")
    if not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError("its host is not a name of letters, digits and hyphens between dots")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return str(IPv4Address(host))
        except ValueError:
            raise ValueError("its host is not an IPv4 address of four decimal numbers") from None
    return host


def literal_address(host: str) -> Address | None:
    """The address that a canonical host is, or None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def plain_address(address: Address) -> Address:
    """The IPv4 address where an IPv6 one only wraps it, as systems connect to it."""
    return (address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address


def bracketed(host: str) -> str:
    """The host as URLs write it."""
    return f"[{host}]" if ":" in host else host


def _endpoint(field: str, value: object) -> Endpoint:
    match = _ENDPOINT.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        _refuse(field, value, "is not of the form scheme://host:port with scheme http or https and no path")
    scheme = cast("Scheme", match[1].lower())
    try:
        if "*" in match[2]:
            raise ValueError("it has a wildcard, which lists do not know; list each host")
        if "@" in match[2]:
            raise ValueError("it carries credentials; pass those as secrets of a run")
        host, port = split_authority(_ascii(match[2]))
    except ValueError as error:
        _refuse(field, value, f"cannot be listed: {error}")
    address = literal_address(host)
    if address is not None and (address.is_unspecified or address.is_multicast or host == "255.255.255.255"):
        _refuse(field, value, "is not the address of one machine")
    return Endpoint(scheme=scheme, host=host, port=port or DEFAULT_PORTS[scheme])


def _ascii(authority: str) -> str:
    if authority.isascii():
        return authority
    import idna  # noqa: PLC0415 -- its tables are large, and few lists need them

    host, colon, port = authority.partition(":")
    try:
        return idna.encode(host, uts46=True).decode() + colon + port
    except idna.IDNAError as error:
        raise ValueError(f"its host is not an international name ({error})") from None


def _without_zone(text: str) -> str:
    if "%" in text:
        raise ValueError("zone")
    return text


def _refuse(field: str, value: object, reason: str) -> NoReturn:
    shown = repr(value)
    shown = shown if len(shown) <= 200 else f"{shown[:200]}…"  # noqa: PLR2004 -- enough to recognise it
    raise InputError(
        f"{field} = {shown} {reason}.",
        hint='Give "none", or {"allow": ["http://127.0.0.1:8080", "https://example.org"]}.',
        details={"field": field, "value": shown, "limit": MAX_ENDPOINTS},
    )
