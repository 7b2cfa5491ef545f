"""What the services say, in the language of whoever reads a page.

Services speak English, with values inside, and some of what they said is kept for long. So it is translated where it
is shown: `messages/ko/registry.toml` holds `"There is no skill {0}." = "{0} 스킬이 없습니다."`. A value that is itself
a message is translated too, and what nobody translated stays as it is, as do the words of people and of models.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from skillyard.server.web.texts import DEFAULT

FOLDER: Final = Path(__file__).parent / "messages"
WORDS: Final = "words"
"""The file with the single words that translations ask for as `{0:word}`, such as the names of states."""
_PLACE: Final = re.compile(r"\{(\d+)(:word)?\}")
_WORD: Final = re.compile(r"[A-Za-z]{2,}")
_WHOLE_WORD: Final = re.compile(r"(?<![A-Za-z\0])[A-Za-z]{2,}(?![A-Za-z\0])")
"""One that is not a part of a value."""
_BETWEEN_SENTENCES: Final = re.compile(r"(?<=[.!?]) (?=[^a-z\s])")
_STRONG: Final = 2
"""So many words tell a message from what a person wrote; one of fewer has to be a sentence."""
_NUMBER: Final = re.compile(r"[\d.,]+")
_LONGEST: Final = 2_000
_MOST_SENTENCES: Final = 8
_MOST_LOOKS: Final = 100
"""So many parts of a text are looked at before it is left as it is."""
_DEEPEST: Final = 4
_KEPT: Final = 4_096


class _Message:
    """What stands around the values of a message in English, and what is said instead."""

    def __init__(self, template: str, translation: str) -> None:
        marked = _PLACE.sub("\0", template)
        self.literals = marked.split("\0")
        self.translation = translation
        self.weight = sum(map(len, self.literals))
        self.words = len(_WORD.findall(marked))
        is_sentence = template[:1].isupper() and template.endswith(".")
        self._is_strong = self.words >= _STRONG or is_sentence
        self.key = max(_WHOLE_WORD.findall(marked), key=len, default="")
        """A word of every text that it is in."""

    def can_hold(self, values: Sequence[str], *, inside: bool) -> bool:
        """Whether this is meant; one of too few words only inside another one, and of nothing or of numbers."""
        return self._is_strong or (inside and all(map(_NUMBER.fullmatch, values)))

    def is_in(self, text: str) -> bool:
        at = 0
        for literal in self.literals:
            at = text.find(literal, at)
            if at < 0:
                return False
            at += len(literal)
        return True

    def values_in(self, text: str) -> list[str] | None:
        """What stands in its places; None if the text is another message. Takes no longer than reading the text."""
        if len(self.literals) == 1:
            return [] if text == self.literals[0] else None
        first, *middle, last = self.literals
        at, end = len(first), len(text) - len(last)
        if at > end or not text.startswith(first) or not text.endswith(last):
            return None
        values: list[str] = []
        for literal in middle:
            found = text.find(literal, at, end)
            if found < 0:
                return None
            values.append(text[at:found])
            at = found + len(literal)
        return [*values, text[at:end]]


class Messages:
    """The messages of one language: `messages.told("There is no skill 'pdf'.")`."""

    def __init__(self, catalogue: Mapping[str, str], words: Mapping[str, str]) -> None:
        self.words = words
        messages = [_Message(template, translation) for template, translation in catalogue.items()]
        self.joints = sorted((each for each in messages if not each.words), key=lambda each: -each.weight)
        """How messages stand beside names and beside each other."""
        self._by_word: dict[str, list[_Message]] = defaultdict(list)
        for message in messages:
            if message.words:
                self._by_word[message.key].append(message)
        self.told = lru_cache(_KEPT)(self._told)

    def _told(self, text: str) -> str:
        """The text in this language as far as it is known."""
        found = self._in(text) if len(text) <= _LONGEST else ()
        return (_Reading(self, found).said(text) or text) if found else text

    def _in(self, text: str) -> Sequence[_Message]:
        """All that the text may say, the most telling first."""
        words = {"", *_WORD.findall(text)}
        found = (message for word in words for message in self._by_word.get(word, ()) if message.is_in(text))
        return sorted(found, key=lambda message: -message.weight)


class _Said(NamedTuple):
    """A text in the other language, and how many characters of the English one were known."""

    text: str
    known: int


class _Reading:
    """The reading of one text that holds some messages: the way in which most of it is known."""

    def __init__(self, messages: Messages, found: Sequence[_Message]) -> None:
        self._messages = messages
        self._found = found
        self._looks = _MOST_LOOKS
        self._seen: dict[tuple[str, int], _Said | None] = {}

    def said(self, text: str) -> str | None:
        """The text in the other language; None if nothing of it is known."""
        said = self._look(text, 0)
        return said.text if said else None

    def _look(self, text: str, depth: int) -> _Said | None:
        bare = text.strip()
        if (bare, depth) not in self._seen:
            self._looks -= 1
            is_over = depth > _DEEPEST or self._looks < 0 or not any(message.is_in(bare) for message in self._found)
            self._seen[bare, depth] = None if is_over else max(self._ways(bare, depth), key=_known, default=None)
        said = self._seen[bare, depth]
        return said and _Said(text.replace(bare, said.text, 1), said.known)

    def _ways(self, text: str, depth: int) -> Iterator[_Said]:
        """The text as one message, as several one after the other, and as one that stands beside something else."""
        for message in self._found:
            values = message.values_in(text)
            if values is not None and message.can_hold(values, inside=depth > 0):
                yield self._put(message, values, depth)
                if not values:
                    return
        sentences = self._sentences(text, depth)
        if sentences.known:
            yield sentences
        for joint in self._messages.joints:
            values = joint.values_in(text)
            if values is not None:
                said = self._put(joint, values, depth)
                if said.known > joint.weight:
                    yield said

    def _sentences(self, text: str, depth: int) -> _Said:
        """Messages one after the other, each of one sentence or of several."""
        sentences = _BETWEEN_SENTENCES.split(text)
        told: list[_Said] = []
        while 1 < len(sentences) + len(told) <= _MOST_SENTENCES and sentences:
            for count in range(len(sentences), 0, -1):
                piece = " ".join(sentences[:count])
                said = self._look(piece, depth + 1) if piece != text else None
                if said is not None or count == 1:
                    told.append(said or _Said(piece, 0))
                    del sentences[:count]
                    break
        return _Said(" ".join(each.text for each in told), sum(map(_known, told)))

    def _put(self, message: _Message, values: Sequence[str], depth: int) -> _Said:
        """The message with its values, those that are known in the other language too."""
        said = [self._look(value, depth + 1) or _Said(value, 0) for value in values]

        def value(place: re.Match[str]) -> str:
            number = int(place[1])
            return self._messages.words.get(values[number], said[number].text) if place[2] else said[number].text

        return _Said(_PLACE.sub(value, message.translation), message.weight + sum(map(_known, said)))


def _known(said: _Said) -> int:
    return said.known


def told(text: str, language: str) -> str:
    """What a service said, in a language."""
    return text if language == DEFAULT else messages_in(language).told(text)


@cache
def messages_in(language: str) -> Messages:
    catalogue: dict[str, str] = {}
    words: dict[str, str] = {}
    for path in sorted((FOLDER / language).glob("*.toml")):
        into = words if path.stem == WORDS else catalogue
        into.update(tomllib.loads(path.read_text(encoding="utf-8")))
    return Messages(catalogue, words)
