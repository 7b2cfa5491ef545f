"""Which words of a shell command are programs in another language, such as `sed 's/a/b/'` or `python3 -c '…'`."""

import re
from dataclasses import dataclass, field
from typing import Final

_ASSIGNMENT: Final = re.compile(r"\w+=")
_BEFORE: Final = frozenset(
    {"sudo", "env", "exec", "time", "nohup", "command", "nice", "then", "do", "else", "if", "!", "{"}
)
"""Words that another command follows."""
_LANGUAGES: Final = re.compile(r"(?:ba|da|z|k|c)?sh|python[0-9.]*|node|deno|bun|perl|ruby|php|lua|Rscript|osascript")
"""Take a program after a flag, or on their input."""
_PROGRAM_FLAG: Final = re.compile(r"-[a-zA-Z]*[ceErp]|--(?:eval|command|exec|print|run)(?:=.*)?")
_FILTERS: Final = frozenset({"sed", "gsed", "awk", "gawk", "mawk", "jq", "yq"})
"""Take a program as their first argument."""
_FILTER_FLAG: Final = re.compile(r"-[a-zA-Z]*e|--expression(?:=.*)?|--arg|--argjson")
_READERS: Final = frozenset({"sqlite3", "psql", "mysql", "mariadb", "duckdb", "bc", "dc", "ed", "ex", "make"})
"""Read statements in all that they are given."""
_RUNNERS: Final = frozenset({"eval", "ssh", "su", "xargs", "parallel", "trap", "watch", "find", "source", "."})
"""Run what they are given."""
_ARGUMENT_FLAGS: Final = ("--arg", "--argjson")


@dataclass(kw_only=True)
class _Command:
    words: list[str] = field(default_factory=list[str])
    word: str | None = None
    arguments: set[str] = field(default_factory=set[str])
    """The variables in its words that are part of a program."""
    names: set[str] = field(default_factory=set[str])
    """All variables in its words, and in what it is given to read."""
    inputs: set[str] = field(default_factory=set[str])

    @property
    def command(self) -> tuple[str, list[str]]:
        """The name of what is run, and the words after it."""
        words = list(self.words)
        while words and (_ASSIGNMENT.match(words[0]) or words[0].rpartition("/")[2] in _BEFORE):
            words.pop(0)
        return (words[0].rpartition("/")[2], words[1:]) if words else ("", [])

    def takes_program(self) -> bool:
        """Whether the word that is being read is a program."""
        name, before = self.command
        if name in _READERS | _RUNNERS:
            return True
        last = before[-1] if before else ""
        if name in _FILTERS:
            if before[-2:-1] and before[-2] in _ARGUMENT_FLAGS:
                return False
            given = [word for word in before if not word.startswith("-")]
            return not given or bool(_FILTER_FLAG.fullmatch(last) and last not in _ARGUMENT_FLAGS)
        return bool(_LANGUAGES.fullmatch(name) and _PROGRAM_FLAG.fullmatch(last))

    def reads_program(self) -> bool:
        """Whether what stands on its input is a program."""
        name, given = self.command
        if name in _READERS | {"xargs", "parallel", "ssh"}:
            return True
        return bool(_LANGUAGES.fullmatch(name)) and all(word.startswith("-") for word in given)


class CommandLine:
    """Takes the words of a line one by one, and knows the variables in those that are programs."""

    def __init__(self) -> None:
        self._commands = [_Command()]
        self._pipes: list[bool] = []
        """Of each command after the first, whether it reads what the one before wrote."""

    def copy(self) -> "CommandLine":
        """The command that is being read, to be told more about what it is given to read."""
        other = CommandLine()
        other._commands[0].words = list(self._current.words)
        return other

    @property
    def between_words(self) -> bool:
        return self._current.word is None

    def add(self, text: str) -> None:
        self._current.word = (self._current.word or "") + text

    def add_variable(self, name: str) -> None:
        if self._current.takes_program():
            self._current.arguments.add(name)
        self._current.names.add(name)
        self.add("{{}}")

    def add_input(self, name: str) -> None:
        """Something that the command is given to read holds a variable."""
        self._current.inputs.add(name)

    def end_word(self) -> None:
        if self._current.word is not None:
            self._current.words.append(self._current.word)
            self._current.word = None

    def end_command(self, *, piped: bool = False) -> None:
        self.end_word()
        self._commands.append(_Command())
        self._pipes.append(piped)

    def in_programs(self) -> set[str]:
        self.end_word()
        found: set[str] = set()
        flowing: set[str] = set()
        for command, piped in zip(self._commands, [False, *self._pipes], strict=True):
            if not piped:
                flowing = set()
            found |= command.arguments
            if command.reads_program():
                found |= flowing | command.inputs
            flowing |= command.names | command.inputs
        return found

    @property
    def _current(self) -> _Command:
        return self._commands[-1]
