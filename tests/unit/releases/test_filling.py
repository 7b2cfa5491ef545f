"""Values in templates: whatever is in a value, it is never more than a value."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InputError
from skillyard.releases.filling.browser import fill_browser
from skillyard.releases.filling.python import fill_python
from skillyard.releases.filling.shell import environment_name, fill_shell, program_variables
from skillyard.releases.placeholders import fill_text, literal, placeholders, tidy
from skillyard.sandbox.browser_steps import parse_step

EVIL = 'a\'; touch pwned; "$(touch pwned)" `id`\nline2 \\ {{x}} ${HOME} %s * 日本語'

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


def run_shell(template, values, folder):
    command, environment = fill_shell(template, values)
    environment["PATH"] = "/usr/bin:/bin"
    done = subprocess.run(["/bin/sh", "-c", command], env=environment, cwd=folder, capture_output=True, check=False)
    assert list(folder.iterdir()) == []
    return done.stdout.decode()


def run_python(template, values, secrets=()):
    environment = {environment_name(name): str(values[name]) for name in secrets}
    code = fill_python(template, values, secrets={name: environment_name(name) for name in secrets})
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code], env=environment, capture_output=True, check=False, text=True
    )
    return done.stdout, code


def test_names_are_found_in_any_language():
    assert placeholders("{{a}} {{ b_2 }} {{用户名}} {{!c}} {{.d}} {{2e}} {f} {{g h}}") == {"a", "b_2", "用户名"}
    assert tidy("{{ a }} {{b}}") == "{{a}} {{b}}"


@given(st.text(alphabet="{}!ab ", max_size=30))
def test_a_literal_text_stays_what_it_is(text):
    assert placeholders(literal(text)) == set()
    assert fill_text(literal(text), lambda _: "never") == text


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("printf %s {{x}}", "{0}"),
        ("printf %s 'a {{x}} b'", "a {0} b"),
        ('printf %s "a {{x}} b"', "a {0} b"),
        ('printf %s "$(printf %s {{x}})"', "{0}"),
        ('printf %s "$(printf %s "[{{x}}]")"', "[{0}]"),
        ("printf %s ${UNSET:-{{x}}}", "{0}"),
        ('printf %s "${UNSET:-{{x}}}"', "{0}"),
        ("cat <<EOF\n{{x}} $((1+1))\nEOF", "{0} 2\n"),
        ("cat <<'EOF'\n{{x}} $((1+1)) `id` \\\nEOF\nprintf end", "{0} $((1+1)) `id` \\\nend"),
        ("cat <<-'EOF'\n\tone {{x}}\n\tEOF", "one {0}\n"),
        ("for i in 1 2; do printf %s $i{{x}}; done", "1{0}2{0}"),
        ("if true; then (printf %s {{x}}) ; fi # {{x}} 'unclosed", "{0}"),
        ("printf %s {{!x}}'{{!x}}'", "{{{{x}}}}{{{{x}}}}"),
        ("printf '%s' \\'{{x}}\\'", "'{0}'"),
        ("printf %s $(({{n}} + 1))", "6"),
        ('V={{x}}; printf %s "$V"', "{0}"),
    ],
)
def test_a_shell_takes_a_value_as_one_word_wherever_it_stands(template, expected, tmp_path):
    assert run_shell(template, {"x": EVIL, "n": 5}, tmp_path) == expected.format(EVIL)


@pytest.mark.parametrize(
    "template",
    [
        "sed 's/a/{{x}}/' f",
        "sed -n -e 's/a/{{x}}/' f",
        "awk '{print \"{{x}}\"}' f",
        "jq '.a = \"{{x}}\"' f",
        "python3 -c 'print(\"{{x}}\")'",
        "/usr/bin/env python3.11 -c 'print({{x}})'",
        "bash -lc 'echo {{x}}'",
        "echo {{x}} | sh",
        "echo 'print({{x}})' | python3 -",
        "python3 - <<EOF\nprint('{{x}}')\nEOF",
        "eval echo {{x}}",
        "A=1 sudo sqlite3 db \"select '{{x}}'\"",
        'true && ssh host "ls {{x}}"',
        "echo $({ sh -c {{x}}; })",
    ],
)
def test_a_value_within_a_program_must_be_plain(template):
    assert program_variables(template, {"x": "plain"}) == {"x"}
    fill_shell(template, {"x": "a plain value, 2.5 +1 - me@host: 日本"})
    with pytest.raises(InputError, match="is part of a program"):
        fill_shell(template, {"x": "a'b"})


@pytest.mark.parametrize(
    "template",
    [
        "sed 's/a/b/' {{x}}",
        "python3 tool.py {{x}}",
        "grep {{x}} f | sed s/a/b/",
        "jq --arg v {{x}} '.a=$v' f",
        "echo {{x}} > run.sh; sh run.sh",
        "cat <<EOF | sort\n{{x}}\nEOF",
    ],
)
def test_a_value_that_is_an_argument_may_be_anything(template):
    assert program_variables(template, {"x": "y"}) == set()
    fill_shell(template, {"x": EVIL})


def test_a_calculation_takes_numbers_only():
    with pytest.raises(InputError, match="is part of a calculation"):
        fill_shell("echo $(({{x}} + 1))", {"x": "a[$(id)]"})


@given(texts)
def test_no_text_gets_out_of_its_word(text):
    command, environment = fill_shell("printf %s '{{x}}' \"{{x}}\" {{x}}", {"x": text})
    assert command == ('printf %s \'\'"${SKILLYARD_VAR_x}"\'\' "${SKILLYARD_VAR_x}" "${SKILLYARD_VAR_x}"')
    assert environment == {"SKILLYARD_VAR_x": text}


@pytest.mark.parametrize("secrets", [(), ("x",)])
@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("print({{x}}, end='')", "{0}"),
        ("print('a {{x}} b', end='')", "a {0} b"),
        ("print(r'c:\\{{x}}', end='')", "c:\\{0}"),
        ("print('''a\n{{x}}''' \"b{{x}}\", end='')", "a\n{0}b{0}"),
        ("v = 3\nprint(f'q {{x}} {v} {{!x}}', end='')", "q {0} 3 {{x}}"),
        ("# {{x}}\nprint('{{!x}}', {{n}} + 1, '{{n}}', end='')", "{{{{x}}}} -4 -5"),
        ("d = {'k': '{{x}}'}\nprint(d['k'], end='')", "{0}"),
        ("print(u'\\u0041{{x}}', end='')", "A{0}"),
    ],
)
def test_python_has_a_value_as_a_string_or_a_literal(template, expected, secrets):
    out, code = run_python(template, {"x": EVIL, "n": -5}, secrets)
    assert out == expected.format(EVIL)
    if secrets:
        assert "pwned" not in code


def test_bytes_hold_a_value_but_no_secret():
    assert fill_python("v = b'\\x00{{x}}'", {"x": "é'"}) == 'v = b"\\x00\\xc3\\xa9\'"'
    with pytest.raises(InputError, match="is a secret in a bytes literal"):
        fill_python("v = b'{{x}}'", {"x": "y"}, secrets={"x": "X"})


@pytest.mark.parametrize("template", ["f'{ {{x}} }'", "f'{v:{{x}}}'"])
def test_a_value_is_no_part_of_what_a_formatted_string_computes(template):
    with pytest.raises(InputError, match="computes something"):
        fill_python(template, {"x": "1"})


def test_code_that_cannot_be_read_takes_plain_values_only():
    assert fill_python("!ls '{{x}}'", {"x": "data"}) == "!ls 'data'"
    with pytest.raises(InputError, match="code that cannot be read"):
        fill_python("!ls '{{x}}'", {"x": "a; rm"})


@given(texts)
def test_no_text_gets_out_of_its_literal(text):
    scope = {}
    exec(fill_python("a = {{x}}\nb = '<{{x}}>'\nc = f\"<{{x}}>\" # {{x}}\nd = r'{{x}}'", {"x": text}), scope)
    assert (scope["a"], scope["b"], scope["c"], scope["d"]) == (text, f"<{text}>", f"<{text}>", text)


@given(texts)
def test_a_browser_step_keeps_its_arguments(text):
    filled = fill_browser(parse_step('fill @e1 "x {{v}}"'), {"v": text})
    assert (filled.verb, filled.arguments, filled.options) == ("fill", ("@e1", f"x {text}"), ())
    named = fill_browser(parse_step('find role button click --name "Delete {{v}}" --exact'), {"v": text})
    assert named.options == (f"name=Delete {text}", "exact")


def test_a_value_in_a_selector_is_no_part_of_the_selector():
    step = fill_browser(parse_step("click \"#row-{{id}} [title='{{t}}']\""), {"id": "1], body *", "t": "it's"})
    assert step.arguments == (r"#row-\31 \5d \2c \20 body\20 \2a  [title='it\27 s']",)
    with pytest.raises(InputError, match="is not CSS"):
        fill_browser(parse_step("click \"//a[text()='{{t}}']\""), {"t": "x"})


def test_a_value_in_a_script_is_a_string_of_the_script():
    step = fill_browser(parse_step("eval \"f('{{t}}', {{t}}, {{n}})\""), {"t": "a'b", "n": 2})
    assert step.arguments == ("f('a\\u0027b', \"a\\u0027b\", 2)",)
