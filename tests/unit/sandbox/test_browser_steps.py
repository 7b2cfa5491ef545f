from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InputError, LimitError
from skillyard.sandbox.browser_steps import MAX_STEP, VERBS, BrowserStep, parse_step


def step(verb, *arguments, options=()):
    return BrowserStep(verb=verb, arguments=arguments, options=tuple(options))


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("open https://example.org/a?b=c#d", step("open", "https://example.org/a?b=c#d")),
        ("agent-browser open example.org", step("open", "example.org")),
        ("  goto   example.org\n", step("open", "example.org")),
        ("navigate example.org", step("open", "example.org")),
        ("snapshot", step("snapshot")),
        ("snapshot -i", step("snapshot", options=["interactive"])),
        ("snapshot --interactive -c -d 3 -s '#main div'", None),
        ("click @e2", step("click", "@e2")),
        ("click '#id > a.b'", step("click", "#id > a.b")),
        ("dblclick @e10", step("dblclick", "@e10")),
        ('fill @e1 "some text"', step("fill", "@e1", "some text")),
        ("fill @e1 some text", step("fill", "@e1", "some text")),
        ('fill @e1 ""', step("fill", "@e1", "")),
        ('fill @e1 "a \\"b\\" \\\\ \\n"', step("fill", "@e1", 'a "b" \\ \\n')),
        ("fill @e1 'it''s'", step("fill", "@e1", "its")),
        ('fill @e1 "--secret"', step("fill", "@e1", "--secret")),
        ('fill @e1 "-5"', step("fill", "@e1", "-5")),
        ("fill @e1 -5", step("fill", "@e1", "-5")),
        ('fill --secret @e1 "{{password}}"', step("fill", "@e1", "{{password}}", options=["secret"])),
        ('type @e1 "한국어 中文"', step("type", "@e1", "한국어 中文")),
        ("press Control+a", step("press", "Control+a")),
        ("key Enter", step("press", "Enter")),
        ("select @e3 red blue", step("select", "@e3", "red", "blue")),
        ("scroll down", step("scroll", "down")),
        ("scroll up 500 -s .list", step("scroll", "up", "500", options=["selector=.list"])),
        ("get text @e3", step("get", "text", "@e3")),
        ("get attr @e3 href", step("get", "attr", "@e3", "href")),
        ("get title", step("get", "title")),
        ("get count li", step("get", "count", "li")),
        ("is visible @e1", step("is", "visible", "@e1")),
        ("wait @e1", step("wait", "@e1")),
        ("wait 2000", step("wait", "2000")),
        ('wait --text "Welcome back"', step("wait", options=["text=Welcome back"])),
        ("wait --url **/done", step("wait", options=["url=**/done"])),
        ("wait --load networkidle", step("wait", options=["load=networkidle"])),
        ("screenshot", step("screenshot")),
        ("screenshot out/page.png --full", step("screenshot", "out/page.png", options=["full"])),
        ("back", step("back")),
        ("eval document.querySelector('h1').innerText", step("eval", "document.querySelector('h1').innerText")),
        ('eval "1 + 1"', step("eval", "1 + 1")),
        ("eval 'a' + 'b'", step("eval", "'a' + 'b'")),
        ("quit", step("close")),
        ('find role button click --name "Submit"', step("find", "role", "button", "click", options=["name=Submit"])),
        ('find label "E-mail" fill "a@b.example"', step("find", "label", "E-mail", "fill", "a@b.example")),
        ("find nth 2 a text", step("find", "nth", "2", "a", "text")),
        ("find nth -1 a click", step("find", "nth", "-1", "a", "click")),
    ],
)
def test_steps_are_read_as_the_command_line_reads_them(text, parsed):
    if parsed is None:
        parsed = step("snapshot", options=["interactive", "compact", "depth=3", "selector=#main div"])
    assert parse_step(text) == parsed


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("agent-browser", "empty"),
        ("clik @e1", "no step 'clik'"),
        ("click", "'click' has 0 arguments"),
        ("click @e1 @e2", "'click' has 2 arguments"),
        ("click @1", "not a ref"),
        ("click @e0", "not a ref"),
        ('click ""', "the element is empty"),
        ("fill @e1", "'fill' has 1 arguments"),
        ('fill @e1 "open', "opened and not closed"),
        ("fill @e1 --password x", "no option like that"),
        ("open", "'open' has 0 arguments"),
        ("open a.example && snapshot", "'open' has 3 arguments"),
        ("snapshot -x", "no option like that"),
        ("snapshot -d", "-d needs a value"),
        ("snapshot -d two", "--depth is not a number"),
        ("scroll sideways", "not a direction"),
        ("scroll down far", "not a number"),
        ("get", "'get' has 0 arguments"),
        ("get colour @e1", "'get' knows"),
        ("get text", "takes 1 arguments"),
        ("get attr @e1", "takes 2 arguments"),
        ("is red @e1", "'is' knows"),
        ("wait", "waits for one thing"),
        ("wait @e1 --text x", "waits for one thing"),
        ("wait --load never", "--load is one of"),
        ("eval", "'eval' has 0 arguments"),
        ("find role button", "'find' has 2 arguments"),
        ("find colour red click", "'find' knows"),
        ("find role button explode", "what to do with it is one of"),
        ("find label x fill", "'fill' takes 1 arguments"),
        ("find role button click now", "'click' takes 0 arguments"),
        ("find nth a b click", "needs a number"),
        ("find nth 1 a", "what to do with it"),
    ],
)
def test_what_is_wrong_with_a_step_is_said_with_how_to_write_it(text, problem):
    with pytest.raises(InputError, match="cmd: ") as caught:
        parse_step(text)
    assert problem in caught.value.message
    assert caught.value.hint
    assert caught.value.details["field"] == "cmd"


def test_an_unknown_step_is_answered_with_all_that_there_are():
    with pytest.raises(InputError) as caught:
        parse_step("jump")
    assert all(verb in caught.value.hint for verb in VERBS)


@pytest.mark.parametrize(
    "text",
    ['fill "@e 1" "hunter2 and more"', 'fill "" hunter2', "fill hunter2", 'fill @e1 "hunter2', "fill @e1 -hunter2"],
)
def test_an_error_never_repeats_what_may_be_a_password(text):
    with pytest.raises(InputError) as caught:
        parse_step(text)
    assert "hunter2" not in str(caught.value.as_dict())


def test_a_step_that_is_too_long_is_refused_with_its_limit():
    with pytest.raises(LimitError) as caught:
        parse_step("fill @e1 " + "x" * MAX_STEP)
    assert caught.value.details["limit"] == MAX_STEP


@given(st.text(max_size=60))
def test_any_quoted_text_arrives_as_it_was(text):
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    assert parse_step(f'fill @e1 "{quoted}"').arguments == ("@e1", text)


@given(
    st.lists(st.sampled_from([*VERBS, "@e1", "-i", "--name", '"', "'", "\\", " ", "role", "7", "text", "한"])).map(
        "".join
    )
)
def test_any_line_is_a_step_or_an_input_error(line):
    with suppress(InputError):
        assert parse_step(line).verb in VERBS
