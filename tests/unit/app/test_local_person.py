import getpass

import pytest

from skillyard.app.local_person import local_name


@pytest.mark.parametrize(
    ("login", "name"),
    [
        ("jane", "jane"),
        ("Jane Doe", "jane-doe"),
        ("DOMAIN\\jane", "domain-jane"),
        ("system", "local"),
        ("...", "local"),
    ],
)
def test_a_login_becomes_a_name_that_can_begin_a_skills(monkeypatch, login, name):
    monkeypatch.setattr(getpass, "getuser", lambda: login)
    assert local_name() == name


def test_a_login_of_any_length_is_cut(monkeypatch):
    monkeypatch.setattr(getpass, "getuser", lambda: "a-" * 100)
    assert local_name() == ("a-" * 24).strip("-")


@pytest.mark.parametrize("error", [OSError, KeyError, ImportError])
def test_a_user_without_a_name_has_one(monkeypatch, error):
    def nobody():
        raise error("no such user")

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert local_name() == "local"
