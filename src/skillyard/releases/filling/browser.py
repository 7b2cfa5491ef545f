"""Values in browser steps: they go into the parsed arguments, which are never read again as a line."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from skillyard.errors import InputError
from skillyard.releases.placeholders import Scalar, fill_text, pieces, placeholders, text_of, unescaped
from skillyard.sandbox.browser_steps import BrowserStep

_SCRIPTS: Final = frozenset({"eval"})
_SCRIPT_OPTIONS: Final = frozenset({"fn"})
_SELECTOR_OPTIONS: Final = frozenset({"selector"})
_OTHER_ENGINES: Final = re.compile(r"\A\s*(?:[\w-]+=|//|\.\.|\()|>>")
"""Selectors that are not CSS: XPath, texts, chains of engines."""
_FINDERS_BY_CSS: Final = {"first": 1, "last": 1, "nth": 2}
"""Where `find` has a selector."""
_TARGETS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("click", "dblclick", "hover", "focus", "check", "uncheck", "scrollintoview"), 0),
    **dict.fromkeys(("fill", "type", "select", "wait"), 0),
    **dict.fromkeys(("get", "is"), 1),
}
_PLAIN: Final = re.compile(r"[A-Za-z0-9_]")


def fill_browser(step: BrowserStep, values: Mapping[str, Scalar]) -> BrowserStep:
    """A step with values in it; in a selector or a script they are one string of that language."""

    def plain(name: str) -> str:
        return text_of(values[name])

    arguments: list[str] = []
    selector = _selector_at(step)
    for index, argument in enumerate(step.arguments):
        if step.verb in _SCRIPTS:
            arguments.append(_script(argument, values))
        elif index == selector and not argument.startswith("@"):
            arguments.append(_selector(argument, plain))
        else:
            arguments.append(fill_text(argument, plain))
    return replace(step, arguments=tuple(arguments), options=tuple(_option(option, values) for option in step.options))


def _selector_at(step: BrowserStep) -> int | None:
    if step.verb == "find":
        return _FINDERS_BY_CSS.get(step.arguments[0])
    if step.verb == "wait" and step.arguments and step.arguments[0].isdecimal():
        return None
    return _TARGETS.get(step.verb)


def _option(option: str, values: Mapping[str, Scalar]) -> str:
    name, equals, value = option.partition("=")
    if name in _SCRIPT_OPTIONS:
        return name + equals + _script(value, values)
    if name in _SELECTOR_OPTIONS:
        return name + equals + _selector(value, lambda variable: text_of(values[variable]))
    return name + equals + fill_text(value, lambda variable: text_of(values[variable]))


def _selector(selector: str, value_of: Callable[[str], str]) -> str:
    names = placeholders(selector)
    if names and _OTHER_ENGINES.search(selector):
        raise InputError(
            f"cmd: the selector {selector[:200]!r} holds {{{{{min(names)}}}}}, and is not CSS.",
            hint="Write it as CSS, or name the element by its role: find role button click --name …",
            details={"field": "cmd", "value": selector[:200]},
        )
    return fill_text(selector, lambda name: _css(value_of(name)))


def _css(text: str) -> str:
    """A text as CSS has it in strings and in names alike."""
    written = [
        character if _PLAIN.match(character) and not (index == 0 and character.isdigit()) else f"\\{ord(character):x} "
        for index, character in enumerate(text)
    ]
    return "".join(written)


def _script(script: str, values: Mapping[str, Scalar]) -> str:
    """A script with values as strings of JavaScript; where one stands between quotes, they are the string's."""
    written: list[str] = []
    quote = ""
    for before, name in pieces(script):
        plain = unescaped(before)
        quote = _quote_after(plain, quote)
        written.append(plain)
        if name is not None:
            value = values[name]
            text = _javascript(value) if isinstance(value, str) else text_of(value)
            written.append(text if quote or not isinstance(value, str) else f'"{text}"')
    return "".join(written)


def _quote_after(text: str, quote: str) -> str:
    at = 0
    while at < len(text):
        if quote and text[at] == "\\":
            at += 1
        elif quote and text[at] == quote:
            quote = ""
        elif not quote and text[at] in "\"'`":
            quote = text[at]
        at += 1
    return quote


def _javascript(text: str) -> str:
    """Whatever stands around it, nothing in it ends a string: all but letters and digits is escaped."""
    return "".join(character if _PLAIN.match(character) else _unit_escapes(character) for character in text)


def _unit_escapes(character: str) -> str:
    units = character.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
