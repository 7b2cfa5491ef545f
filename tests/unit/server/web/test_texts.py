"""The texts of the pages: complete in every language, and none that nobody shows."""

import re
from pathlib import Path
from string import Formatter

import pytest

import skillyard
import skillyard.server.web
from skillyard.releases.payloads import VariableType
from skillyard.server.web.accept import preferred
from skillyard.server.web.texts import LANGUAGES, _texts_of, language_for

PACKAGE = Path(skillyard.__file__).parent
WEB = Path(skillyard.server.web.__file__).parent
SOURCES = [*WEB.rglob("*.html"), *WEB.rglob("*.py")]
USED = re.compile(r"""\bt(?:exts)?\(\s*f?["']([^"']*)["'](\s*~)?""")


def fields(text):
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_everything_with_the_same_values(language):
    english, other = _texts_of("en"), _texts_of(language)
    plain = {key for key in english if not key.endswith(".one")}
    assert {key for key in other if not key.endswith(".one")} == plain
    for key in plain:
        assert fields(other[key]) == fields(english[key]), key
        assert other[key].strip(), key


def test_every_text_that_a_page_asks_for_is_there():
    texts = _texts_of("en")
    for source in SOURCES:
        for key, goes_on in USED.findall(source.read_text()):
            if goes_on or "{" in key:
                assert any(text.startswith(key.partition("{")[0]) for text in texts), f"{source.name}: {key}"
            else:
                assert key in texts, f"{source.name}: {key}"


def test_no_text_is_left_over():
    everything = "\n".join(source.read_text() for source in SOURCES)
    prefixes = [key.partition("{")[0] for key, goes_on in USED.findall(everything) if goes_on or "{" in key]
    prefixes += re.findall(r"""["']([a-z_]+\.(?:[a-z_]+\.)*)["']\s*~""", everything)
    for key in _texts_of("en"):
        name = key.removesuffix(".one")
        known = name in everything or any(name.startswith(prefix) for prefix in prefixes if prefix)
        assert known or name.startswith(("actions.", "done.", "errors.")), key


def test_everything_that_the_history_tells_has_words():
    rooms = [room for room in PACKAGE.iterdir() if room.is_dir() and room.name != "server"]
    code = "\n".join(path.read_text() for room in rooms for path in room.rglob("*.py"))
    actions = set(re.findall(r'"([a-z_]+\.[a-z_]*(?:ed|set|back|begun))"', code))
    assert {"person.created", "version.published", "proposal.decided", "member.set", "policy.set"} <= actions
    assert {f"actions.{action}" for action in actions} <= set(_texts_of("en"))


def test_every_type_of_a_variable_and_every_way_of_feedback_has_words():
    code = "\n".join(path.read_text() for path in PACKAGE.rglob("*.py"))
    ways = set(re.findall(r'\b(?:give|take|take_each|give_feedback)\(.*source="(\w+)"', code))
    assert {"cli", "file", "mcp", "web"} <= ways
    assert {f"learning.sources.{way}" for way in ways} <= set(_texts_of("en"))
    assert {f"releases.variable_types.{each}" for each in VariableType} <= set(_texts_of("en"))


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"),
        ("ko-KR,ko;q=0.9,en;q=0.8", "ko"),
        ("de, zh-CN;q=0.5, en;q=0.4", "zh"),
        ("de", "en"),
        ("en;q=0.1, ko;q=0.9", "ko"),
        ("ko;q=0", "en"),
        ("ko;q=x,,;;,=", "en"),
        ("한국어", "en"),
    ],
)
def test_a_browser_gets_the_language_it_likes_best(header, language):
    assert language_for(header) == language


def test_a_header_without_end_is_read_only_so_far():
    assert preferred("xx," * 100_000 + "ko", LANGUAGES) is None
