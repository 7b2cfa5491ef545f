from datetime import datetime, timedelta

import pytest

from skillyard.cli.amounts import mebibytes, moment, seconds, until
from skillyard.clock import utc_now
from skillyard.errors import UsageError


def test_times_and_sizes_are_written_as_people_do():
    assert [seconds(text, "--ttl") for text in ("90", "30m", "2H", "1d", None)] == [90, 1800, 7200, 86_400, None]
    assert [mebibytes(text, "--size") for text in ("512m", "2g", None)] == [512, 2048, None]
    with pytest.raises(UsageError, match="--ttl takes seconds"):
        seconds("5w", "--ttl")


def test_a_moment_is_a_date_or_a_time_ago():
    assert moment(None) is None
    assert moment("2026-05-20T12:00:00+00:00") == "2026-05-20T12:00:00+00:00"
    then = datetime.fromisoformat(moment("2h"))
    ago = utc_now() - then
    assert timedelta(hours=2) <= ago < timedelta(hours=2, minutes=1)
    with pytest.raises(UsageError, match="2026-05-20"):
        moment("yesterday")


def test_a_moment_to_come_is_a_date_or_a_time_from_now():
    assert until(None, "--until") is None
    assert until("2027-01-31T12:00:00+00:00", "--until") == "2027-01-31T12:00:00+00:00"
    left = datetime.fromisoformat(until("30d", "--until")) - utc_now()
    assert timedelta(days=30) - timedelta(minutes=1) < left <= timedelta(days=30)
    with pytest.raises(UsageError, match="30d"):
        until("tomorrow", "--until")


@pytest.mark.parametrize("text", ["999999999999999d", "9999-12-31T23:00-05:00", "0001-01-01T01:00+05:00"])
@pytest.mark.parametrize("read", [moment, until])
def test_a_moment_that_no_calendar_has_is_refused(read, text):
    with pytest.raises(UsageError, match="--when takes a date"):
        read(text, "--when")
