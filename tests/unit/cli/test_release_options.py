"""Values of `skillyard release` as people write them."""

import io
import sys

import pytest

from skillyard.cli.release_options import json_file, secrets, variables
from skillyard.errors import UsageError


class Terminal(io.StringIO):
    def isatty(self):
        return True


def nobody(question):
    raise AssertionError(question)


def test_values_of_the_command_line_win_over_those_of_a_file(tmp_path):
    file = tmp_path / "values.json"
    file.write_text('{"quantity": 3, "customer": "Ada"}')
    assert variables(["customer=Bo=b", "note="], file) == {"quantity": 3, "customer": "Bo=b", "note": ""}


@pytest.mark.parametrize("text", ["customer", "=Ada", ""])
def test_a_variable_without_a_name_or_a_value_is_refused(text):
    with pytest.raises(UsageError):
        variables([text])


@pytest.mark.parametrize("content", ["[1]", "{", '"text"'])
def test_a_file_that_holds_no_object_is_refused(tmp_path, content):
    file = tmp_path / "values.json"
    file.write_text(content)
    with pytest.raises(UsageError, match=r"values\.json"):
        json_file(file, "--vars")


def test_a_secret_comes_from_the_environment_or_a_file(tmp_path):
    file = tmp_path / "key"
    file.write_text("from a file\n")
    environment = {"password": "p", "API_KEY": "k"}
    assert secrets(["password", "api_key", f"pin=@{file}"], environment, nobody) == {
        "password": "p",
        "api_key": "k",
        "pin": "from a file",
    }


def test_a_secret_is_read_from_stdin(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("piped\nrest"))
    assert secrets(["pin=@-"], {}, nobody) == {"pin": "piped"}


def test_a_secret_that_nobody_knows_is_asked_for_at_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert secrets(["pin"], {}, lambda question: f"answer to {question}") == {"pin": "answer to pin: "}


def test_off_a_terminal_it_is_said_how_to_give_a_secret(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with pytest.raises(UsageError) as refused:
        secrets(["pin"], {}, nobody)
    assert "PIN" in refused.value.message
    assert "--secret pin=@FILE" in refused.value.hint


def test_the_value_of_a_secret_is_refused_on_the_command_line_and_not_repeated():
    with pytest.raises(UsageError) as refused:
        secrets(["pin=4711"], {}, nobody)
    assert "4711" not in f"{refused.value.message}{refused.value.hint}{refused.value.details}"
