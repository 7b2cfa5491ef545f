"""What the services say, in the languages of the pages."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

from skillyard.server.web.messages import FOLDER, WORDS, Messages, messages_in, told
from skillyard.server.web.rendering import _environment
from skillyard.server.web.texts import DEFAULT, LANGUAGES, texts_in

OTHERS = [language for language in LANGUAGES if language != DEFAULT]
PLACE = re.compile(r"\{(\d+)(?::word)?\}")
HTML = {"accept": "text/html", "accept-language": "ko"}
CATALOGUE = {
    "Try again later.": "나중에 다시 시도하세요.",
    "There is no skill {0}.": "{0} 스킬이 없습니다.",
    "{0} has {1} bytes; at most {2} are read.": "최대 {2}바이트까지 읽는데 {0}은(는) {1}바이트입니다.",
    "The skill {0} cannot be read: {1}": "{0} 스킬을 읽을 수 없습니다: {1}",
    "The skill {0} cannot be read at all: {1}": "{0} 스킬을 전혀 읽을 수 없습니다: {1}",
    "It is over. Nothing is left of {0}.": "끝났습니다. {0}에서 남은 것이 없습니다.",
    "is no text": "텍스트가 아닙니다",
    "It is {0}.": "상태: {0:word}.",
    "The release is not in use: it is {0}.": "릴리스가 사용 중이 아닙니다: {0:word}.",
    "Write it as {…}, not as {{{0}}}.": "{{{0}}}이(가) 아니라 {…}(으)로 쓰세요.",
    "{0}: {1}": "{0}: {1}",
    "{0}: {1} {2}.": "{0}: {1} {2}.",
    "{0}, {1}": "{0}, {1}",
}


def extractor():
    script = Path(__file__).parents[4] / "scripts" / "messages.py"
    spec = importlib.util.spec_from_file_location("messages_script", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def said():
    return extractor().templates()


@pytest.fixture
def korean():
    return Messages(CATALOGUE, {"killed": "꺼짐"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Try again later.", "나중에 다시 시도하세요."),
        ("There is no skill 'a.b c'.", "'a.b c' 스킬이 없습니다."),
        ("x has 9 bytes; at most 7 are read.", "최대 7바이트까지 읽는데 x은(는) 9바이트입니다."),
        ("Write it as {…}, not as {{a}}.", "{{a}}이(가) 아니라 {…}(으)로 쓰세요."),
        ("", ""),
        ("What a person wrote.", "What a person wrote."),
        ("여기에 아무것도 없습니다.", "여기에 아무것도 없습니다."),
    ],
)
def test_a_message_is_said_with_its_values_in_their_places(korean, text, said):
    assert korean.told(text) == said


def test_the_template_with_the_most_words_is_meant(korean):
    assert korean.told("The skill a cannot be read at all: x") == "a 스킬을 전혀 읽을 수 없습니다: x"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The skill a cannot be read: There is no skill b.", "a 스킬을 읽을 수 없습니다: b 스킬이 없습니다."),
        ("content: 5 is no text.", "content: 5 텍스트가 아닙니다."),
        ("a.md, There is no skill b.", "a.md, b 스킬이 없습니다."),
        ("There is no skill b. Try again later.", "b 스킬이 없습니다. 나중에 다시 시도하세요."),
        (
            "It is over. Nothing is left of it. Try again later.",
            "끝났습니다. it에서 남은 것이 없습니다. 나중에 다시 시도하세요.",
        ),
        (" Try again later.\n", " 나중에 다시 시도하세요.\n"),
    ],
)
def test_messages_inside_and_beside_others_are_said_too(korean, text, said):
    assert korean.told(text) == said


def test_what_only_looks_like_a_template_without_words_stays(korean):
    assert korean.told("Note: mind the gap.") == "Note: mind the gap."
    assert korean.told("It is: mine, yours.") == "It is: mine, yours."


def test_a_single_word_is_translated_only_where_a_translation_asks_for_it(korean):
    assert korean.told("The release is not in use: it is killed.") == "릴리스가 사용 중이 아닙니다: 꺼짐."
    assert korean.told("There is no skill killed.") == "killed 스킬이 없습니다."


@pytest.mark.parametrize(
    ("text", "korean", "chinese"),
    [
        ("built-in: 4 skills", "built-in: 스킬 4개", "built-in：4 个技能"),
        ("sqlite:///a at revision 0008", "sqlite:///a(리비전 0008)", "sqlite:///a（修订版 0008）"),
        ("'vip': 2 rows added, 1 row removed.", "'vip': 2행 추가, 1행 삭제.", "'vip'：2 行新增，1 行删除。"),
    ],
)
def test_what_is_counted_is_said_in_every_language(text, korean, chinese):
    assert (told(text, "ko"), told(text, "zh")) == (korean, chinese)


def test_english_is_left_alone():
    assert told("Try again later.", DEFAULT) == "Try again later."


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize(
    "text", [": " * 900, "a: " * 600, "x. Y" * 450, ", " * 990, "'" * 1990, " has bytes; at most" * 99]
)
def test_hostile_texts_are_soon_left_as_they_are(language, text):
    assert messages_in(language).told(text) == text


def test_messages_without_end_are_read_only_so_far(korean):
    assert korean.told("content: 5 is no text; " * 80).startswith("content")


def test_texts_without_end_are_not_looked_at(korean):
    text = f"There is no skill {'x' * 3_000}."
    assert korean.told(text) == text


def test_values_with_markup_are_escaped():
    template = _environment().from_string("{{ text | told }}")
    shown = template.render(t=texts_in("ko"), text="There is nothing at <script>.")
    assert shown == "&lt;script&gt;에는 아무것도 없습니다."


def test_a_page_says_errors_in_the_language_of_its_reader(served):
    ana = served.token("ana")
    answer = ana.get("/nowhere", headers=HTML)
    assert answer.status_code == 404
    assert "/nowhere에는 아무것도 없습니다." in answer.text
    assert "첫 페이지(/)에서 찾아보세요." in answer.text
    assert "There is nothing at /nowhere." in ana.get("/nowhere", headers={**HTML, "accept-language": "en"}).text


def test_programs_are_told_in_english(served):
    answer = served.token("ana").get("/nowhere", headers={"accept-language": "ko"})
    assert answer.json()["error"]["message"] == "There is nothing at /nowhere."


@pytest.mark.parametrize("language", OTHERS)
def test_every_translation_is_of_something_that_is_said(language, said):
    script = extractor()
    for path in sorted((FOLDER / language).glob("*.toml")):
        for template, translation in script.catalogue(language, path.stem).items():
            assert translation.strip(), template
            if path.stem != WORDS:
                is_joint = not re.search(r"[a-z]{2}", template)
                assert is_joint or template in said.get(path.stem, ()), f"{path.stem}: {template}"
                assert set(PLACE.findall(translation)) == set(PLACE.findall(template)), template


@pytest.mark.parametrize("language", OTHERS)
def test_everything_that_is_said_has_a_translation(language, said):
    translated = {
        template for path in (FOLDER / language).glob("*.toml") for template in tomllib.loads(path.read_text("utf-8"))
    }
    lacking = {room: sorted(templates - translated) for room, templates in said.items() if templates - translated}
    assert lacking == {}, f"Translate what scripts/messages.py {language} ROOM prints."


def test_single_words_are_the_same_in_all_languages():
    script = extractor()
    assert len({frozenset(script.catalogue(language, WORDS)) for language in OTHERS}) == 1


def test_all_ways_in_which_a_message_may_read_are_found():
    source = '''
def f(n, names, where):
    """Not a message of ours."""
    more = f" and {n} more" if n else ""
    problem = "it is gone" if n else "it is late"
    _log.warning("This goes to the log.")
    raise InputError(
        f"There is no skill {names!r}{more}" + ".",
        hint=problem if where else "Look " f"at {where}: first.",
        details={"field": "name"},
    )
'''
    found = extractor()._Said(errors_only=False).in_module(source)
    assert found == {
        "There is no skill {0}.",
        "There is no skill {0} and {1} more.",
        "Look at {0}: first.",
        "it is gone",
        "it is late",
    }
