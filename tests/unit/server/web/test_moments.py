"""Moments as people speak of them."""

from datetime import UTC, datetime, timedelta

import pytest

from skillyard.server.web.moments import ago
from skillyard.server.web.texts import texts_in

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("distance", "told"),
    [
        (timedelta(seconds=-59), "just now"),
        (timedelta(minutes=-1, seconds=-59), "1 minute ago"),
        (timedelta(hours=-1, minutes=-59, seconds=-59), "1 hour ago"),
        (timedelta(days=-800), "2 years ago"),
        (timedelta(seconds=1), "just now"),
        (timedelta(minutes=1), "in 1 minute"),
        (timedelta(minutes=29, seconds=58), "in 30 minutes"),
        (timedelta(hours=1, minutes=59, seconds=58), "in 2 hours"),
        (timedelta(hours=1, minutes=58, seconds=58), "in 1 hour"),
        (timedelta(days=7), "in 7 days"),
    ],
)
def test_a_moment_is_told_by_how_far_it_is(distance, told):
    assert ago(NOW + distance, NOW, texts_in("en")) == told
