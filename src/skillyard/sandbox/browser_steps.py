"""The steps that a browser in a sandbox understands: the syntax of the `agent-browser` command."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NoReturn

from skillyard.errors import InputError, LimitError

MAX_STEP: Final = 200_000
"""Characters of one step; a text to fill in is part of it."""

_PROGRAM: Final = "agent-browser"
_REF: Final = re.compile(r"@e[1-9][0-9]{0,5}")
_NUMBER: Final = re.compile(r"-?[0-9]{1,7}")
_ALIASES: Final = {"goto": "open", "navigate": "open", "key": "press", "quit": "close", "exit": "close"}
_QUOTES: Final = "\"'"
_VERB_AND_TEXT: Final = 2

DIRECTIONS: Final = ("up", "down", "left", "right")
TYPING: Final = frozenset({"fill", "type"})
"""Verbs and actions that put a text into a field."""
LOAD_STATES: Final = ("load", "domcontentloaded", "networkidle")
FINDERS: Final = ("role", "text", "label", "placeholder", "alt", "title", "testid", "first", "last", "nth")
FIND_ACTIONS: Final = ("click", "dblclick", "fill", "type", "hover", "focus", "check", "uncheck", "select", "text")


@dataclass(frozen=True, kw_only=True)
class BrowserStep:
    """One step: a verb and its arguments, as they were written."""

    verb: str
    arguments: tuple[str, ...] = ()
    options: tuple[str, ...] = field(default=())
    """Each `name` or `name=value`, by its long name without dashes: `interactive`, `depth=3`."""


@dataclass(frozen=True, kw_only=True)
class _Word:
    text: str
    quoted: bool


@dataclass(frozen=True, kw_only=True)
class _Verb:
    """How a verb is used."""

    usage: str
    least: int = 0
    most: int | None = 0
    """Arguments; None when the last one is a text that may have been left unquoted."""
    flags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Options without a value: as written -> their name."""
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    """Options with a value."""
    check: "Callable[[Sequence[str], Sequence[str]], str | None] | None" = None
    """What is wrong with the arguments and the options, if something is."""


def parse_step(text: str) -> BrowserStep:
    """The step that a line says. Values can be put into its arguments afterwards, whatever is in them."""
    if len(text) > MAX_STEP:
        raise LimitError(
            f"The step has {len(text):,} characters; at most {MAX_STEP:,} are allowed.",
            hint="Fill in a long text in several steps.",
            details={"field": "cmd", "value": len(text), "limit": MAX_STEP},
        )
    words, rest = _split(text)
    if words and words[0].text == _PROGRAM:
        words, rest = _split(rest)
    if not words:
        _refuse("", "the step is empty")
    written = words[0].text
    name = _ALIASES.get(written.lower(), written.lower())
    verb = _VERBS.get(name)
    if verb is None:
        _refuse(written[:40], f"there is no step {written[:40]!r}")
    if name == "eval" and rest and not (len(words) == _VERB_AND_TEXT and rest[0] in _QUOTES):
        return BrowserStep(verb=name, arguments=(rest,))  # quotes in the middle are the script's own
    arguments, options = _options(name, verb, words[1:])
    if verb.most is None and len(arguments) > verb.least:
        arguments = [*arguments[: verb.least - 1], " ".join(arguments[verb.least - 1 :])]
    if not verb.least <= len(arguments) <= (verb.least if verb.most is None else verb.most):
        _refuse(name, f"{name!r} has {len(arguments)} arguments")
    problem = verb.check(arguments, options) if verb.check else None
    if problem:
        _refuse(name, problem)
    return BrowserStep(verb=name, arguments=tuple(arguments), options=tuple(options))


def _split(text: str) -> tuple[list[_Word], str]:
    """The words of a line, quoted as a shell does it, and what follows the first of them as it was written."""
    words: list[_Word] = []
    rest = ""
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        word, at = _word(text, at)
        words.append(word)
        if len(words) == 1:
            rest = text[at:].strip()
    return words, rest


