"""Reading JSON as people write it: with comments and trailing commas, every mistake named by its line."""

import json
import re
from typing import Final

from skillyard.errors import InputError, LimitError

MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 64

_TOKEN: Final = re.compile(
    r"""
    (?P<string>"(?:[^"\\\n]|\\[^\n])*")
    |(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<space>\s+)
    |(?P<open>[\[{])
    |(?P<close>[\]}])
    |(?P<comma>,)
    |(?P<other>[^\s"\[\]{},/]+)
    """,
    re.VERBOSE | re.DOTALL,
)


def parse_jsonc(text: str, *, file: str = "", most: int = MAX_BYTES) -> object:
    """The value in a JSON text of at most so many characters, with `//` and `/* */` comments and trailing commas."""
    if len(text) > most:
        raise LimitError(
            f"{file or 'The text'} has {len(text):,} characters; at most {most:,} are read.",
            hint="Make the file smaller.",
            details={"file": file, "limit": most},
        )
    try:
        return json.loads(_plain(text.removeprefix("\ufeff"), file), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise _mistake(error.msg, error.lineno, file) from None
    except ValueError as error:
        raise _mistake(str(error), 0, file) from None


def _plain(text: str, file: str) -> str:
    """The same JSON without comments and trailing commas, every line where it was."""
    parts: list[str] = []
    comma = -1
    after_value = False
    depth = 0
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _mistake(f"{text[position]!r} is not expected here", _line(text, position), file)
        kind, token = match.lastgroup, match[0]
        if kind == "comment":
            token = "\n" * token.count("\n") or " "
        elif kind == "comma":
            comma = len(parts) if after_value else -1
            after_value = False
        elif kind == "close" and comma >= 0:
            parts[comma] = " "
        if kind in {"string", "other", "open", "close"}:
            comma = -1
            after_value = kind != "open"
        depth += (kind == "open") - (kind == "close")
        if depth > MAX_DEPTH:
            raise _mistake(f"more than {MAX_DEPTH} brackets are open", _line(text, position), file)
        parts.append(token)
        position = match.end()
    return "".join(parts)


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _refuse_constant(name: str) -> object:
    msg = f"{name} is not JSON"
    raise ValueError(msg)


def _mistake(message: str, line: int, file: str) -> InputError:
    where = f", line {line}" if line else ""
    return InputError(
        f"{file or 'The text'} is not JSON{where}: {message}.",
        hint="Names and texts need double quotes; comments and trailing commas are fine.",
        details={"file": file, "line": line},
    )
