"""The texts of the pages in the languages of their readers."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from skillyard.server.web.accept import preferred

_FOLDER: Final = Path(__file__).parent / "texts"
LANGUAGES: Final = {"en": "English", "ko": "한국어", "zh": "中文"}
"""Each by what its readers call it."""
DEFAULT: Final = "en"


class Texts:
    """The texts of one language: `texts("skills.shown", n=3)`."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._texts = _texts_of(language)

    def __call__(self, key: str, **values: object) -> str:
        if not values:
            return self._texts[key]
        text = self._texts[f"{key}.one" if values.get("n") == 1 and f"{key}.one" in self._texts else key]
        return text.format_map(values)

    def __contains__(self, key: str) -> bool:
        return key in self._texts


@cache
def texts_in(language: str) -> Texts:
    return Texts(language)


def language_for(accept_language: str) -> str:
    """The language that a browser asks for first of those there are."""
    return preferred(accept_language, LANGUAGES) or DEFAULT


@cache
def _texts_of(language: str) -> Mapping[str, str]:
    """All texts by their keys, which begin with the name of their file."""
    texts: dict[str, str] = {}
    for path in sorted((_FOLDER / language).glob("*.toml")):
        _flatten(tomllib.loads(path.read_text(encoding="utf-8")), f"{path.stem}.", texts)
    return texts


def _flatten(table: Mapping[str, Any], prefix: str, into: dict[str, str]) -> None:
    for key, value in table.items():
        if isinstance(value, str):
            into[prefix + key] = value
        else:
            _flatten(value, f"{prefix}{key}.", into)
