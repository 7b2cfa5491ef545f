"""What was done in Python: one piece of code, with its constants as values."""

import ast
import builtins
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from skillyard.releases.mining.acts import Act, Context, Ref, Slot, Template, written
from skillyard.releases.mining.python_places import Constant, constants_of, parsed, shape_of
from skillyard.releases.payloads import Step, StepType, VariableType
from skillyard.releases.placeholders import literal

_SHOWING: Final = frozenset({"print", "len", "type", "repr", "str", "dir", "help", "list", "sorted", "display"})
_MUCH: Final = 3
"""Statements, or calls, beyond which more make no difference."""
_WRITE_MODE: Final = re.compile(r"[rbt+]*[wax][rbt+]*")
_WRITERS: Final = frozenset(
    {"write_text", "write_bytes", "to_csv", "to_json", "to_excel", "to_parquet", "savefig", "mkdir"}
)
_READERS: Final = frozenset({"read_text", "read_bytes", "read_csv", "read_json", "read_excel", "read_parquet"})


@dataclass(kw_only=True, eq=False)
class PythonAct(Act):
    code: str
    constants: tuple[Constant, ...] = field(default=(), init=False)
    type: StepType = field(default=StepType.PYTHON, init=False)

    def __post_init__(self) -> None:
        self.constants = tuple(constants_of(self.tree, self.code)) if self.tree is not None else ()
        self.slots = tuple(
            Slot(value=one.value, context=Context.LITERAL, label=one.label, type=one.type) for one in self.constants
        )

    @cached_property
    def tree(self) -> ast.Module | None:
        """None for what cannot be read: a replay can still run it as it is."""
        return parsed(self.code)

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        return [] if self.tree is None else list(ast.walk(self.tree))

    @cached_property
    def defines(self) -> frozenset[str]:
        """Names that it leaves for what is run after it."""
        found: set[str] = set()
        for node in self._nodes:
            match node:
                case ast.Name(id=name, ctx=ast.Store()):
                    found.add(name)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    found.add(name)
                case ast.alias(name=name, asname=other):
                    found.add(other or name.split(".")[0])
                case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                    found.add(name)
                case _:
                    pass
        return frozenset(found)

    @cached_property
    def needs(self) -> frozenset[str]:
        """Names that something before it must have left."""
        used = {node.id for node in self._nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        return frozenset(used - self.defines - set(dir(builtins)))

    @cached_property
    def mentions(self) -> frozenset[str]:
        return frozenset(one.value.removeprefix("./") for one in self.constants if one.type is VariableType.PATH)

    @cached_property
    def writes(self) -> list[int]:
        """The slots that are paths of files which are there afterwards."""
        return self._of_files(writing=True)

    @cached_property
    def reads(self) -> list[int]:
        return self._of_files(writing=False)

    @property
    def calls(self) -> list[str]:
        """What it calls, in its order, but what only shows something."""
        calls = [node for node in self._nodes if isinstance(node, ast.Call)]
        shown = [call for call in calls if _called(call) and _called(call) not in _SHOWING]
        return list(dict.fromkeys(_whole_name(call) for call in shown))

    @property
    def is_look(self) -> bool:
        return self.tree is not None and not self.calls and all(isinstance(node, ast.Expr) for node in self.tree.body)

    @property
    def weight(self) -> int:
        if self.tree is None:
            return 1
        statements = [node for node in self.tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]
        return 0 if self.is_look else min(len(statements), _MUCH) + min(len(self.calls), _MUCH)

    @cached_property
    def _shape(self) -> str:
        return shape_of(self.tree) if self.tree is not None else " ".join(self.code.split())

    def form(self, typed: Collection[str]) -> str:  # noqa: ARG002 -- no value is part of it
        return f"py {self._shape}"

    def skeleton(self) -> str:
        return self.form(())

    def step(self, templates: Sequence[Template | None], ref: str) -> Step:  # noqa: ARG002 -- of browsers
        pieces: list[str] = []
        at = 0
        for constant, template in sorted(zip(self.constants, templates, strict=True), key=lambda pair: pair[0].start):
            instead = _literal(constant, template)
            if instead is not None:
                pieces += [literal(self.code[at : constant.start]), instead]
                at = constant.end
        return Step(type=StepType.PYTHON, text="".join([*pieces, literal(self.code[at:])]))

    def _of_files(self, *, writing: bool) -> list[int]:
        found: set[int] = set()
        for node in self._nodes:
            if isinstance(node, ast.Call):
                found |= set(self._paths_of(node, writing=writing))
        return sorted(found)

    def _paths_of(self, call: ast.Call, *, writing: bool) -> Iterator[int]:
        name = _called(call)
        if name == "open" and call.args:
            given = [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "mode")]
            mode = next((one.value for one in given if isinstance(one, ast.Constant)), "r")
            if bool(_WRITE_MODE.fullmatch(str(mode))) is writing:
                yield from self._index_of(call.args[0])
        elif name in (_WRITERS if writing else _READERS):
            path = call.args[:1]
            if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
                path = call.func.value.args[:1]  # Path("…").write_text(…)
            for one in path:
                yield from self._index_of(one)

    def _index_of(self, node: ast.expr) -> Iterator[int]:
        return (index for index, constant in enumerate(self.constants) if constant.node is node)


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _whole_name(call: ast.Call) -> str:
    """What is called, with what it belongs to: `json.dump`."""
    match call.func:
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if len(owner) > 1 and owner != "self":
            return f"{owner}.{name}"
        case _:
            return _called(call)


def _literal(constant: Constant, template: Template | None) -> str | None:
    """What stands in place of a constant; None for itself."""
    if template is None or not any(isinstance(part, Ref) for part in template):
        return None
    if constant.is_text:
        return repr(written(template))
    return written(template) if len(template) == 1 else None
