"""Secrets in Python code: texts that are given to names, arguments and keys which promise one."""

import ast
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from skillyard.sandbox.capture.markers import has_marker
from skillyard.sandbox.capture.python_source import Places
from skillyard.sandbox.capture.secret_names import is_secret_label, is_secret_name, secret_called
from skillyard.sandbox.capture.secret_texts import Learn, mask_forms, mask_pairs, mask_source, without_scheme
from skillyard.sandbox.capture.shell_secrets import mask_shell

_TELLING: Final = re.compile(
    r"pass|pwd|secret|token|key|cred|auth|otp|code|pin|cvv|login|비밀|암호|인증|토큰|密|口令|令牌|パスワード|トークン",
    re.IGNORECASE,
)
_SIGNING_IN: Final = frozenset({"login", "log_in", "sign_in", "signin", "authenticate", "HTTPBasicAuth", "BasicAuth"})
"""Functions that take a name and a password."""
_TYPING: Final = frozenset({"fill", "type", "press_sequentially", "send_keys", "set_value", "sendline", "write"})
_RUNNING: Final = frozenset({"system", "popen", "run", "Popen", "call", "check_call", "check_output", "getoutput"})
"""Functions that take a command."""
_PAIR: Final = 2
_SHORTEST_PART: Final = 8
"""Characters of a formatted string that may be a secret by themselves."""


class _Change(NamedTuple):
    start: int
    end: int
    instead: str


def mask_python(code: str, learn: Learn) -> str:
    """Code with markers in place of its secrets."""
    if not _TELLING.search(code):
        return mask_forms(code, learn)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the code says badly was already said to whoever ran it
            tree = ast.parse(code)
        changes = {change.start: change for change in _changes(tree, code, learn)}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return mask_source(code, learn)
    for change in sorted(changes.values(), reverse=True):
        code = code[: change.start] + change.instead + code[change.end :]
    return mask_forms(code, learn)


def _changes(tree: ast.Module, code: str, learn: Learn) -> Iterator[_Change]:
    places = Places(code)
    secret: set[int] = set()
    for node in ast.walk(tree):
        for name, value in _pairs(node):
            for text in _texts(value):
                start, end = places.of(text)
                if not has_marker(code[start:end]) and start not in secret:
                    secret.add(start)
                    yield _Change(start, end, f'"{learn(_value(text), secret_called(name))}"')
    for node, text, mask in _said(tree):
        start, end = places.of(node)
        masked = mask(text, learn) if start not in secret else text
        if masked != text:
            yield _Change(start, end, repr(masked))


def _said(tree: ast.Module) -> Iterator[tuple[ast.expr, str, Callable[[str, Learn], str]]]:
    """Texts in the code that may hold secrets themselves: JSON, addresses, commands."""
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    commands = {id(one) for node in ast.walk(tree) if isinstance(node, ast.Call) for one in _command(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node, node.value, mask_shell if id(node) in commands else mask_pairs


def _command(call: ast.Call) -> Sequence[ast.expr]:
    return call.args[:1] if _name(call.func) in _RUNNING else ()


def _pairs(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Telling names and what is given to them."""
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
            yield from _given(_name(left), right)
            yield from _given(_name(right), left)
        case ast.Call():
            yield from _called(node)
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
        yield from _given(_name(target), value)


def _given(name: str, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if name == "auth" and isinstance(value, ast.Tuple) and len(value.elts) == _PAIR:
        yield "password", value.elts[1]
    elif is_secret_name(name):
        yield name, value


def _called(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """`fill("#password", …)`, `get_by_label("Password").fill(…)`, `login(user, …)`."""
    for first, second in zip(call.args, call.args[1:], strict=False):
        for name in _telling(first):
            yield name, second
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call) and call.func.attr in _TYPING:
        for name in (name for argument in call.func.value.args for name in _telling(argument)):
            yield from ((name, argument) for argument in call.args[:1])
    if _name(call.func) in _SIGNING_IN and len(call.args) >= _PAIR:
        yield "password", call.args[1]


def _telling(node: ast.expr) -> Iterator[str]:
    """The name of the secret that a text speaks of."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        if is_secret_name(node.value):
            yield node.value
        elif is_secret_label(node.value):
            yield "password"


def _name(node: ast.expr) -> str:
    """What something is called: a variable, an attribute, a key."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
        case _:
            return ""


def _texts(value: ast.expr) -> Iterator[ast.expr]:
    """The texts that are the value, or that one of its choices is."""
    match value:
        case ast.Constant(value=str() | bytes()) if value.value:
            yield value
        case ast.JoinedStr() if len(_value(value)) >= _SHORTEST_PART:
            yield value
        case ast.BinOp(left=left, right=right):
            yield from _texts(left)
            yield from _texts(right)
        case ast.IfExp(body=body, orelse=otherwise):
            yield from _texts(body)
            yield from _texts(otherwise)
        case ast.BoolOp(values=values):
            for one in values:
                yield from _texts(one)
        case ast.Call(func=ast.Attribute(value=inner, attr="encode" | "strip")):
            yield from _texts(inner)
        case _:
            pass


def _value(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        text = node.value.decode("utf-8", "replace") if isinstance(node.value, bytes) else str(node.value)
        return without_scheme(text)
    parts = node.values if isinstance(node, ast.JoinedStr) else []
    texts = (without_scheme(str(part.value)) for part in parts if isinstance(part, ast.Constant))
    return max(texts, key=len, default="")
