from hypothesis import given
from hypothesis import strategies as st

from skillyard.sandbox.browser_lines import line_of
from skillyard.sandbox.browser_steps import BrowserStep, parse_step

TEXTS = st.text(min_size=1, max_size=30).filter(str.strip)


@given(TEXTS)
def test_a_step_that_is_written_is_read_as_the_same(text):
    for step in (
        BrowserStep(verb="fill", arguments=("@e1", text)),
        BrowserStep(verb="fill", arguments=("@e1", text), options=("secret",)),
        BrowserStep(verb="find", arguments=("label", text, "fill", text)),
        BrowserStep(verb="find", arguments=("role", "button", "click"), options=(f"name={text}", "exact")),
        BrowserStep(verb="wait", options=(f"text={text}",)),
        BrowserStep(verb="open", arguments=(text,)),
        BrowserStep(verb="eval", arguments=(text,)),
        BrowserStep(verb="snapshot", options=("interactive", "depth=3")),
    ):
        assert parse_step(line_of(step)) == step


def test_what_is_easier_to_read_without_quotes_has_none():
    assert line_of(BrowserStep(verb="click", arguments=("@e2",))) == "click @e2"
    assert line_of(BrowserStep(verb="open", arguments=("http://a/b?c=d",))) == "open http://a/b?c=d"
    assert line_of(BrowserStep(verb="fill", arguments=("@e1", 'say "hi" \\'))) == r'fill @e1 "say \"hi\" \\"'
