"""The rule for skill names, and names made to fit it."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from skillyard.errors import InputError
from skillyard.skill.limits import MAX_NAME

_LONGEST: Final = 1_024
"""Normalising takes quadratic time on accents without end; what is longer is no name anyway."""
_COMPARED: Final = 500
"""Names that are compared letter by letter with one that is not there; each may take a third of a millisecond."""
_PLAIN_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NOT_ASCII_WORD: Final = re.compile(r"[^a-z0-9]+")
_NOT_WORD: Final = re.compile(r"[\W_]+")
_DEVICES: Final = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789"]
)
_INVISIBLE_LETTERS: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800\u17b4\u17b5")
_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def normal_name(name: str) -> str:
    """The form in which names are compared: trimmed, NFKC."""
    return unicodedata.normalize("NFKC", name.strip()[:_LONGEST])


def is_valid_name(name: str) -> bool:
    return next(name_problems(name), None) is None and name == normal_name(name)


def is_id(text: str) -> bool:
    """Whether a text is the id that a registry gave to a skill, and not its name."""
    return _ID.fullmatch(text) is not None


def name_problems(name: str) -> Iterator[tuple[str, str]]:
    """Each rule of the specification that the name breaks, as `(code, message)`."""
    name = normal_name(name)
    if len(name) <= MAX_NAME and _PLAIN_NAME.fullmatch(name) and name not in _DEVICES:
        return
    if len(name) > MAX_NAME:
        yield "name-length", f"The name has {len(name)} characters; at most {MAX_NAME} are allowed."
    if name != name.lower():
        yield "name-case", f"The name {name!r} has upper-case letters."
    if name.startswith("-") or name.endswith("-") or "--" in name:
        yield "name-hyphens", f"The name {name!r} has a hyphen at an edge or two in a row."
    hidden = hidden_characters(name)
    if hidden:
        yield "name-hidden", f"The name {name!r} holds characters that cannot be seen ({hidden})."
    wrong = sorted({char for char in name if not (char.isalnum() or char == "-")} - set(_raw_hidden(name)))
    if wrong:
        listed = " ".join(map(repr, wrong))
        yield "name-characters", f"The name {name!r} may have letters, digits and hyphens only, not {listed}."
    if is_device_name(name):
        yield "name-reserved", f"The name {name!r} is a device name on Windows."
    if not name:
        yield "name-characters", "The name is empty."


def is_device_name(segment: str) -> bool:
    """Whether Windows takes this file or folder name for a device (`nul`, `com1.txt`)."""
    stem = segment.split(".", 1)[0].strip()[:_LONGEST]
    return unicodedata.normalize("NFKC", stem).strip().lower() in _DEVICES


def hidden_characters(text: str, *, but: str = "") -> str:
    """The invisible, control and direction characters in a text, but those given, named: `U+200B, U+202E`."""
    if _is_all_visible(text):
        return ""
    return ", ".join(f"U+{ord(char):04X}" for char in sorted(set(_raw_hidden(text)).difference(but)))


def replace_hidden(text: str, instead: str) -> str:
    """The text with each invisible, control and direction character replaced."""
    return text if _is_all_visible(text) else "".join(instead if _is_hidden(char) else char for char in text)


def _raw_hidden(text: str) -> Iterator[str]:
    return iter(()) if _is_all_visible(text) else filter(_is_hidden, text)


def _is_all_visible(text: str) -> bool:
    return text.isprintable() and (text.isascii() or _INVISIBLE_LETTERS.isdisjoint(text))


def _is_hidden(char: str) -> bool:
    return char in _INVISIBLE_LETTERS or unicodedata.category(char) in _INVISIBLE_CATEGORIES


def slugify(text: str) -> str:
    """A valid name made from any text; Unicode letters are kept. Empty when nothing is left."""
    words = _NOT_WORD.sub("-", unicodedata.normalize("NFKC", text.strip()[:_LONGEST]).lower())
    visible = "".join(char for char in words if char == "-" or char.isalnum())
    slug = re.sub("-+", "-", visible)[:MAX_NAME].strip("-")
    return f"{slug}-skill" if is_device_name(slug) else slug


def ascii_alias(name: str) -> str:
    """A name that fits where only `a-z0-9-` may stand (tool parameters, URLs); never empty, stable."""
    folded = unicodedata.normalize("NFKD", name.strip()[:_LONGEST]).encode("ascii", "ignore").decode().lower()
    alias = _NOT_ASCII_WORD.sub("-", folded).strip("-")[:MAX_NAME].strip("-")
    if alias == normal_name(name) and is_valid_name(alias):
        return alias
    # What the folding lost is kept apart by a short hash, so that two names never share an alias.
    from hashlib import sha256  # noqa: PLC0415 - needed for non-ASCII names only

    mark = sha256(normal_name(name).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{alias[: MAX_NAME - 9].strip('-')}-{mark}" if alias else f"skill-{mark}"


def nearest_name(wanted: str, names: Iterable[str]) -> str:
    """The name that looks most like the one wanted; empty when none does."""
    return next(iter(nearest_names(wanted, names, 1)), "")


def nearest_names(wanted: str, names: Iterable[str], n: int) -> list[str]:
    """Up to `n` names that look like the one wanted, the nearest first."""
    from difflib import get_close_matches  # noqa: PLC0415 - needed for wrong names only

    # Comparing may take as long as the square of the length, so only the start of a very long one counts.
    word = wanted[:MAX_NAME]
    whole = {name[:MAX_NAME]: name for name in reversed(list(names))}
    compared: Iterable[str] = whole
    if len(whole) > _COMPARED:
        compared = sorted(whole, key=partial(_alike, _pairs(word)), reverse=True)[:_COMPARED]
    return [whole[near] for near in get_close_matches(word, compared, n=n)]


def _pairs(name: str) -> set[str]:
    """What a name is made of, two letters at a time, its beginning and its end among them."""
    framed = f" {name} "
    return {framed[at : at + 2] for at in range(len(framed) - 1)}


def _alike(pairs: set[str], name: str) -> float:
    """The share of letters that a name has in common with another, roughly and quickly."""
    return sum(map(f" {name} ".__contains__, pairs)) / (len(pairs) + len(name))


def require_name(name: str) -> None:
    """Refuses a name that no skill can have, and suggests the nearest valid one."""
    if is_valid_name(name):
        return
    problems = [message for _, message in name_problems(name)]
    near = slugify(name)
    raise InputError(
        problems[0] if problems else f"The name {name!r} is not normalized.",
        hint=f"Use the name {near!r}." if near else "Use lower-case letters, digits and hyphens.",
        details={"field": "name", "value": name, "problems": problems, "suggestion": near},
    )
