"""Values in shell commands: they travel as environment variables, and the command line only names those."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final, NoReturn

from skillyard.errors import InputError
from skillyard.releases.filling.shell_programs import CommandLine
from skillyard.releases.placeholders import Scalar, escape_at, placeholder_at, placeholders, text_of, unescaped

_PREFIX: Final = "SKILLYARD_VAR_"
_HEREDOC: Final = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([^\s'\"\\;&|<>()]+))")
_SPECIAL: Final = re.compile(r"[\\$`]")
_PLAIN: Final = re.compile(r"[\w @.,:+-]*")


class _In(Enum):
    """What the shell is reading."""

    COMMANDS = auto()
    DOUBLE = auto()
    SINGLE = auto()
    PARAMETER = auto()
    ARITHMETIC = auto()
    BACKTICKS = auto()


@dataclass(kw_only=True)
class _Frame:
    reads: _In
    closing: str = ""
    quoted: bool = False
    """Whether double quotes stand around it, so that a value in it is one word by itself."""
    line: CommandLine = field(default_factory=CommandLine)


@dataclass(kw_only=True)
class _Heredoc:
    ending: str
    tabs: bool
    quoted: bool
    operator: int
    """Where in what is written its delimiter stands."""
    line: CommandLine


def environment_name(variable: str) -> str:
    """The environment variable by which the value of a variable travels."""
    return _PREFIX + (variable if variable.isascii() else variable.encode().hex())


def fill_shell(text: str, values: Mapping[str, Scalar]) -> tuple[str, dict[str, str]]:
    """A command with values in it, and the environment that it needs.

    Where a value is part of a program in another language, only plain ones are taken: that program would read them.
    """
    filling = _Filling(text=text, values=values)
    command = filling.whole()
    for name in sorted(filling.in_programs()):
        if not _PLAIN.fullmatch(text_of(values[name])):
            _refuse(name, "is part of a program, and has more than letters, digits, blanks and @ . , : + - _")
    return command, {environment_name(name): text_of(values[name]) for name in placeholders(text)}


def program_variables(text: str, values: Mapping[str, Scalar]) -> set[str]:
    """The variables of a command whose values another language than the shell's reads."""
    filling = _Filling(text=text, values=values)
    filling.whole()
    return filling.in_programs()


