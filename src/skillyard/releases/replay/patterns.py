"""Patterns that others wrote, matched so that none of them can take for ever."""

import asyncio
import contextlib
import json
import sys
from collections.abc import Callable
from typing import Final

from skillyard.releases.placeholders import pieces, unescaped

_SECONDS: Final = 5.0
_MAX_TEXT: Final = 4_000
_SEARCH: Final = "import json,re,sys; p,t=json.load(sys.stdin); sys.exit(0 if re.search(p,t) else 1)"
_ANY: Final = "**"
_SEGMENT: Final = "*"


async def found(pattern: str, text: str) -> bool:
    """Whether a regular expression is found in a text, in a process of its own: some need years."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-I", "-S", "-c", _SEARCH),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(_SECONDS):
            await process.communicate(json.dumps([pattern, text]).encode())
    except TimeoutError:
        return False
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return process.returncode == 0


def fill_glob(glob: str, value_of: Callable[[str], str]) -> list[str]:
    """A glob as single characters and `*`, `**`; the stars of a value are only stars to look for."""
    tokens: list[str] = []
    for before, name in pieces(glob):
        tokens += _tokens(unescaped(before))
        if name is not None:
            tokens += [character.replace("*", "\\*") for character in value_of(name)]
    open_ended = "://" not in glob and not {_ANY, _SEGMENT} & set(tokens)
    return [_ANY, *tokens, _ANY] if open_ended else tokens


def glob_matches(tokens: list[str], text: str) -> bool:
    """Whether the whole of a text is as a glob says: `*` is anything but `/`, `**` is anything."""
    states = _closed({0}, tokens)
    for character in text[:_MAX_TEXT]:
        following = {state + 1 for state in states if state < len(tokens) and _takes(tokens[state], character)}
        following |= {state for state in states if state < len(tokens) and _stays(tokens[state], character)}
        states = _closed(following, tokens)
        if not states:
            return False
    return len(tokens) in states


def _closed(states: set[int], tokens: list[str]) -> set[int]:
    """With those that are reached by taking nothing for a star."""
    closed = set(states)
    for state in sorted(states):
        following = state
        while following < len(tokens) and tokens[following] in {_ANY, _SEGMENT}:
            following += 1
            closed.add(following)
    return closed


def _takes(token: str, character: str) -> bool:
    return token not in {_ANY, _SEGMENT} and token.removeprefix("\\") == character


def _stays(token: str, character: str) -> bool:
    return token == _ANY or (token == _SEGMENT and character != "/")


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    while at < len(text):
        token = _ANY if text.startswith(_ANY, at) else text[at]
        tokens.append(token)
        at += len(token)
    return tokens
