"""Constants in Python code: where they stand, what they are called, and the shape of the code without them."""

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from skillyard.releases.mining.acts import Context, Slot
from skillyard.releases.mining.value_types import ADDRESS, PATH
from skillyard.releases.payloads import VariableType
from skillyard.sandbox.capture.python_pairs import name_of
from skillyard.sandbox.capture.python_source import Places
from skillyard.skill.python_trees import tree_of

_STRUCTURE: Final = re.compile(r"[rwabtx+]{1,3}|utf-?8|ascii|latin-?1|\W*|", re.IGNORECASE)
"""Texts that say how something is done: modes, encodings, separators."""
_POSITIONAL: Final = {
    **dict.fromkeys(("open", "Path", "read_csv", "read_json", "read_text", "to_csv", "to_json"), "path"),
    **dict.fromkeys(("get", "post", "put", "urlopen"), "url"),
    **dict.fromkeys(("print", "write", "write_text", "info"), "text"),
}
_LONGEST: Final = 8192
_MAX_READ: Final = 64 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Constant:
    node: ast.Constant
    start: int
    end: int
    value: str
    label: str
    type: VariableType | None
    is_text: bool


def constants_of(tree: ast.Module, code: str) -> Iterator[Constant]:
    """The constants that are values, in the order in which they are read."""
    places = Places(code)
    finder = _Finder()
    finder.visit(tree)
    for node, label in finder.found:
        value = node.value
        kind: VariableType | None = None
        if isinstance(value, bool):
            kind = VariableType.BOOLEAN
        elif isinstance(value, int):
            kind = VariableType.INTEGER
        elif isinstance(value, float):
            kind = VariableType.NUMBER
        elif isinstance(value, str) and PATH.fullmatch(value) and not ADDRESS.match(value):
            kind = VariableType.PATH
        start, end = places.of(node)
        text = str(value).lower() if isinstance(value, bool) else str(value)
        is_text = isinstance(value, str)
        yield Constant(node=node, start=start, end=end, value=text, label=label, type=kind, is_text=is_text)


def shape_of(tree: ast.Module) -> str:
    """The code without its values, names and structure as they are."""
    finder = _Finder()
    other = copy.deepcopy(tree)
    finder.visit(other)
    for node, _ in finder.found:
        node.value = f"?{type(node.value).__name__}"
    body = [node for node in other.body if not _is_remark(node)]
    return ast.dump(ast.Module(body=body, type_ignores=[]))


class CodePlaces(NamedTuple):
    form: str
    places: list[tuple[int, int, Slot]]


def code_places(code: str) -> CodePlaces | None:
    """The values in code that stands in something else, where each is written as it is; None if it cannot be read."""
    tree = parsed(code)
    if tree is None:
        return None
    places: list[tuple[int, int, Slot]] = []
    others: list[str] = []
    for one in constants_of(tree, code):
        start, end = (one.start + 1, one.end - 1) if one.is_text else (one.start, one.end)
        if code[start:end] == one.value:
            slot = Slot(value=one.value, context=Context.WORD, label=one.label, type=one.type)
            places.append((start, end, slot))
        else:
            others.append(one.value)
    return CodePlaces(" ".join([shape_of(tree), *others]), places)


def parsed(code: str) -> ast.Module | None:
    """Code as a tree; None for what cannot be read, or is too long to be."""
    return tree_of(code) if len(code) <= _MAX_READ else None


def _is_remark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


class _Finder(ast.NodeVisitor):
    """Finds the constants that are values, with what they are called."""

    def __init__(self) -> None:
        self.found: list[tuple[ast.Constant, str]] = []
        self._label = ""

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, str) and (_STRUCTURE.fullmatch(value) or len(value) > _LONGEST):
            return
        if isinstance(value, str | int | float):
            self.found.append((node, self._label))

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self._named("", node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self.visit(target)
        if len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for one, value in zip(target.elts, node.value.elts, strict=False):
                    self._named(name_of(one), value)
                return
            self._named(name_of(target), node.value)
        else:
            self._named("", node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._named(name_of(node.target), node.value)

    def visit_keyword(self, node: ast.keyword) -> None:
        self._named(node.arg or "", node.value)

    def visit_Dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            self._named(str(key.value) if isinstance(key, ast.Constant) else self._label, value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        if not isinstance(node.slice, ast.Constant | ast.Slice):
            self.visit(node.slice)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.visit(part.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        name = name_of(node.left)
        self.visit(node.left)
        for other in node.comparators:
            self._named(name, other)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else name_of(node.func)
        self.visit(node.func)
        label = _POSITIONAL.get(name, "")
        for index, argument in enumerate(node.args):
            own = label if index == 0 or label == "text" else ""
            self._named(own or self._label or name, argument)
        for word in node.keywords:
            self.visit(word)

    def visit_match_case(self, node: ast.match_case) -> None:
        for statement in node.body:
            self.visit(statement)

    def _named(self, label: str, node: ast.AST) -> None:
        before, self._label = self._label, label
        self.visit(node)
        self._label = before