class _Filling:
    def __init__(self, *, text: str, values: Mapping[str, Scalar]) -> None:
        self._text = text
        self._values = values
        self._at = 0
        self._written: list[str] = []
        self._frames = [_Frame(reads=_In.COMMANDS)]
        self._lines = [self._frames[0].line]
        self._waiting: list[_Heredoc] = []
        self._readers: dict[_In, Callable[[], None]] = {
            _In.COMMANDS: self._commands,
            _In.DOUBLE: self._double,
            _In.SINGLE: self._single,
            _In.PARAMETER: self._parameter,
            _In.ARITHMETIC: self._arithmetic,
            _In.BACKTICKS: self._backticks,
        }

    def whole(self) -> str:
        while self._at < len(self._text):
            escape = escape_at(self._text, self._at)
            placeholder = placeholder_at(self._text, self._at)
            if escape:
                self._take(escape[1] - self._at, instead=escape[0])
            elif placeholder:
                self._placeholder(*placeholder)
            else:
                self._readers[self._frame.reads]()
        return "".join(self._written)

    def in_programs(self) -> set[str]:
        """The variables whose values another language than the shell's reads."""
        return {name for line in self._lines for name in line.in_programs()}

    @property
    def _frame(self) -> _Frame:
        return self._frames[-1]

    @property
    def _line(self) -> CommandLine:
        return next(frame.line for frame in reversed(self._frames) if frame.reads is _In.COMMANDS)

    def _take(self, length: int = 1, *, instead: str | None = None) -> None:
        taken = self._text[self._at : self._at + length]
        self._written.append(taken if instead is None else instead)
        if self._frame.reads in {_In.COMMANDS, _In.DOUBLE, _In.SINGLE}:
            self._line.add(taken)
        self._at += length

    def _skip(self, text: str) -> None:
        """Take what is no part of a word."""
        self._written.append(text)
        self._at += len(text)

    def _open(self, text: str, reads: _In, *, closing: str) -> None:
        quoted = self._frame.reads is _In.DOUBLE or (self._frame.reads is _In.PARAMETER and self._frame.quoted)
        frame = _Frame(reads=reads, closing=closing, quoted=quoted)
        self._skip(text)
        self._frames.append(frame)
        if reads is _In.COMMANDS:
            self._lines.append(frame.line)

    def _close(self) -> None:
        self._skip(self._frame.closing)
        self._frames.pop()

    def _placeholder(self, name: str, end: int) -> None:
        frame = self._frame
        value = f"${{{environment_name(name)}}}"
        if frame.reads is _In.BACKTICKS:
            _refuse(name, "stands between backticks; write $(…) instead")
        if frame.reads is _In.ARITHMETIC and not isinstance(self._values[name], int | float):
            _refuse(name, "is part of a calculation, and is not a number")
        if frame.reads is _In.COMMANDS or (frame.reads is _In.PARAMETER and not frame.quoted):
            value = f'"{value}"'
        elif frame.reads is _In.SINGLE:
            value = f"'\"{value}\"'"
        self._line.add_variable(name)
        self._written.append(value)
        self._at = end

    def _starts(self, *beginnings: str) -> str | None:
        return next((each for each in beginnings if self._text.startswith(each, self._at)), None)

    def _expansion(self) -> bool:
        """Take the beginning of something that the shell puts a value in place of."""
        start = self._starts("$((", "$(", "${", "`")
        if start is None:
            return False
        reads, closing = {
            "$((": (_In.ARITHMETIC, "))"),
            "$(": (_In.COMMANDS, ")"),
            "${": (_In.PARAMETER, "}"),
            "`": (_In.BACKTICKS, "`"),
        }[start]
        self._open(start, reads, closing=closing)
        return True

    def _commands(self) -> None:
        character = self._text[self._at]
        heredoc = _HEREDOC.match(self._text, self._at) if not self._starts("<<<") else None
        if character == "\\":
            self._take(2)
        elif self._expansion():
            pass
        elif character in "'\"":
            self._open(character, _In.SINGLE if character == "'" else _In.DOUBLE, closing=character)
        elif heredoc:
            self._heredoc(heredoc)
        elif character == "#" and self._line.between_words:
            self._comment()
        elif character == "(":
            self._line.end_command()
            self._open(character, _In.COMMANDS, closing=")")
        elif character == ")" and self._frame.closing == ")":
            self._close()
        else:
            self._word_or_sign(character)

    def _word_or_sign(self, character: str) -> None:
        if character == "\n":
            self._line.end_command()
            self._skip(character)
            self._heredoc_bodies()
        elif character in ";&|":
            sign = self._starts("||", "&&") or character
            self._line.end_command(piped=sign == "|")
            self._skip(sign)
        elif character.isspace() or character in "<>":
            self._line.end_word()
            self._skip(character)
        else:
            self._take()

    def _comment(self) -> None:
        end = self._text.find("\n", self._at)
        self._skip(self._text[self._at : end if end >= 0 else None])

    def _double(self) -> None:
        if self._text[self._at] == "\\":
            self._take(2)
        elif self._text[self._at] == '"':
            self._line.add("")
            self._close()
        elif not self._expansion():
            self._take()

    def _single(self) -> None:
        if self._text[self._at] == "'":
            self._line.add("")
            self._close()
        else:
            self._take()

    def _parameter(self) -> None:
        character = self._text[self._at]
        if character == "}":
            self._close()
        elif character == "\\":
            self._take(2)
        elif self._expansion():
            pass
        elif character == '"' or (character == "'" and not self._frame.quoted):
            self._open(character, _In.SINGLE if character == "'" else _In.DOUBLE, closing=character)
        else:
            self._take()

    def _arithmetic(self) -> None:
        if self._starts("))"):
            self._close()
        elif not self._expansion():
            self._take()

    def _backticks(self) -> None:
        if self._text[self._at] == "`":
            self._close()
        else:
            self._take(2 if self._text[self._at] == "\\" else 1)

    def _heredoc(self, found: re.Match[str]) -> None:
        ending = found[2] or found[3] or found[4]
        written = found[0]
        quoted = not found[4] or "\\" in written
        self._line.end_word()
        self._waiting.append(
            _Heredoc(
                ending=ending, tabs=found[1] == "-", quoted=quoted, operator=len(self._written), line=self._line.copy()
            )
        )
        self._lines.append(self._waiting[-1].line)
        self._skip(written)

    def _heredoc_bodies(self) -> None:
        waiting, self._waiting = self._waiting, []
        for heredoc in waiting:
            body, end = _body(self._text, self._at, heredoc)
            for name in sorted(placeholders(body)):
                heredoc.line.add_input(name)
            if placeholders(body):
                self._written[heredoc.operator] = f"<<{'-' if heredoc.tabs else ''}{heredoc.ending}"
                self._written.append(_filled_body(body, quoted=heredoc.quoted))
            else:
                self._written.append(unescaped(body))
            self._at = end


def _body(text: str, at: int, heredoc: _Heredoc) -> tuple[str, int]:
    """The lines up to the one that ends them, with that one."""
    end = at
    for line in text[at:].splitlines(keepends=True):
        end += len(line)
        plain = line.rstrip("\n")
        if (plain.lstrip("\t") if heredoc.tabs else plain) == heredoc.ending:
            return text[at:end], end
    return text[at:end], end


def _filled_body(body: str, *, quoted: bool) -> str:
    written: list[str] = []
    at = 0
    while at < len(body):
        placeholder, escape = placeholder_at(body, at), escape_at(body, at)
        if placeholder:
            written.append(f"${{{environment_name(placeholder[0])}}}")
            at = placeholder[1]
        elif escape:
            written.append(escape[0])
            at = escape[1]
        else:
            # Nothing was expanded in it before, and nothing but the values is now.
            written.append(_SPECIAL.sub(r"\\\g<0>", body[at]) if quoted else body[at])
            at += 1
    return "".join(written)


def _refuse(name: str, problem: str) -> NoReturn:
    raise InputError(
        f"cmd: the variable {name!r} {problem}.",
        hint="Give such a value to the program as an argument or in a file.",
        details={"field": "cmd", "value": name},
    )
