"""Places in Python code."""

import ast
import re
from typing import Final

_LINES: Final = re.compile(r"[^\n\r]*(?:\r\n|\n|\r)|[^\n\r]+")
"""As the parser counts them: other signs that break lines elsewhere do not here."""


class Places:
    """Where nodes stand in the code; the parser counts bytes."""

    def __init__(self, code: str) -> None:
        self._lines = [line.encode() for line in _LINES.findall(code)] or [b""]
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line.decode()))

    def of(self, node: ast.expr) -> tuple[int, int]:
        """Its first character, and the one after its last."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self._at(node.lineno, node.col_offset), self._at(end_line, end_column)

    def _at(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(self._lines[line - 1][:column].decode())