def _word(text: str, at: int) -> tuple[_Word, int]:
    pieces: list[str] = []
    quote = ""
    quoted = False
    while at < len(text) and (quote or not text[at].isspace()):
        character = text[at]
        at += 1
        if character == quote:
            quote = ""
        elif not quote and character in _QUOTES:
            quote, quoted = character, True
        elif character == "\\" and quote != "'" and at < len(text) and (not quote or text[at] in '"\\'):
            pieces.append(text[at])
            at += 1
        else:
            pieces.append(character)
    if quote:
        _refuse("", f"a {quote} is opened and not closed")
    return _Word(text="".join(pieces), quoted=quoted), at


def _options(name: str, verb: _Verb, words: Sequence[_Word]) -> tuple[list[str], list[str]]:
    arguments: list[str] = []
    options: list[str] = []
    remaining = iter(words)
    for word in remaining:
        if word.quoted or not word.text.startswith("-") or _NUMBER.fullmatch(word.text):
            arguments.append(word.text)
        elif word.text in verb.flags:
            options.append(verb.flags[word.text])
        elif word.text in verb.values:
            value = next(remaining, None)
            if value is None:
                _refuse(name, f"{word.text} needs a value")
            options.append(f"{verb.values[word.text]}={value.text}")
        else:
            _refuse(name, f"{name!r} has no option like that; a text that begins with - needs quotes")
    return arguments, options


def _refuse(verb: str, problem: str) -> NoReturn:
    """Without the arguments: one of them may be a password."""
    known = _VERBS.get(verb)
    usage = f"Write it as: {known.usage}" if known else f"The steps are: {', '.join(sorted(_VERBS))}."
    raise InputError(f"cmd: {problem}.", hint=usage, details={"field": "cmd", "value": verb})


def _target(arguments: Sequence[str], _options: Sequence[str]) -> str | None:
    return _target_problem(arguments[0])


def _target_problem(target: str) -> str | None:
    if not target.strip():
        return "the element is empty; give a ref like @e1 or a CSS selector"
    if target.startswith("@") and not _REF.fullmatch(target):
        return f"{target[:40]!r} is not a ref; refs are written @e1, @e2, … as the last snapshot shows them"
    return None


def _scroll(arguments: Sequence[str], _options: Sequence[str]) -> str | None:
    if arguments[0] not in DIRECTIONS:
        return f"{arguments[0][:40]!r} is not a direction; directions are {', '.join(DIRECTIONS)}"
    if len(arguments) > 1 and not arguments[1].isdecimal():
        return "the distance is not a number of pixels"
    return None


_GETTERS: Final = {"text": 1, "html": 1, "value": 1, "attr": 2, "count": 1, "title": 0, "url": 0}


def _get(arguments: Sequence[str], _options: Sequence[str]) -> str | None:
    wanted = _GETTERS.get(arguments[0])
    if wanted is None:
        return f"'get' knows {', '.join(_GETTERS)}, not {arguments[0][:40]!r}"
    if len(arguments) - 1 != wanted:
        return f"'get {arguments[0]}' takes {wanted} arguments, not {len(arguments) - 1}"
    return _target_problem(arguments[1]) if wanted else None


def _is(arguments: Sequence[str], _options: Sequence[str]) -> str | None:
    states = ("visible", "enabled", "checked")
    if arguments[0] not in states:
        return f"'is' knows {', '.join(states)}, not {arguments[0][:40]!r}"
    return _target_problem(arguments[1])


def _wait(arguments: Sequence[str], options: Sequence[str]) -> str | None:
    if len(arguments) + len(options) != 1:
        return "'wait' waits for one thing"
    load = next((option.removeprefix("load=") for option in options if option.startswith("load=")), None)
    if load is not None and load not in LOAD_STATES:
        return f"--load is one of {', '.join(LOAD_STATES)}"
    return _target_problem(arguments[0]) if arguments else None


