import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.skill.names import (
    ascii_alias,
    hidden_characters,
    is_device_name,
    is_valid_name,
    name_problems,
    nearest_name,
    slugify,
)


@pytest.mark.parametrize("name", ["a", "pdf-forms", "x2", "2-x", "문서-작성", "数据-分析", "überblick", "a" * 64])
def test_names_of_the_specification_are_valid(name):
    assert is_valid_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "A",
        "a-",
        "-a",
        "a--b",
        "a_b",
        "a b",
        "a.b",
        "a/b",
        "..",
        "a\n",
        "abc\n",
        "con",
        "lpt1",
        "a" * 65,
        "a\u200bb",
        "a\u202eb",
        "ａ",
        "a\u3164",
        "\ud800",
    ],
)
def test_other_names_are_not(name):
    assert not is_valid_name(name)


def test_every_broken_rule_is_named_once():
    found = [code for code, _ in name_problems("-Bad__Name")]
    assert sorted(found) == ["name-case", "name-characters", "name-hyphens"]


def test_hidden_characters_are_named_by_code_point():
    assert hidden_characters("a\u200bb\u202e") == "U+200B, U+202E"
    assert hidden_characters("plain text, 한국어") == ""
    assert hidden_characters("two\nlines", but="\n") == ""


@given(text=st.text(max_size=100))
def test_a_slug_is_empty_or_a_valid_name(text):
    slug = slugify(text)
    assert slug == "" or is_valid_name(slug), slug


@given(name=st.text(max_size=100))
def test_an_alias_is_a_valid_ascii_name(name):
    alias = ascii_alias(name)
    assert alias.isascii()
    assert is_valid_name(alias)


def test_an_ascii_name_is_its_own_alias_and_others_never_share_one():
    assert ascii_alias("pdf-forms") == "pdf-forms"
    assert len({ascii_alias(name) for name in ("데이터", "数据", "café", "cafe", "caf")}) == 5


def test_accents_without_end_are_too_long_and_not_slow():
    started = time.process_time()
    assert "name-length" in [code for code, _ in name_problems("a" + "\u0301\u0323" * 100_000)]
    assert time.process_time() - started < 2


@pytest.mark.parametrize("use", [slugify, ascii_alias, is_device_name])
def test_accents_without_end_are_not_slow(use):
    started = time.process_time()
    use("a" + "\u0301\u0323" * 100_000)
    assert time.process_time() - started < 2


def test_the_nearest_name_is_the_one_that_looks_most_alike():
    assert nearest_name("pdf-frms", ["docker", "pdf-forms", "pdf"]) == "pdf-forms"
    assert nearest_name("zzz", ["docker", "pdf-forms"]) == ""
    assert nearest_name("anything", []) == ""


@pytest.mark.parametrize(("wanted", "name"), [("skil-03000", "skill-03000"), ("03001", "skill-03001")])
def test_of_very_many_names_the_nearest_is_found_wherever_it_stands(wanted, name):
    names = [f"skill-{number:05}" for number in range(6_000)]
    assert nearest_name(wanted, names) == name


def test_the_nearest_of_very_many_very_long_names_is_found_quickly():
    names = ["a" * 180 + f"{number:05d}" for number in range(10_000)]
    started = time.process_time()
    assert nearest_name("a" * 190, [*names, "b"]) == names[0]
    assert time.process_time() - started < 2
