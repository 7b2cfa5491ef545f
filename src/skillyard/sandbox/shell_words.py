"""A shell command as its words: what each says, and where it stands in what was written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

MAX_READ: Final = 64 * 1024
"""Characters; what is longer is not read word by word."""
_OPERATOR: Final = re.compile(r"&&|\|\||;;|\|&|[|;&()\n]")
_REDIRECT: Final = re.compile(r"(\d*)(<<<|<<-|<<|>>|>\||>&|<&|&>>|&>|<>|<|>)")
_BLANK: Final = " \t\r"
_ENDS_WORD: Final = frozenset(" \t\r\n|;&()<>")
_DEEPEST: Final = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Word:
    """One word; expansions such as `$NAME` stand in its text as they were written."""

    text: str
    start: int
    end: int
    places: tuple[int, ...]
    """Where each character of the text stands in what was written."""
    expansions: tuple[tuple[int, int], ...] = ()
    """Which parts of the text are expansions."""

    @property
    def expands(self) -> bool:
        return bool(self.expansions)

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Where a part of the text stands in what was written."""
        if first >= last:
            return self.end, self.end
        return self.places[first], self.places[last - 1] + 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Redirect:
    operator: str
    target: Word


@dataclass(frozen=True, kw_only=True, slots=True)
class Heredoc:
    """Lines that a command is given to read, and where they stand."""

    start: int
    end: int


@dataclass(kw_only=True, slots=True)
class Simple:
    """One command of a line, and what follows it."""

    words: list[Word] = field(default_factory=list[Word])
    redirects: list[Redirect] = field(default_factory=list[Redirect])
    heredocs: list[Heredoc] = field(default_factory=list[Heredoc])
    operator: str = ""
    """`|`, `&&`, `;` and the like; empty at the end."""

    @property
    def is_empty(self) -> bool:
        return not (self.words or self.redirects)


class UnreadableError(Exception):
    """The text is not what a shell would read: a quote is open, or it is too long."""


def read_shell(text: str) -> list[Simple]:
    """The commands in a text, one after the other."""
    if len(text) > MAX_READ:
        raise UnreadableError
    return list(_Reader(text).commands())


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._waiting: list[tuple[Simple, str, bool]] = []
        """Heredocs that begin after this line: of which command, how they end, whether tabs are stripped."""

    def commands(self) -> Iterator[Simple]:
        text = self._text
        simple = Simple()
        while self._at < len(text):
            character = text[self._at]
            redirect = _REDIRECT.match(text, self._at)
            if character in _BLANK:
                self._at += 1
            elif text.startswith("\\\n", self._at):
                self._at += 2
            elif character == "#":
                self._at = _line_end(text, self._at)
            elif redirect:
                self._redirect(simple, redirect)
            elif character in "|;&()\n":
                simple.operator = self._operator()
                if not simple.is_empty or simple.operator in {"(", ")"}:
                    yield simple
                simple = Simple()
            else:
                simple.words.append(self._word())
        if not simple.is_empty:
            yield simple

    def _operator(self) -> str:
        found = _OPERATOR.match(self._text, self._at)
        if found is None:
            raise UnreadableError
        self._at = found.end()
        if found[0] == "\n":
            self._bodies()
        return found[0]

    def _redirect(self, simple: Simple, found: re.Match[str]) -> None:
        self._at = found.end()
        while self._at < len(self._text) and self._text[self._at] in _BLANK:
            self._at += 1
        target = self._word()
        if found[2] in {"<<", "<<-"}:
            self._waiting.append((simple, target.text, found[2] == "<<-"))
        else:
            simple.redirects.append(Redirect(operator=found[0], target=target))

    def _bodies(self) -> None:
        for simple, ending, tabs in self._waiting:
            start = self._at
            while self._at < len(self._text):
                line_end = _line_end(self._text, self._at)
                line = self._text[self._at : line_end]
                body_end = self._at
                self._at = min(line_end + 1, len(self._text))
                if (line.lstrip("\t") if tabs else line) == ending:
                    break
            else:
                body_end = len(self._text)
            simple.heredocs.append(Heredoc(start=start, end=body_end))
        self._waiting.clear()

    def _word(self) -> Word:
        text, start = self._text, self._at
        said: list[str] = []
        places: list[int] = []
        expansions: list[tuple[int, int]] = []
        quote = ""
        while self._at < len(text):
            character = text[self._at]
            if not quote and character in _ENDS_WORD:
                break
            if quote != "'" and character in "$`":
                end = _expansion_end(text, self._at)
                if end > self._at + 1:
                    expansions.append((len(places), len(places) + end - self._at))
                said.append(text[self._at : end])
                places.extend(range(self._at, end))
                self._at = end
                continue
            if character == quote:
                quote = ""
            elif not quote and character in "'\"":
                quote = character
            else:
                if character == "\\" and _escapes(text, self._at, quote):
                    self._at += 1
                    character = text[self._at]
                if character != "\n" or text[self._at - 1] != "\\" or quote == "'":
                    said.append(character)
                    places.append(self._at)
            self._at += 1
        if quote or (self._at == start):
            raise UnreadableError
        return Word(text="".join(said), start=start, end=self._at, places=tuple(places), expansions=tuple(expansions))


def _escapes(text: str, at: int, quote: str) -> bool:
    """Whether a backslash says something about the character after it."""
    if quote == "'" or at + 1 >= len(text):
        return False
    return not quote or text[at + 1] in '"\\$`\n'


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found


def _expansion_end(text: str, at: int, depth: int = 0) -> int:
    """Where something ends that the shell puts a value in place of."""
    if depth > _DEEPEST:
        raise UnreadableError
    if text[at] == "`":
        end = text.find("`", at + 1)
        if end < 0:
            raise UnreadableError
        return end + 1
    opening = text[at + 1 : at + 2]
    if opening not in {"(", "{"} or not opening:
        name = re.compile(r"\$(?:\w+|[@*#?$!-])").match(text, at)
        return name.end() if name else at + 1
    return _closing(text, at + 2, ")" if opening == "(" else "}", depth)


def _closing(text: str, at: int, closing: str, depth: int) -> int:
    while at < len(text):
        character = text[at]
        if character == closing:
            return at + 1
        if character == "\\":
            at += 2
        elif character == "'" and closing == ")":
            end = text.find("'", at + 1)
            at = len(text) if end < 0 else end + 1
        elif character == "$" and text[at + 1 : at + 2] in {"(", "{"}:
            at = _expansion_end(text, at, depth + 1)
        elif character == "(" and closing == ")":
            at = _closing(text, at + 1, ")", depth + 1)
        else:
            at += 1
    raise UnreadableError
