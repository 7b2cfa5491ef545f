"""Addresses that were opened: which parts of them are the page, and which are values."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, unquote_plus, urlsplit

from skillyard.releases.mining.acts import Context, Slot

_VOLATILE: Final = re.compile(
    r"\d+|[0-9a-f]{8}-[0-9a-f-]{27}|(?=[0-9a-f]*\d)[0-9a-f]{8,}|(?=\w*\d)[\w-]{16,}", re.IGNORECASE
)
"""Numbers and ids."""
_NUMBERED: Final = re.compile(r"[A-Za-z]+[-_]\d+|[\w-]*\d{3,}[\w-]*")
"""Names that something is given by a site: `Q-12`, `inv2041`."""
_SPLIT: Final = re.compile(r"([/?&=#;])")
_LONGEST: Final = 4096


@dataclass(frozen=True, kw_only=True, slots=True)
class AddressPart:
    """A piece of an address as it was written; with a slot if it is a value."""

    text: str
    slot: Slot | None = None


def address_parts(address: str) -> tuple[AddressPart, ...]:
    """The pieces of an address, in order."""
    origin = origin_of(address)
    if not origin or len(address) > _LONGEST:
        return (AddressPart(text=address),)
    return (AddressPart(text=address[: len(origin)]), *_pieces(address[len(origin) :]))


def _pieces(rest: str) -> Iterator[AddressPart]:
    before = key = ""
    in_query = False
    for piece in _SPLIT.split(rest):
        if not piece:
            continue
        if _SPLIT.fullmatch(piece):
            in_query = piece == "?" or (in_query and piece != "#")
            if piece == "=":
                key = before
            elif piece in "&;?#":
                key = ""
            yield AddressPart(text=piece)
            continue
        value = unquote_plus(piece) if in_query else unquote(piece)
        is_key = in_query and not key
        if is_key:
            yield AddressPart(text=piece)
        else:
            label = key if in_query else _numbered(before)
            yield AddressPart(text=piece, slot=Slot(value=value, context=Context.ADDRESS, label=label))
            key = "" if in_query else key
        before = value


def _numbered(before: str) -> str:
    """What a part of a path is called after the part before it: of `tickets/17` the ticket id."""
    if not before or _VOLATILE.fullmatch(before):
        return "id"
    return f"{before.removesuffix('s')} id"


def address_form(address: str, typed: Collection[str] = ()) -> str:
    """An address without its values."""
    written: list[str] = []
    in_query = False
    for part in address_parts(address):
        in_query = (in_query or part.text == "?") and part.text != "#"
        if part.slot is None:
            written.append(part.text)
        elif in_query or part.slot.value in typed or _VOLATILE.fullmatch(part.slot.value):
            written.append("*")
        else:
            written.append(part.text)
    return "".join(written).rstrip("/")


def origin_of(address: str) -> str:
    """Scheme, host and port, as they were written; empty for what has none."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in {"http", "https"} and parts.netloc else ""


def path_glob(address: str, values: Collection[str] = ()) -> str:
    """A pattern for where one is, without values, numbers and ids; empty where that says nothing."""
    if not origin_of(address):
        return ""
    parts = urlsplit(address)
    glob = _without_values(parts.path, values)
    if parts.query:
        glob += "?**"
    elif parts.fragment:
        glob += f"#{_without_values(parts.fragment, values)}"
    return f"**{glob}" if re.search(r"[^/*?#]", glob) else ""


def common_glob(globs: Collection[str]) -> str:
    """One pattern for several: what differs between them is a value; empty if they have not the same parts."""
    rows = [glob.split("/") for glob in globs]
    if len({len(row) for row in rows}) != 1:
        return ""
    parts = [column[0] if len(set(column)) == 1 else "*" for column in zip(*rows, strict=True)]
    return "/".join(parts) if parts[0] == "**" and any(re.search(r"[^*]", part) for part in parts[1:]) else ""


def _without_values(path: str, values: Collection[str]) -> str:
    return "/".join("*" if _is_value(segment, values) else segment for segment in path.split("/"))


def _is_value(segment: str, values: Collection[str]) -> bool:
    is_pattern = re.search(r"[*?\[\]{}]", segment) is not None
    is_given = _VOLATILE.fullmatch(segment) is not None or _NUMBERED.fullmatch(segment) is not None
    return is_pattern or is_given or unquote(segment) in values


def same_page(one: str, other: str) -> bool:
    """Whether two addresses are of the same page, whatever their values."""
    return bool(one) and address_form(one) == address_form(other)
