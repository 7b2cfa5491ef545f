"""What a Python expression may hold: where its data comes from, and the text that is known of it."""

import ast
import base64
import binascii
import re
from collections.abc import Callable
from enum import StrEnum
from typing import Final, NamedTuple

from skillyard.skill.scan.rules.private_files import KEYS, LOGINS

_MOST_TEXT: Final = 4_000
_HOME: Final = frozenset({"Path.home", "pathlib.Path.home"})
_SAME_TEXT: Final = frozenset(
    {
        "Path",
        "pathlib.Path",
        "PurePath",
        "str",
        "os.path.expanduser",
        "os.path.abspath",
        "os.fspath",
        "os.path.realpath",
    }
)
_SAME_RECEIVER: Final = frozenset({"expanduser", "resolve", "absolute", "decode", "encode", "strip", "format"})
_JOINS: Final = frozenset({"os.path.join", "path.join", "joinpath"})
_WALLET: Final = re.compile(
    r"bc1[a-z0-9]{25,59}|[13][a-km-zA-HJ-NP-Z1-9]{25,34}|0x[a-fA-F0-9]{40}|T[1-9A-HJ-NP-Za-km-z]{33}"
)


class Origin(StrEnum):
    """Where data comes from, or what a path leads to."""

    ENVIRONMENT = "environment"
    SECRET = "secret"  # noqa: S105 -- a name for one
    KEYS = "keys"
    LOGINS = "logins"
    COOKIES = "cookies"
    DOWNLOAD = "download"
    FETCHED = "fetched"
    """From an address that is not written in the code."""
    WALLET = "wallet"
    KEYS_PATH = "keys-path"
    LOGINS_PATH = "logins-path"
    SETTINGS_PATH = "settings-path"
    LOGIN_KEYS_PATH = "login-keys-path"


_PATHS: Final = (
    (Origin.KEYS_PATH, re.compile(KEYS.expression)),
    (Origin.LOGINS_PATH, re.compile(LOGINS.expression)),
    (Origin.LOGIN_KEYS_PATH, re.compile(r"\.ssh/authorized_keys")),
    (
        Origin.SETTINGS_PATH,
        re.compile(
            r"~/(?:\.claude\.json|\.claude/(?:settings[\w.]{0,20}\.json|claude\.md|hooks/)|\.codex/(?:config\.toml|agents\.md)|"
            r"\.cursor/(?:mcp|hooks)\.json|\.gemini/(?:settings\.json|gemini\.md)|\.openclaw/)"
        ),
    ),
)
READ: Final = {Origin.KEYS_PATH: Origin.KEYS, Origin.LOGINS_PATH: Origin.LOGINS}
"""What reading a path gives."""


class Value(NamedTuple):
    origins: frozenset[str] = frozenset()
    """Origins, and parameters of the function being read."""
    text: str = ""
    """What is known of it as text; unknown parts are left out."""
    in_pieces: bool = False
    """Whether the text is put together from constants in an unusual way."""

    def __or__(self, other: object) -> "Value":
        if not isinstance(other, Value):
            return NotImplemented
        return Value(self.origins | other.origins, self.text or other.text, self.in_pieces or other.in_pieces)


NOTHING: Final = Value()


def text_value(text: str, *, origins: frozenset[str] = frozenset(), in_pieces: bool = False) -> Value:
    """A value of a known text, with what that text leads to."""
    text = text[:_MOST_TEXT]
    found = {origin for origin, path in _PATHS if path.search(text.lower())}
    if _WALLET.fullmatch(text):
        found.add(Origin.WALLET)
    return Value(origins | found, text, in_pieces)


