"""The format touches no file. Modules that could are kept out by import-linter; this is for what they cannot see."""

import ast
from pathlib import Path

import pytest

import skillyard.skill

ROOM = Path(skillyard.skill.__file__).parent
IMPURE_NAMES = {"open", "input", "print", "exec", "eval", "__import__"}


@pytest.mark.parametrize("module", sorted(ROOM.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOM)))
def test_a_module_of_the_format_neither_opens_nor_prints(module):
    tree = ast.parse(module.read_text(encoding="utf-8"))
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    from_pathlib = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "pathlib"
        for alias in node.names
    }
    assert called.isdisjoint(IMPURE_NAMES)
    assert from_pathlib <= {"PurePosixPath"}
