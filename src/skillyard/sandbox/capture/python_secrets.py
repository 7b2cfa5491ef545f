"""Secrets in Python code: texts that are given to names, arguments and keys which promise one."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from skillyard.sandbox.capture.markers import has_marker
from skillyard.sandbox.capture.python_pairs import given_to_secrets, name_of, text_of
from skillyard.sandbox.capture.python_source import Places
from skillyard.sandbox.capture.secret_names import secret_called
from skillyard.sandbox.capture.secret_texts import Learn, mask_forms, mask_pairs, mask_source, without_scheme
from skillyard.sandbox.capture.shell_secrets import WITH_PASSWORD, mask_arguments, mask_shell
from skillyard.skill.python_trees import tree_of

_TELLING: Final = re.compile(
    r"pass|pwd|secret|token|key|cred|auth|otp|code|pin|cvv|login|비밀|암호|인증|토큰|密|口令|令牌|パスワード|トークン|curl|"
    + "|".join(WITH_PASSWORD),
    re.IGNORECASE,
)
_RUNNING: Final = frozenset({"system", "popen", "run", "Popen", "call", "check_call", "check_output", "getoutput"})
"""Functions that take a command."""
_ANYTHING: Final = "$value"
"""Stands for an argument that is no text, as a variable does in a shell."""
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
    tree = tree_of(code)
    if tree is None:
        return mask_source(code, learn)
    try:
        changes = {change.start: change for change in _changes(tree, code, learn)}
    except (ValueError, RecursionError, MemoryError):
        return mask_source(code, learn)
    for change in sorted(changes.values(), reverse=True):
        code = code[: change.start] + change.instead + code[change.end :]
    return mask_forms(code, learn)


def _changes(tree: ast.Module, code: str, learn: Learn) -> Iterator[_Change]:
    places = Places(code)
    assigned = _values_by_name(tree)
    secret: set[int] = set()
    for node in ast.walk(tree):
        for name, value in given_to_secrets(node):
            for text in _texts(value, assigned):
                start, end = places.of(text)
                if not has_marker(code[start:end]) and start not in secret:
                    secret.add(start)
                    yield _Change(start, end, f'"{learn(_value(text), secret_called(name))}"')
        for text, masked in _arguments(node, learn):
            start, end = places.of(text)
            if start not in secret:
                secret.add(start)
                yield _Change(start, end, repr(masked))
    for node, text, mask in _said(tree):
        start, end = places.of(node)
        masked = mask(text, learn) if start not in secret else text
        if masked != text:
            yield _Change(start, end, repr(masked))


def _values_by_name(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """What variables are set to: a secret may be used under a name that promises none."""
    values: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    values.setdefault(target.id, []).append(node.value)
    return values


def _arguments(node: ast.AST, learn: Learn) -> Iterator[tuple[ast.expr, str]]:
    """The texts of a list that hold secrets if it is a command with its arguments, and those texts masked."""
    if not isinstance(node, ast.List | ast.Tuple):
        return
    texts = [text_of(each) or _ANYTHING for each in node.elts]
    for each, before, masked in zip(node.elts, texts, mask_arguments(texts, learn), strict=True):
        if masked != before:
            yield each, masked


def _said(tree: ast.Module) -> Iterator[tuple[ast.expr, str, Callable[[str, Learn], str]]]:
    """Texts in the code that may hold secrets themselves: JSON, addresses, commands."""
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    commands = {id(one) for node in ast.walk(tree) if isinstance(node, ast.Call) for one in _command(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node, node.value, mask_shell if id(node) in commands else mask_pairs


def _command(call: ast.Call) -> Sequence[ast.expr]:
    return call.args[:1] if name_of(call.func) in _RUNNING else ()


def _texts(value: ast.expr, assigned: Mapping[str, Sequence[ast.expr]]) -> Iterator[ast.expr]:
    """The texts that are the value, or that one of its choices is."""
    match value:
        case ast.Name(id=name):
            for one in assigned.get(name, ()):
                yield from _texts(one, {})
        case ast.Constant(value=str() | bytes()) if value.value:
            yield value
        case ast.JoinedStr() if len(_value(value)) >= _SHORTEST_PART:
            yield value
        case ast.BinOp(left=left, right=right):
            yield from _texts(left, assigned)
            yield from _texts(right, assigned)
        case ast.IfExp(body=body, orelse=otherwise):
            yield from _texts(body, assigned)
            yield from _texts(otherwise, assigned)
        case ast.BoolOp(values=values):
            for one in values:
                yield from _texts(one, assigned)
        case ast.Call(func=ast.Attribute(value=inner, attr="encode" | "strip")):
            yield from _texts(inner, assigned)
        case _:
            pass


def _value(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        text = node.value.decode("utf-8", "replace") if isinstance(node.value, bytes) else str(node.value)
        return without_scheme(text)
    parts = node.values if isinstance(node, ast.JoinedStr) else []
    texts = (without_scheme(str(part.value)) for part in parts if isinstance(part, ast.Constant))
    return max(texts, key=len, default="")
