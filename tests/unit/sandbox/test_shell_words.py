import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.sandbox.shell_words import MAX_READ, UnreadableError, read_shell


def words(text):
    return [[word.text for word in simple.words] for simple in read_shell(text)]


def test_a_line_is_read_as_its_commands_and_words():
    text = "A='x y' curl -d \"a $B\" http://h | jq .x > out.json 2>&1 && echo it\\'s # why"
    first, second, third = read_shell(text)
    assert ([word.text for word in first.words], first.operator) == (["A=x y", "curl", "-d", "a $B", "http://h"], "|")
    assert first.words[3].expands
    assert [(one.operator, one.target.text) for one in second.redirects] == [(">", "out.json"), ("2>&", "1")]
    assert [word.text for word in third.words] == ["echo", "it's"]


def test_what_a_command_is_given_to_read_belongs_to_it():
    text = "cat > a <<'EOF' && cat <<-END\none\nEOF\n\ttwo\n\tEND\necho three"
    first, second, third = read_shell(text)
    assert [text[one.start : one.end] for one in (*first.heredocs, *second.heredocs)] == ["one\n", "\ttwo\n"]
    assert [word.text for word in third.words] == ["echo", "three"]


def test_expansions_stand_as_they_were_written():
    assert words('echo $(date "+%F" $(x)) ${A:-b c} `ls` $((1 + 2)) $?') == [
        ["echo", '$(date "+%F" $(x))', "${A:-b c}", "`ls`", "$((1 + 2))", "$?"]
    ]


@pytest.mark.parametrize("text", ["echo 'x", 'echo "x', "echo $(x", "echo `x", "cat <", "x" * (MAX_READ + 1)])
def test_what_no_shell_would_read_is_refused(text):
    with pytest.raises(UnreadableError):
        read_shell(text)


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12), min_size=1, max_size=5))
def test_quoted_words_are_read_as_they_were_meant_and_where_they_stand(given_words):
    text = shlex.join(given_words)
    (simple,) = read_shell(text)
    assert [word.text for word in simple.words] == given_words
    for word in simple.words:
        assert "".join(text[place] for place in word.places) == word.text


@given(st.text("ab '\"\\$(){}`|&;<>\n#=*", max_size=40))
def test_anything_is_read_or_refused(text):
    try:
        for simple in read_shell(text):
            for word in simple.words:
                assert 0 <= word.start <= word.end <= len(text)
    except UnreadableError:
        pass
