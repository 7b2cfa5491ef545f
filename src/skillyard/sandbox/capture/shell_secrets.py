"""Secrets in shell commands: options and variables with telling names, and what well-known tools take."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final, NamedTuple

from skillyard.sandbox.capture.markers import has_marker
from skillyard.sandbox.capture.secret_names import is_secret_name, secret_called
from skillyard.sandbox.capture.secret_texts import Learn, is_reference, mask_source
from skillyard.sandbox.shell_words import Simple, UnreadableError, Word, read_shell

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][\w.-]*)=")
_OPTION: Final = re.compile(r"(--?[A-Za-z][\w-]*)(=?)")
WITH_PASSWORD: Final = {
    **dict.fromkeys(("sshpass", "smbclient", "docker", "podman", "htpasswd", "mongo", "mongosh", "mongodump"), "-p"),
    **dict.fromkeys(("zip", "unzip", "mosquitto_pub", "mosquitto_sub"), "-P"),
    **dict.fromkeys(("ldapsearch", "ldapadd", "ldapmodify"), "-w"),
    **dict.fromkeys(("sqlcmd", "bcp"), "-P"),
    **dict.fromkeys(("redis-cli",), "-a"),
    **dict.fromkeys(("ssh-keygen",), "-N"),
    **dict.fromkeys(("openssl",), "-k"),
    **dict.fromkeys(("7z", "7za", "mysql", "mysqldump", "mysqladmin", "mariadb"), "-p"),
}
"""Programs, and the flag that a password follows."""
_ATTACHED: Final = frozenset({"7z", "7za", "mysql", "mysqldump", "mysqladmin", "mariadb"})
"""Tools that take it only without a blank between."""
_WITH_USER: Final = {
    "curl": ("-u", "--user", "--proxy-user", "-U"),
    "http": ("-a", "--auth"),
    "https": ("-a", "--auth"),
}
"""Flags that `name:password` follows."""
_ASKING: Final = re.compile(r"sudo|passwd|chpasswd|sshpass|cryptsetup|gpg|docker|podman|.*-stdin")
"""Programs that read a password from what is written to them."""
_ASKING_FLAGS: Final = re.compile(r"-S|--password-stdin|--passphrase-fd|--with-token|--token-stdin|--pinentry-mode")
_QUOTES: Final = frozenset("\"'")
_NEXT_LONG: Final = re.compile(r"--(?:[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:=.*)?)?|-[A-Za-z]", re.DOTALL)
_NEXT_SHORT: Final = re.compile(r"--?[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:=.*)?|-[A-Z]", re.DOTALL)
"""What may follow an option that was given no value; passwords, too, may begin with a hyphen."""
_ALWAYS_ASKING: Final = frozenset({"passwd", "chpasswd"})


class _Secret(NamedTuple):
    start: int
    end: int
    value: str
    name: str


def mask_shell(command: str, learn: Learn) -> str:
    """A command with markers in place of its secrets."""
    try:
        found = sorted(set(_secrets(read_shell(command))), reverse=True)
    except UnreadableError:
        found = []
    for secret in found:
        if not has_marker(command[secret.start : secret.end]):
            command = command[: secret.start] + learn(secret.value, secret.name) + command[secret.end :]
    return mask_source(command, learn)


def mask_arguments(texts: Sequence[str], learn: Learn) -> list[str]:
    """The words of a command that no shell reads, with markers in place of its secrets."""
    words: list[Word] = []
    at = 0
    for text in texts:
        words.append(Word(text=text, start=at, end=at + len(text), places=tuple(range(at, at + len(text)))))
        at += len(text)
    masked = list(texts)
    for secret in sorted(set(_secrets([Simple(words=words)])), reverse=True):
        index = next(index for index, word in enumerate(words) if word.start <= secret.start < word.end)
        text, start = masked[index], words[index].start
        if not has_marker(text):
            name = learn(secret.value, secret.name)
            masked[index] = text[: secret.start - start] + name + text[secret.end - start :]
    return masked


def _secrets(commands: Sequence[Simple]) -> Iterator[_Secret]:
    for index, simple in enumerate(commands):
        words = simple.words
        name = _program(words)
        for word, after in zip_longest(words, words[1:]):
            yield from _of_word(word, after)
            yield from _of_tool(name, word, after)
        if simple.operator == "|" and index + 1 < len(commands) and _asks(commands[index + 1]):
            yield from _whole(words[-1], "password") if len(words) > 1 else ()
        for redirect in simple.redirects:
            if redirect.operator.endswith("<<<") and _asks(simple):
                yield from _whole(redirect.target, "password")


def _program(words: Sequence[Word]) -> str:
    return next((word.text.rpartition("/")[2] for word in words if not _ASSIGNMENT.match(word.text)), "")


def _of_word(word: Word, after: Word | None) -> Iterator[_Secret]:
    """What a variable or an option with a telling name is given."""
    assignment = _ASSIGNMENT.match(word.text)
    option = _OPTION.match(word.text)
    if assignment and is_secret_name(assignment[1]):
        yield from _part(word, assignment.end(), secret_called(assignment[1]))
    elif option and option.end() == len(word.text) and is_secret_name(option[1]) and len(option[1]) > len("-x"):
        if option[2]:
            return
        if after is not None and not _is_option(after, like=option[1]):
            yield from _whole(after, secret_called(option[1].lstrip("-")))
    elif option and option[2] and is_secret_name(option[1]):
        yield from _part(word, option.end(), secret_called(option[1].lstrip("-")))


def _is_option(word: Word, *, like: str) -> bool:
    return (_NEXT_LONG if like.startswith("--") else _NEXT_SHORT).fullmatch(word.text) is not None


def _of_tool(program: str, word: Word, after: Word | None) -> Iterator[_Secret]:
    flag = WITH_PASSWORD.get(program)
    if flag and word.text.startswith(flag) and not word.text.startswith("--"):
        if len(word.text) > len(flag):
            yield from _part(word, len(flag), "password")
        elif after is not None and program not in _ATTACHED:
            yield from _whole(after, "password")
    if program == "openssl" and word.text.startswith("pass:"):
        yield from _part(word, len("pass:"), "password")
    if after is not None and word.text in _WITH_USER.get(program, ()) and ":" in after.text:
        yield from _part(after, after.text.index(":") + 1, "password")


def _asks(simple: Simple) -> bool:
    name = _program(simple.words)
    if name in _ALWAYS_ASKING:
        return True
    return bool(_ASKING.fullmatch(name)) and any(_ASKING_FLAGS.fullmatch(word.text) for word in simple.words)


def _whole(word: Word, name: str) -> Iterator[_Secret]:
    return _part(word, 0, name)


def _part(word: Word, first: int, name: str) -> Iterator[_Secret]:
    last = len(word.text)
    if word.text[first : first + 1] in _QUOTES and word.text[first] == word.text[-1] and last - first > len("''"):
        first, last = first + 1, last - 1  # in code that is given to another program
    value = word.text[first:last]
    if value and not is_reference(value):
        start, end = word.span(first, last)
        yield _Secret(start, end, value, name)
