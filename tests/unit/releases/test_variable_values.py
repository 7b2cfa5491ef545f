"""Values for variables: each there, each known, each of its type."""

import pytest

from skillyard.errors import InputError, LimitError
from skillyard.releases.payloads import Variable, VariableType
from skillyard.releases.variable_values import MAX_VALUE, checked_value, checked_values


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        ("string", "", ""),
        ("string", "a\nb", "a\nb"),
        ("integer", 4, 4),
        ("integer", "-4", -4),
        ("number", "4", 4),
        ("number", "4.50", 4.5),
        ("number", 1.5, 1.5),
        ("boolean", True, True),
        ("boolean", "False", False),
        ("date", "2028-02-29", "2028-02-29"),
        ("email", "ada@example.org", "ada@example.org"),
        ("url", "https://example.org/a?b", "https://example.org/a?b"),
        ("path", "data/tab le.csv", "data/tab le.csv"),
    ],
)
def test_a_value_of_the_type_is_taken(kind, given, value):
    taken = checked_value(Variable(name="x", type=VariableType(kind)), given)
    assert (taken, type(taken)) == (value, type(value))


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("string", 5),
        ("string", None),
        ("string", ["a"]),
        ("string", "a\0b"),
        ("string", "\ud800"),
        ("integer", True),
        ("integer", 4.0),
        ("integer", "4.0"),
        ("integer", "٤"),
        ("number", float("nan")),
        ("number", "inf"),
        ("number", "1e999"),
        ("boolean", 1),
        ("boolean", "yes"),
        ("date", "2027-02-29"),
        ("date", "20270228"),
        ("email", "ada"),
        ("url", "javascript:alert(1)"),
        ("url", "https://"),
        ("url", "http://[::1"),
        ("path", ""),
        ("path", "a\nb"),
    ],
)
def test_any_other_is_refused_with_the_type(kind, given):
    with pytest.raises(InputError) as caught:
        checked_value(Variable(name="x", type=VariableType(kind)), given)
    assert caught.value.details["field"] == "variables.x"
    assert kind in caught.value.hint


def test_defaults_are_taken_where_nothing_is_given():
    variables = {"a": Variable(name="a", type=VariableType.INTEGER, default="3"), "b": Variable(name="b")}
    assert checked_values(variables, {"b": "x"}) == {"a": 3, "b": "x"}
    with pytest.raises(InputError, match=r"no value is given for b \(string\)"):
        checked_values(variables, {})
    with pytest.raises(InputError, match="there is no variable 'c'"):
        checked_values(variables, {"b": "x", "c": "y"})


def test_the_value_of_a_secret_is_never_repeated():
    secret = Variable(name="p", type=VariableType.DATE, secret=True)
    with pytest.raises(InputError) as caught:
        checked_value(secret, "hunter2")
    assert "hunter2" not in repr(caught.value.as_dict())


def test_there_is_a_limit_to_a_value():
    with pytest.raises(LimitError):
        checked_value(Variable(name="x"), "x" * (MAX_VALUE + 1))
