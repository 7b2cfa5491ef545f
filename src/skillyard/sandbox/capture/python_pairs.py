"""What Python code gives to names, arguments, keys and options that promise a secret."""

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from skillyard.sandbox.capture.secret_names import is_secret_label, is_secret_name

_SIGNING_IN: Final = frozenset({"login", "log_in", "sign_in", "signin", "authenticate", "HTTPBasicAuth", "BasicAuth"})
"""Functions that take a name and a password."""
_TYPING: Final = frozenset({"fill", "type", "press_sequentially", "send_keys", "set_value", "sendline", "write"})
_PAIR: Final = 2
_NAME_BEFORE: Final = re.compile(r"([\w.-]+)(?:\s*[=:]\s*|\s+)[\"']?\Z")
"""The end of a text that names what is put behind it: `"--password " + …`."""


def given_to_secrets(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Telling names and what this part of the code gives to them."""
    yield from _by_name(node)
    yield from _by_text(node)


def _by_name(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _assigned(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            yield from _assigned(target, value)
        case ast.keyword(arg=str(name), value=value):
            yield from _given(name, value)
        case ast.Dict(keys=keys, values=values):
            yield from _of_keys(keys, values)
        case ast.arguments():
            yield from _defaults(node)
        case ast.Compare(left=left, comparators=[right]):
            yield from _given(name_of(left), right)
            yield from _given(name_of(right), left)
        case _:
            pass


def _by_text(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Call():
            yield from _called(node)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from _joined(left, right)
        case ast.JoinedStr(values=values):
            for left, right in pairwise(values):
                if isinstance(right, ast.FormattedValue) and isinstance(right.value, ast.Name):
                    yield from _joined(left, right.value)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            for first, second in pairwise(elements):
                yield from _optioned(first, second)
        case _:
            pass


def _of_keys(keys: Sequence[ast.expr | None], values: Sequence[ast.expr]) -> Iterator[tuple[str, ast.expr]]:
    for key, value in zip(keys, values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield from _given(key.value, value)


def _defaults(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    named = [*arguments.posonlyargs, *arguments.args]
    last = named[len(named) - len(arguments.defaults) :]
    for argument, default in (
        *zip(last, arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ):
        if default is not None:
            yield from _given(argument.arg, default)


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for one, given in zip(target.elts, value.elts, strict=False):
            yield from _assigned(one, given)
    else:
        yield from _given(name_of(target), value)


def _joined(left: ast.expr, right: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """`"--password " + value`, `f"password={value}"`."""
    last = left.right if isinstance(left, ast.BinOp) else left
    before = _NAME_BEFORE.search(text_of(last))
    if before:
        yield from _given(before[1], right)


def _optioned(option: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """`["--password", value]`, where the value has a name; those that are texts are read as a shell's words."""
    if isinstance(value, ast.Name) and text_of(option).startswith("-"):
        yield from _given(text_of(option), value)


def _given(name: str, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if name == "auth" and isinstance(value, ast.Tuple) and len(value.elts) == _PAIR:
        yield "password", value.elts[1]
    elif is_secret_name(name):
        yield name, value


def _called(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """`fill("#password", …)`, `get_by_label("Password").fill(…)`, `login(user, …)`."""
    for first, second in pairwise(call.args):
        for name in _telling(first):
            yield name, second
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call) and call.func.attr in _TYPING:
        for name in (name for argument in call.func.value.args for name in _telling(argument)):
            yield from ((name, argument) for argument in call.args[:1])
    if name_of(call.func) in _SIGNING_IN and len(call.args) >= _PAIR:
        yield "password", call.args[1]


def _telling(node: ast.expr) -> Iterator[str]:
    """The name of the secret that a text speaks of."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        if is_secret_name(node.value):
            yield node.value
        elif is_secret_label(node.value):
            yield "password"


def name_of(node: ast.expr) -> str:
    """What something is called: a variable, an attribute, a key."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
        case _:
            return ""


def text_of(node: ast.expr) -> str:
    """The text that a part of the code is, or none."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
