"""The ways in which everyday tools print a value."""

import base64
import html
import json
from collections.abc import Callable, Iterable
from urllib.parse import quote

WIDTH = 16


def dump(data: bytes, offset: str, number: Callable[[bytes], str], text: Callable[[bytes], str], group: int = 1) -> str:
    """Rows of numbers, with an offset before and the same as text beside them."""
    rows = []
    for at in range(0, len(data), WIDTH):
        row = data[at : at + WIDTH]
        numbers = " ".join(number(row[place : place + group]) for place in range(0, len(row), group))
        rows.append(f"{offset.format(at)}{numbers:50}{text(row)}".rstrip())
    return "\n".join(rows) + "\n"


def shown(row: bytes) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)


def turned(word: bytes) -> str:
    return word.ljust(2, b"\0")[::-1].hex()


def lines(text: str, width: int) -> str:
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


def joined(between: str, parts: Iterable[str]) -> str:
    return between.join(parts)


LAYOUTS: dict[str, Callable[[str], str | bytes]] = {
    "raw": lambda text: text,
    "json": lambda text: json.dumps(text)[1:-1],
    "python": lambda text: repr(text)[1:-1],
    "html": html.escape,
    "url": lambda text: quote(text, safe=""),
    "reversed": lambda text: text[::-1],
    "one character per line": lambda text: joined("\n", text),
    "separated": lambda text: joined(" ", text),
    "list": lambda text: repr(list(text))[2:-2],
    "json over lines": lambda text: json.dumps(list(text), indent=2)[5:-3],
    "colored": lambda text: joined("\x1b[1;31m", text),
    "zero width": lambda text: joined("\u200b", text),
    "utf-16 little": lambda text: text.encode("utf-16-le"),
    "utf-16 big": lambda text: text.encode("utf-16-be"),
    "base64": lambda text: base64.b64encode(text.encode()),
    "base64 in lines": lambda text: lines(base64.b64encode(text.encode()).decode(), 10),
    "base64 for urls": lambda text: base64.urlsafe_b64encode(text.encode()),
    "base64 of utf-16": lambda text: base64.b64encode(text.encode("utf-16-le")),
    "base32": lambda text: base64.b32encode(text.encode()),
    "base85": lambda text: base64.b85encode(text.encode()),
    "ascii85": lambda text: base64.a85encode(text.encode()),
    "xxd -p": lambda text: lines(text.encode().hex(), 60),
    "upper hex": lambda text: text.encode().hex().upper(),
    "hex with colons": lambda text: text.encode().hex(":"),
    "bytes of C": lambda text: joined(", ", (f"0x{byte:02x}" for byte in text.encode()))[2:],
    "bytes of printf": lambda text: joined("", (f"\\x{byte:02x}" for byte in text.encode()))[2:],
    "unicode escapes": lambda text: text.encode("utf-16-be").hex("-", 2).replace("-", "\\u"),
    "octal escapes": lambda text: joined("", (f"\\{byte:03o}" for byte in text.encode()))[1:],
    "list of numbers": lambda text: repr(list(text.encode()))[1:-1],
    "numbers over lines": lambda text: json.dumps(list(text.encode()), indent=4)[6:-2],
    "od -An -tx1": lambda text: dump(text.encode(), " ", lambda one: one.hex(), lambda _: ""),
    "od -tx1": lambda text: dump(text.encode(), "{:07o} ", lambda one: one.hex(), lambda _: ""),
    "od -x": lambda text: dump(text.encode(), "{:07o} ", turned, lambda _: "", 2),
    "od": lambda text: dump(
        text.encode(), "{:07o} ", lambda one: f"{int.from_bytes(one, 'little'):06o}", lambda _: "", 2
    ),
    "od -b": lambda text: dump(text.encode(), "{:07o} ", lambda one: f"{one[0]:03o}", lambda _: ""),
    "od -c": lambda text: dump(text.encode(), "{:07o} ", lambda one: f"{chr(one[0]):>3}", lambda _: ""),
    "od -An -tu1": lambda text: dump(text.encode(), "", lambda one: f"{one[0]:3}", lambda _: ""),
    "hexdump": lambda text: dump(text.encode(), "{:07x} ", turned, lambda _: "", 2),
    "hexdump -C": lambda text: dump(text.encode(), "{:08x}  ", lambda one: one.hex(), lambda row: f"  |{shown(row)}|"),
    "xxd": lambda text: dump(text.encode(), "{:08x}: ", lambda two: two.hex(), lambda row: f"  {shown(row)}", 2),
}


def printed(name: str, text: str) -> bytes:
    found = LAYOUTS[name](text)
    return found if isinstance(found, bytes) else found.encode()
