"""Values in Python code: in a string they become part of that string, elsewhere a literal of their type."""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NoReturn, TypeAlias

from skillyard.errors import InputError
from skillyard.releases.placeholders import Scalar, escape_at, fill_text, pieces, placeholder_at, text_of, unescaped
from skillyard.skill.python_trees import tree_of

_Values: TypeAlias = Mapping[str, Scalar]

_STRING: Final = re.compile(r"([rbuf]{0,2})('''|\"\"\"|'|\")", re.IGNORECASE)
_PREFIXES: Final = frozenset({"", "r", "b", "u", "f", "br", "fr"})
"""With their letters in order."""
_WORD: Final = re.compile(r"\w+")
_PLAIN: Final = re.compile(r"[\w @.,:/+-]*")
"""Values that mean nothing to any code, wherever they stand in a string."""
_ENVIRONMENT: Final = "__import__({0}os{0}).environ[{0}{1}{0}]"


def fill_python(code: str, values: _Values, *, secrets: Mapping[str, str] | None = None) -> str:
    """Code with values in it. Of secrets, the names of environment variables are given: their values are not in it."""
    hidden = dict(secrets or {})
    written = _Filling(code=code, values=values, secrets=hidden).whole()
    told = {name: value for name, value in values.items() if name not in hidden}
    expected = _shape(
        _Filling(code=code, values={**values, **{n: _like(v) for n, v in told.items()}}, secrets=hidden).whole()
    )
    if expected is None:
        odd = next((name for name, value in told.items() if not _PLAIN.fullmatch(text_of(value))), None)
        if odd is not None and odd in {name for _, name in pieces(code)}:
            _refuse(odd, "stands in code that cannot be read, and has more than letters, digits and simple signs")
    elif _shape(written) != expected:
        _refuse(", ".join(sorted(told)), "would change what the code does")
    return written


