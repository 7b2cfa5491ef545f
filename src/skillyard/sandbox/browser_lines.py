"""Browser steps as lines: what `parse_step` reads."""

import re
from typing import Final

from skillyard.sandbox.browser_steps import FIND_ACTIONS, BrowserStep

_PLAIN: Final = re.compile(r"[\w@./:%+,=*?&#~^{}!-]+")


def line_of(step: BrowserStep) -> str:
    """The line that says a step."""
    words = [step.verb]
    for index, argument in enumerate(step.arguments):
        bare = index == 0 or (step.verb == "find" and argument in FIND_ACTIONS)
        words.append(argument if bare and _is_plain(argument) else quoted(argument))
    for option in step.options:
        name, equals, value = option.partition("=")
        words.append(f"--{name}")
        if equals:
            words.append(quoted(value))
    return " ".join(words)


def quoted(text: str) -> str:
    """A text as one word."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _is_plain(text: str) -> bool:
    """Whether a text is easier to read as it is: a ref, an address, the name of an action."""
    return _PLAIN.fullmatch(text) is not None and not text.startswith("-")
