"""Turning text of any language into the tokens that search compares.

Words of Latin scripts are lower-cased, freed of accents and stemmed by the engine; before that, code-like
names are split (`getUserName`, `c++`), and scripts without word borders that a machine could see (Chinese,
Japanese, Korean, Thai) become pairs of characters. Query and document go through the same steps.
"""

import re
from functools import cache
from typing import Final

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from skillyard.search.stopwords import STOP_WORDS
from skillyard.skill.normal_form import normalized

ANALYZER: Final = "skillyard"
"""What the engine calls our analyzer."""
_LONGEST: Final = 40
"""Longer words are hashes, keys and encoded data, which nobody asks for."""
_HAN_KANA: Final = "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HANGUL: Final = "\u1100-\u11ff\uac00-\ud7a3"
_SOUTHEAST: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_UNSPACED: Final = re.compile(f"(?=[\u0e00-\U0003ffff])(?:[{_HAN_KANA}]+|[{_HANGUL}]+|[{_SOUTHEAST}]+)")
"""The first look at a letter is only for speed: most are none of these."""
_MARKS: Final = re.compile(
    "[\u0300-\u036f\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd\u0b82\u0bbe-\u0bcd]"
)
"""Signs above and below letters: the engine would end a word at each."""
_LETTERS: Final = re.compile(r"[A-Za-z]{3,40}")
_PLURAL: Final = re.compile(r"\b([A-Z]{2,}|pdf|csv)s\b")
"""Plurals of abbreviations, which stemming does not know for words."""
_CAMEL_BORDER: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_SPELT_OUT: Final = (("C++", "cpp"), ("c++", "cpp"), ("C#", "csharp"), ("F#", "fsharp"), (".NET", "dotnet"))
"""Names that would lose their signs and then mean something else."""


@cache
def analyzer() -> TextAnalyzer:
    """What the engine does with a prepared text."""
    steps = (
        Filter.remove_long(_LONGEST),
        Filter.lowercase(),
        Filter.ascii_fold(),
        Filter.custom_stopword(sorted(STOP_WORDS)),
        Filter.stemmer("english"),
    )
    builder = TextAnalyzerBuilder(Tokenizer.simple())
    for step in steps:
        builder = builder.filter(step)
    return builder.build()


def prepared(text: str) -> str:
    """A text as the engine is given it: signs spelt out, and pairs instead of unspaced writing."""
    for sign, word in _SPELT_OUT:
        text = text.replace(sign, word)
    if text.isascii():
        return text
    return _UNSPACED.sub(_in_pairs, _MARKS.sub("", normalized("NFKC", text)))


def encodable(text: str) -> str:
    """A text without half pairs of surrogates, which the engine cannot take."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def split_names(text: str) -> str:
    """A text with code-like names in parts behind it: `GitHub` is found as "git hub" too, `PDFs` as "pdf"."""
    mixed = (word for word in _LETTERS.findall(text) if not word[1:].islower() and not word.isupper())
    parts = [split for word in mixed if (split := _CAMEL_BORDER.sub(" ", word)) != word]
    parts += _PLURAL.findall(text)
    return f"{text} {' '.join(parts)}" if parts else text


def tokenize(text: str) -> list[str]:
    """The tokens of a query or a short text, in their order, stop words left out."""
    return analyzer().analyze(prepared(split_names(text)))


def is_unspaced(token: str) -> bool:
    """Whether a token is a pair of characters and not a word."""
    return _UNSPACED.match(token) is not None


def _in_pairs(run: re.Match[str]) -> str:
    text = run.group()
    if len(text) == 1:
        return f" {text} "
    return f" {' '.join([text[start : start + 2] for start in range(len(text) - 1)])} "