@dataclass(kw_only=True)
class _Filling:
    code: str
    values: _Values
    secrets: Mapping[str, str]
    at: int = 0
    written: list[str] = field(default_factory=list[str])

    def whole(self) -> str:
        while self.at < len(self.code):
            self._next()
        return "".join(self.written)

    def _next(self) -> None:
        code, at = self.code, self.at
        placeholder, escape, word = placeholder_at(code, at), escape_at(code, at), _WORD.match(code, at)
        opening = _STRING.match(code, at)
        if placeholder:
            self._put(self._literal(placeholder[0]), placeholder[1])
        elif escape:
            self._put(*escape)
        elif code[at] == "#":
            end = code.find("\n", at)
            end = len(code) if end < 0 else end
            self._put(fill_text(code[at:end], self._remark), end)
        elif opening and "".join(sorted(opening[1].lower())) in _PREFIXES:
            end = _end_of_string(code, opening.end(), opening[2])
            self._put(self._string(code[at:end], opening[1].lower(), opening[2]), end)
        else:
            end = word.end() if word else at + 1
            self._put(code[at:end], end)

    def _put(self, text: str, end: int) -> None:
        self.written.append(text)
        self.at = end

    def _literal(self, name: str) -> str:
        value = self.values[name]
        if name in self.secrets:
            read = _ENVIRONMENT.format('"', self.secrets[name])
            return read if isinstance(value, str) else f"{type(value).__name__}({read})"
        written = repr(value)
        return f"({written})" if written.startswith("-") else written

    def _remark(self, name: str) -> str:
        return f"{{{{{name}}}}}" if name in self.secrets else repr(text_of(self.values[name]))

    def _string(self, written: str, prefix: str, quote: str) -> str:
        parts = list(pieces(written))
        names = [name for _, name in parts if name is not None]
        if not names:
            return unescaped(written)
        if "f" in prefix:
            return self._formatted(written, prefix, quote)
        content = _evaluated(written)
        if isinstance(content, bytes):
            if self.secrets.keys() & set(names):
                _refuse(names[0], "is a secret in a bytes literal; write it as a text and .encode() that")
            texts = [unescaped(before) for before, _ in pieces(content.decode("latin-1"))]
            filled = [text_of(self.values[name]).encode() for name in names]
            return repr(b"".join(a.encode("latin-1") + b for a, b in zip(texts, [*filled, b""], strict=True)))
        if self.secrets.keys() & set(names):
            return self._with_secrets(content)
        return repr(fill_text(content, lambda name: text_of(self.values[name])))

    def _with_secrets(self, content: str) -> str:
        """A string of which some is read when it is needed; a formatted one, for it may stand beside others."""
        written = [
            _escaped(unescaped(before)) + ("" if name is None else self._in_formatted(name, '"'))
            for before, name in pieces(content)
        ]
        return f'f"{"".join(written)}"'

    def _in_formatted(self, name: str, quote: str) -> str:
        if name not in self.secrets:
            return _escaped(text_of(self.values[name]))
        return "{" + _ENVIRONMENT.format("'" if quote[0] == '"' else '"', self.secrets[name]) + "}"

    def _formatted(self, written: str, prefix: str, quote: str) -> str:
        """A formatted string: values are part of its text, not of what it computes."""
        done: list[str] = []
        at = depth = 0
        while at < len(written):
            placeholder, escape = placeholder_at(written, at), escape_at(written, at)
            if placeholder:
                name, at = placeholder
                if depth:
                    _refuse(name, "stands where a formatted string computes something; give it a name in the code")
                if "r" in prefix and name not in self.secrets and not _PLAIN.fullmatch(text_of(self.values[name])):
                    _refuse(
                        name, "stands in a raw formatted string, and has more than letters, digits and simple signs"
                    )
                raw = "r" in prefix and name not in self.secrets
                done.append(text_of(self.values[name]) if raw else self._in_formatted(name, quote))
            elif escape:
                done.append(escape[0])
                at = escape[1]
            else:
                pair = not depth and written[at : at + 2] in {"{{", "}}"}
                depth += 0 if pair else {"{": 1, "}": -1}.get(written[at], 0)
                done.append(written[at : at + 1 + pair])
                at += 1 + pair
        return "".join(done)


def _end_of_string(code: str, at: int, quote: str) -> int:
    while at < len(code):
        if code[at] == "\\":
            at += 2
        elif code.startswith(quote, at):
            return at + len(quote)
        elif code[at] == "\n" and len(quote) == 1:
            return at
        else:
            at += 1
    return len(code)


def _evaluated(written: str) -> str | bytes:
    match tree_of(written):
        case ast.Module(body=[ast.Expr(value=ast.Constant(value=str() | bytes() as value))]):
            return value
        case _:
            raise InputError(
                f"code: the string {written[:80]!r} is not whole.",
                hint="Close it, or take the placeholder out of it.",
                details={"field": "code"},
            )


def _escaped(text: str) -> str:
    """A text in a formatted string between any quotes."""
    return "".join(
        character if re.match(r"[A-Za-z0-9 _]", character) else f"\\U{ord(character):08x}" for character in text
    )


def _like(value: Scalar) -> Scalar:
    """A harmless value of the same type and sign."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return "x"
    return type(value)(-1 if repr(value).startswith("-") else 1)


class _Shape(ast.NodeTransformer):
    """Code without the values in it."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant(value=type(node.value).__name__)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        computed = [part for part in node.values if not isinstance(part, ast.Constant)]
        return ast.JoinedStr(values=[self.visit(part) for part in computed])


def _shape(code: str) -> str | None:
    tree = tree_of(code)
    try:
        return None if tree is None else ast.dump(_Shape().visit(tree))
    except (RecursionError, MemoryError):
        return None


def _refuse(name: str, problem: str) -> NoReturn:
    raise InputError(
        f"code: the variable {name!r} {problem}.",
        hint="Write it as an argument of its own, such as value = {{name}}, and use that.",
        details={"field": "code", "value": name},
    )
