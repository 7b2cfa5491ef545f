"""What pages make of values."""

from skillyard.server.web.rendering import _fill


def test_a_step_shows_what_it_was_taken_with_and_dots_for_what_is_secret():
    text = 'fill @e1 "{{ user }}" {{password}} {{!literal}}'
    assert _fill(text, {"user": "lena"}) == 'fill @e1 "lena" •••••• {{literal}}'
