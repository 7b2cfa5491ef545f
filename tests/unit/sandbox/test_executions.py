from datetime import UTC, datetime

import pytest

from skillyard.errors import InputError
from skillyard.redact import storable
from skillyard.sandbox.cursors import cursor_of, read_cursor
from skillyard.sandbox.executions import MAX_KEPT, kept, tag_list, tags_in, tidy_tags
from skillyard.sandbox.ids import new_id
from skillyard.sandbox.profiles import PROFILES, limits_of, profile_named


def test_what_is_kept_of_much_is_bounded_and_says_so():
    text = kept("a" * MAX_KEPT + "b" * MAX_KEPT)
    assert text.startswith("a")
    assert text.endswith("b")
    assert f"{MAX_KEPT:,} characters" in text
    assert len(text) < MAX_KEPT + 100
    assert kept("short") == "short"


def test_what_is_kept_has_no_secret_that_can_be_recognised():
    assert kept("Authorization: Bearer abcdefghijklmnopqrst") == "Authorization: Bearer ***"
    assert kept("sky_abcdefghijk at https://me:word@host/") == "sky_*** at https://me:***@host/"


def test_text_that_no_database_takes_is_made_readable():
    assert storable("a\0b\ud800c한") == "a\ufffdb?c한"


def test_tags_are_found_whole():
    assert tags_in(" a, b ,,c ") == ["a", "b", "c"]
    assert tag_list("a, b") == ",a,b,"
    assert tag_list(None) == ","


def test_tags_are_told_each_once_and_in_order():
    assert tidy_tags(" b, a ,,b ") == "a,b"
    assert (tidy_tags(" , "), tidy_tags(None)) == (None, None)


def test_a_cursor_leads_back_to_its_place():
    at = datetime(2026, 5, 20, 12, 0, 0, 123456, tzinfo=UTC)
    assert read_cursor(cursor_of(at, "sandbox-1")) == (at, "sandbox-1")
    assert read_cursor(None) is None


@pytest.mark.parametrize("text", ["", "x", "é", "AAAA", cursor_of(datetime(2026, 1, 1), "x"), "A" * 3])  # noqa: DTZ001 -- no zone
def test_a_made_up_cursor_is_refused(text):
    with pytest.raises(InputError, match="cursor"):
        read_cursor(text)


def test_ids_say_what_they_name():
    assert new_id("exec").startswith("exec-")
    assert len({new_id("sandbox") for _ in range(100)}) == 100


def test_limits_are_the_profiles_unless_others_are_asked_for():
    profile = profile_named("browser-python")
    assert limits_of(profile, {}) == profile.limits
    limits = limits_of(profile, {"processes": 7})
    assert (limits.processes, limits.memory_bytes) == (7, profile.limits.memory_bytes)
    with pytest.raises(InputError) as caught:
        profile_named("none")
    assert caught.value.details["known"] == list(PROFILES)
