"""Names in plain letters: of variables and of skills, made from whatever people call things."""

import re
import unicodedata
from collections.abc import Collection
from typing import Final

from skillyard.releases.mining.everyday_words import ENGLISH

_LONGEST: Final = 40
_LONGEST_WORD: Final = max(map(len, ENGLISH))
_LONGEST_LABEL: Final = 200
_REMARK: Final = re.compile(r"[(\[（【].*?[)\]）】]|[*:：?？!！]+$")  # noqa: RUF001 -- the signs of these languages
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_LETTERS: Final = re.compile(r"[^a-z0-9]+")
_EMAIL: Final = re.compile(r"\be mail\b")
_ASKING: Final = re.compile(
    r"^(?:please )?(?:enter|type|choose|select|pick|provide)(?! of\b| up\b)(?: in)?(?: (?:your|the|a|an))? "
    r"|^(?:your|the) |^(?:please )?(?:write|add|leave|describe|input) (?:your|the|a|an) "
)
_HANGUL: Final = (0xAC00, 0xD7A3)
_INITIALS: Final = ("g", "kk", "n", "d", "tt", "r", "m", "b", "pp", "s", "ss", "", "j", "jj", "ch", "k", "t", "p", "h")
_VOWELS: Final = (
    *("a", "ae", "ya", "yae", "eo", "e", "yeo", "ye", "o", "wa", "wae", "oe", "yo", "u", "wo", "we", "wi", "yu"),
    *("eu", "ui", "i"),
)
_FINALS: Final = (
    *("", "k", "k", "k", "n", "n", "n", "t", "l", "k", "m", "l", "l", "l", "p", "l", "m", "p", "p", "t", "t", "ng"),
    *("t", "t", "k", "t", "p", "t"),
)
_LETTERS: Final = str.maketrans({"ß": "ss", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "þ": "th"})


def plain_words(label: str) -> str:
    """A label in small plain letters, with blanks between its words; empty when it cannot be written so."""
    label = unicodedata.normalize("NFKC", label[:_LONGEST_LABEL]).strip()
    known = _translated(label) or _translated(_REMARK.sub("", label).strip())
    if known:
        return known
    spelt = "".join(map(_spelt, _CAMEL.sub(" ", _REMARK.sub("", label) or label).lower().translate(_LETTERS)))
    folded = unicodedata.normalize("NFKD", spelt).encode("ascii", "ignore").decode()
    if len(folded.strip()) < len(spelt.strip()) / 2:  # most of it is in letters that are lost here
        return ""
    return _EMAIL.sub("email", _NOT_LETTERS.sub(" ", folded).strip())


def _translated(label: str) -> str:
    """A label in English, word by word; empty unless each of them is known."""
    words: list[str] = []
    at = 0
    while at < len(label):
        if label[at].isspace():
            at += 1
            continue
        end = next(
            (end for end in range(min(len(label), at + _LONGEST_WORD), at, -1) if label[at:end] in ENGLISH), None
        )
        if end is None:
            return ""
        words.append(ENGLISH[label[at:end]].replace("_", " "))
        at = end
    return " ".join(words)


def variable_name(label: str, *, instead: str = "", taken: Collection[str] = ()) -> str:
    """A name for what differs, from what it is called; `instead` of one that cannot be written in plain letters."""
    words = _ASKING.sub("", plain_words(label)) or plain_words(label)
    name = "_".join(words.split())[:_LONGEST].strip("_")
    if not name:
        name = instead
    elif name[0].isdigit():
        name = f"value_{name}"
    return _free(name, taken) if name else _numbered(taken)


def key_of(*phrases: str) -> str:
    """A key for a skill, from phrases that say what it does; empty when none can be written in plain letters."""
    words = [word for phrase in phrases for word in plain_words(phrase).split()]
    key = ""
    for word in words:
        longer = f"{key}-{word}" if key else word
        if len(longer) > _LONGEST + 8:
            break
        key = longer
    return key[: _LONGEST + 8].strip("-")


def _free(name: str, taken: Collection[str]) -> str:
    number = 2
    free = name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free


def _numbered(taken: Collection[str]) -> str:
    number = 1
    while f"value_{number}" in taken:
        number += 1
    return f"value_{number}"


def _spelt(sign: str) -> str:
    """A Korean syllable by its sounds; anything else as it is."""
    if not _HANGUL[0] <= ord(sign) <= _HANGUL[1]:
        return sign
    at = ord(sign) - _HANGUL[0]
    initial, rest = divmod(at, len(_VOWELS) * len(_FINALS))
    vowel, final = divmod(rest, len(_FINALS))
    return _INITIALS[initial] + _VOWELS[vowel] + _FINALS[final]
