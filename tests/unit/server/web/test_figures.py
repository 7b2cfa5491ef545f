import pytest

from skillyard.server.web.figures import duration, figure, percent


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0%"), (1, "100%"), (0.5, "50%"), (0.876, "88%"), (0.9994, "99.9%"), (0.99999, "99.9%"), (0.0001, "0.1%")],
)
def test_only_all_is_all_and_only_nothing_is_nothing(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0 ms"),
        (640, "640 ms"),
        (1_234, "1.2 s"),
        (60_000, "1 min"),
        (125_900, "2 min 5 s"),
        (3_600_000, "1 h"),
        (11_100_000, "3 h 5 min"),
    ],
)
def test_a_duration_is_told_in_the_units_that_matter(milliseconds, text):
    assert duration(milliseconds) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (1e-9, "0"), (0.0123, "0.012"), (2.26, "2.3"), (25, "25"), (1_234_567.8, "1,234,568")],
)
def test_a_figure_of_any_size_can_be_read(number, text):
    assert figure(number) == text
