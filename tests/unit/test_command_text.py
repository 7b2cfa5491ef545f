import shlex

import pytest

from skillyard.command_text import command_text


@pytest.mark.parametrize("name", ["pdf", "Bad Name", "it's", "$(id)", "`id`", "a;b", "서식", "*", "#1"])
def test_a_name_is_one_word_for_the_shell(name):
    command = command_text("skill adopt", name, options=["--root", "/my skills"])
    assert shlex.split(command) == ["skillyard", "skill", "adopt", name, "--root", "/my skills"]


@pytest.mark.parametrize("name", ["-rf", "--help", "-"])
def test_a_name_that_looks_like_an_option_comes_after_all_options(name):
    command = command_text("remove", "pdf", name, options=["--force"])
    assert shlex.split(command) == ["skillyard", "remove", "--force", "--", "pdf", name]