def _snapshot(_arguments: Sequence[str], options: Sequence[str]) -> str | None:
    depth = next((option.removeprefix("depth=") for option in options if option.startswith("depth=")), "1")
    return None if depth.isdecimal() else "--depth is not a number"


def _find(arguments: Sequence[str], _options: Sequence[str]) -> str | None:
    finder, *others = arguments
    if finder not in FINDERS:
        return f"'find' knows {', '.join(FINDERS)}, not {finder[:40]!r}"
    if finder == "nth":
        number = others.pop(0)
        if not _NUMBER.fullmatch(number):
            return "'find nth' needs a number, then a selector"
    _sought, action, *value = [*others, "", ""][: max(2, len(others))]
    if action not in FIND_ACTIONS:
        return f"what to do with it is one of {', '.join(FIND_ACTIONS)}, not {action[:40]!r}"
    needed = 1 if action in {"fill", "type", "select"} else 0
    if len(value) != needed:
        return f"'{action}' takes {needed} arguments after it, not {len(value)}"
    return None


_SECRET: Final = {"--secret": "secret"}
"""Refuses to write into anything but a password field: asked for by whoever puts a secret into the text."""


def _simple(verb: str) -> _Verb:
    return _Verb(usage=f"{verb} @e1", least=1, most=1, check=_target)


_VERBS: Final[Mapping[str, _Verb]] = {
    "open": _Verb(usage="open https://example.org/page", least=1, most=1),
    "back": _Verb(usage="back"),
    "forward": _Verb(usage="forward"),
    "reload": _Verb(usage="reload"),
    "close": _Verb(usage="close"),
    "snapshot": _Verb(
        usage="snapshot [-i] [-c] [-d DEPTH] [-s SELECTOR]",
        flags={"-i": "interactive", "--interactive": "interactive", "-c": "compact", "--compact": "compact"},
        values={"-d": "depth", "--depth": "depth", "-s": "selector", "--selector": "selector"},
        check=_snapshot,
    ),
    **{verb: _simple(verb) for verb in ("click", "dblclick", "hover", "focus", "check", "uncheck", "scrollintoview")},
    "fill": _Verb(usage='fill @e1 "text"', least=2, most=None, flags=_SECRET, check=_target),
    "type": _Verb(usage='type @e1 "text"', least=2, most=None, flags=_SECRET, check=_target),
    "press": _Verb(usage="press Enter", least=1, most=1),
    "select": _Verb(usage='select @e1 "value" ["value" …]', least=2, most=50, check=_target),
    "scroll": _Verb(
        usage="scroll down [500] [-s SELECTOR]",
        least=1,
        most=2,
        values={"-s": "selector", "--selector": "selector"},
        check=_scroll,
    ),
    "get": _Verb(
        usage="get text|html|value|count @e1, get attr @e1 href, get title, get url", least=1, most=3, check=_get
    ),
    "is": _Verb(usage="is visible|enabled|checked @e1", least=2, most=2, check=_is),
    "wait": _Verb(
        usage='wait @e1 | 2000 | --text "…" | --url "**/done" | --load networkidle | --fn "js"',
        most=1,
        values={
            "--text": "text",
            "-t": "text",
            "--url": "url",
            "-u": "url",
            "--load": "load",
            "-l": "load",
            "--fn": "fn",
        },
        check=_wait,
    ),
    "screenshot": _Verb(usage="screenshot [page.png] [--full]", most=1, flags={"--full": "full", "-f": "full"}),
    "eval": _Verb(usage='eval "document.title"', least=1, most=1),
    "find": _Verb(
        usage='find role button click --name "Submit" [--exact], find label "E-mail" fill "me@example.org",'
        " find first|last SELECTOR click, find nth 2 SELECTOR click",
        least=3,
        most=5,
        flags={"--exact": "exact", **_SECRET},
        values={"--name": "name"},
        check=_find,
    ),
}
VERBS: Final = tuple(sorted(_VERBS))
