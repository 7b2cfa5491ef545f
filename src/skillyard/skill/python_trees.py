"""Python code as a tree, whoever wrote it."""

import ast
import threading
import warnings
from typing import Final

_TURN: Final = threading.Lock()
"""Threads that make trees at once can break each other's in Python 3.11; which warnings show is for all of them."""


def tree_of(code: str) -> ast.Module | None:
    """Code as a tree; None for what cannot be read."""
    with _TURN, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is said badly was said to whoever ran it
        try:
            return ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
