"""Whether a label is another one that changed a little. What may mean the opposite never is."""

import re
import unicodedata
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Final

SAME: Final = 1.0
"""But for case, blanks, signs, and marks such as an asterisk or "(required)"."""
_JOINED: Final = 0.98
_REORDERED: Final = 0.95
_SYNONYMS_SCORE: Final = 0.9
_EXTENDED: Final = 0.8
_MISSPELT: Final = 0.75
ENOUGH: Final = 0.7
APART: Final = 0.1
"""By so much the best must be better than the next."""

_MOST_EXTRA: Final = 2
_SHORTEST_MISSPELT: Final = 4
_ALIKE: Final = 0.75
_MARKS: Final = re.compile(
    r"\(?\b(?:required|optional|mandatory|pflichtfeld|obligatoire|obligatorio|requerido)\b\)?|\(?(?:必填|必須|필수)\)?"
)
_WORD: Final = re.compile(r"\w+")
_COUNT: Final = re.compile(r"\s*[(\[]\s*\d+\s*[)\]]\s*$")
_DIGITS: Final = re.compile(r"\d+")
_NEGATIONS: Final = ("un", "dis", "de", "in", "non", "im")

_SYNONYMS: Final[Mapping[str, str]] = {
    word: group[0]
    for group in (
        ("signin", "login", "logon", "signon"),
        ("signout", "logout", "logoff"),
        ("email", "mail", "emailaddress", "mailaddress"),
        ("phone", "telephone", "phonenumber", "telephonenumber"),
        ("zip", "zipcode", "postcode", "postalcode"),
        ("lastname", "surname", "familyname"),
        ("firstname", "givenname", "forename"),
        ("username", "userid", "loginname"),
    )
    for word in group
}
"""Whole labels, without blanks, that say the same."""

_RISKY: Final = frozenset(
    (
        *("cancel", "delete", "remove", "discard", "reject", "decline", "deny", "disable", "stop", "reset", "clear"),
        *("unsubscribe", "unpublish", "archive", "logout", "out", "off", "no", "not", "never", "without", "back"),
        *(
            "previous",
            "close",
            "hide",
            "erase",
            "wipe",
            "purge",
            "drop",
            "destroy",
            "abort",
            "undo",
            "revoke",
            "refund",
        ),
        *("draft", "all", "everything", "permanently", "forget", "skip", "ignore", "unfollow", "block", "withdraw"),
        *("abbrechen", "löschen", "entfernen", "annuler", "supprimer", "cancelar", "eliminar", "borrar", "annulla"),
    )
)
_RISKY_PARTS: Final = ("취소", "삭제", "거부", "取消", "删除", "刪除", "削除", "キャンセル", "拒否", "拒绝", "清空")
"""The same in languages that write words without blanks."""
_TELLING: Final = frozenset(
    (
        *("confirm", "repeat", "again", "retype", "verify", "new", "old", "current", "first", "last", "middle"),
        *("start", "end", "from", "to", "billing", "shipping", "home", "work", "second", "other", "another"),
        *("alternate", "alternative", "minimum", "maximum", "min", "max", "before", "after", "up", "down", "in", "on"),
    )
)
"""Words that tell fields of nearly the same name apart."""
_FILLING: Final = frozenset({"a", "an", "the", "this", "of", "for", "your", "my", "our", "please"})
"""Words that say nothing by themselves."""
_JOINING: Final = frozenset({"to", "on", "in", "with", "at"})
"""Words that tell nothing apart where they only lead to more words: `Continue to review`."""


def alikeness(recorded: str, found: str) -> float:
    """How sure it is that a label is the recorded one, changed a little: 1 for certain, 0 for no."""
    before, after = _words(recorded), _words(found)
    if not before or not after or _contradict(recorded, found, before, after):
        return 0.0
    if before == after:
        return SAME
    joined = "".join(before), "".join(after)
    if joined[0] == joined[1]:
        return _JOINED
    if sorted(before) == sorted(after):
        return _REORDERED
    if joined[0] in _SYNONYMS and _SYNONYMS[joined[0]] == _SYNONYMS.get(joined[1]):
        return _SYNONYMS_SCORE
    return max(_extended(before, after), _misspelt(before, after))


def plain(text: str) -> str:
    """A label without what makes no difference on a page: kinds of blanks, forms of the same letter."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _uncounted(label: str) -> str:
    """Without a number that says how many there are: `Cart (2)`."""
    return _COUNT.sub("", label)


def _words(label: str) -> list[str]:
    text = _MARKS.sub(" ", _uncounted(plain(label)).casefold())
    return _WORD.findall(text.replace("_", " ").replace("'", "").replace("\u2019", ""))


def _contradict(recorded: str, found: str, before: list[str], after: list[str]) -> bool:
    if _DIGITS.findall(_uncounted(recorded)) != _DIGITS.findall(_uncounted(found)):
        return True  # the second address line is not the first
    changed = set(before) ^ set(after)
    if "".join(before) == "".join(after):
        return False
    if changed & _RISKY or any((part in recorded) != (part in found) for part in _RISKY_PARTS):
        return True
    return any(one == prefix + other for one in changed for other in changed for prefix in _NEGATIONS)


def _extended(before: list[str], after: list[str]) -> float:
    """Some words were added or left out, none that tell things apart."""
    shorter, longer = sorted((before, after), key=len)
    less, more = sorted((set(before), set(after)), key=len)
    extra = more - less - _FILLING
    if longer[: len(shorter)] == shorter and len(longer) > len(shorter) + 1 and longer[len(shorter)] in _JOINING:
        extra -= {longer[len(shorter)]}
    if not less < more or len(extra) > _MOST_EXTRA or extra & _TELLING or max(map(len, less)) < 3:  # noqa: PLR2004
        return 0.0
    return _EXTENDED


def _misspelt(before: list[str], after: list[str]) -> float:
    """One word is written a little differently."""
    if len(before) != len(after):
        return 0.0
    differing = [(one, other) for one, other in zip(before, after, strict=True) if one != other]
    if len(differing) != 1:
        return 0.0
    one, other = differing[0]
    if min(len(one), len(other)) < _SHORTEST_MISSPELT or {one, other} & _TELLING:
        return 0.0
    return _MISSPELT if SequenceMatcher(None, one, other, autojunk=False).ratio() >= _ALIKE else 0.0