def dotted_name(node: ast.expr) -> str:
    """A name with dots, such as `os.path.join`; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def known_text(node: ast.expr, value_of: Callable[[ast.expr], Value]) -> Value | None:
    """The text of an expression that makes one; None for one that makes something else."""
    match node:
        case ast.Constant(value=str() as text):
            return text_value(text)
        case ast.Constant(value=bytes() as data):
            return text_value(data.decode("latin-1"))
        case ast.JoinedStr(values=parts):
            values = [value_of(part.value if isinstance(part, ast.FormattedValue) else part) for part in parts]
            return _join("", values)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            values = [value_of(left), value_of(right)]
            return _join("", values, in_pieces=all(value.text for value in values))
        case ast.BinOp(op=ast.Div(), left=left, right=right):
            return _join("/", [value_of(left), value_of(right)])
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return _join(" ", [value_of(element) for element in elements])
        case ast.Subscript(value=inner, slice=ast.Slice(lower=None, upper=None, step=ast.UnaryOp(op=ast.USub()))):
            value = value_of(inner)
            return text_value(value.text[::-1], origins=value.origins, in_pieces=bool(value.text))
        case ast.Call():
            return _call_text(node, value_of)
        case _:
            return None


def _call_text(node: ast.Call, value_of: Callable[[ast.expr], Value]) -> Value | None:
    name = dotted_name(node.func)
    first = node.args[0] if node.args else None
    if name in _HOME:
        return Value(text="~")
    if name in _JOINS or (isinstance(node.func, ast.Attribute) and node.func.attr == "joinpath"):
        parts = [value_of(argument) for argument in node.args]
        if name not in _JOINS and isinstance(node.func, ast.Attribute):
            parts.insert(0, value_of(node.func.value))
        return _join("/", parts)
    if name in _SAME_TEXT and first is not None:
        return value_of(first)
    codes = _codes(node)
    if codes is not None:
        return text_value(codes, in_pieces=True)
    if first is not None and name in {"base64.b64decode", "b64decode", "bytes.fromhex", "binascii.unhexlify"}:
        return _decode(name, value_of(first).text)
    if isinstance(node.func, ast.Attribute) and node.func.attr in _SAME_RECEIVER:
        inner = value_of(node.func.value)
        return inner if inner.text else None
    return None


def _codes(node: ast.Call) -> str | None:
    """A text that is spelled in the numbers of its characters: `chr(115)`, `''.join(map(chr, [115, 121]))`."""
    match node:
        case ast.Call(func=ast.Name(id="chr"), args=[ast.Constant(value=int() as code)]):
            numbers = [code]
        case ast.Call(
            func=ast.Attribute(attr="join"),
            args=[ast.Call(func=ast.Name(id="map"), args=[ast.Name(id="chr"), ast.List(elts=elements)])],
        ):
            numbers = _numbers(elements)
        case ast.Call(
            func=ast.Attribute(attr="join"),
            args=[
                ast.GeneratorExp(
                    elt=ast.Call(func=ast.Name(id="chr")), generators=[ast.comprehension(iter=ast.List(elts=elements))]
                )
                | ast.ListComp(
                    elt=ast.Call(func=ast.Name(id="chr")), generators=[ast.comprehension(iter=ast.List(elts=elements))]
                )
            ],
        ):
            numbers = _numbers(elements)
        case ast.Call(func=ast.Name(id="bytes" | "bytearray"), args=[ast.List(elts=elements)]):
            numbers = _numbers(elements)
        case _:
            return None
    return "".join(chr(number) for number in numbers if 0 < number < 0x110000) or None  # noqa: PLR2004 -- all characters


def _numbers(elements: list[ast.expr]) -> list[int]:
    return [
        element.value for element in elements if isinstance(element, ast.Constant) and isinstance(element.value, int)
    ]


def _decode(name: str, text: str) -> Value | None:
    try:
        data = base64.b64decode(text) if "b64" in name else bytes.fromhex(text)
    except (binascii.Error, ValueError):
        return None
    return text_value(data.decode("latin-1"), in_pieces=True) if data else None


def _join(between: str, values: list[Value], *, in_pieces: bool = False) -> Value:
    origins = frozenset[str]().union(*(value.origins for value in values))
    text = between.join(value.text for value in values)
    return text_value(text, origins=origins, in_pieces=in_pieces or any(value.in_pieces for value in values))
