import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InputError, LimitError
from skillyard.skill.versions import ANY, MAX_RANGE, MAX_VERSION, Range, Version, latest

numbers = st.one_of(st.integers(0, 3), st.integers(0, 10**20))
identifiers = st.one_of(numbers.map(str), st.from_regex(r"[0-9]{0,2}[a-zA-Z-][0-9a-zA-Z-]{0,3}", fullmatch=True))
builds = st.lists(st.from_regex(r"[0-9a-zA-Z-]{1,4}", fullmatch=True), max_size=2).map(".".join)
versions = st.builds(
    Version,
    major=numbers,
    minor=numbers,
    patch=numbers,
    prerelease=st.lists(identifiers, max_size=3).map(tuple),
    build=builds,
)


def v(text):
    return Version.parse(text)


@given(versions)
def test_a_version_is_read_back_from_its_text(version):
    assert v(str(version)) == version
    assert str(v(str(version))) == str(version)


@given(versions, versions, versions)
def test_the_order_is_total(one, two, three):
    assert (one < two) + (one == two) + (one > two) == 1
    assert (one <= two) == (not one > two)
    low, middle, high = sorted([one, two, three])
    assert low <= middle <= high
    assert low <= high


def test_the_order_is_that_of_the_specification():
    ordered = [
        "1.0.0-0",
        "1.0.0-2",
        "1.0.0-10",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.0.0+a",
        "1.0.0+b",
        "1.0.1-a",
        "1.0.1",
        "1.2.0",
        "1.10.0",
        "2.0.0",
        "10.0.0",
    ]
    assert [str(version) for version in sorted(map(v, reversed(ordered)))] == ordered


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("v1.2", "Write 1.2.0."),
        ("1", "Write 1.0.0."),
        ("V2.0.0", "Write 2.0.0."),
        ("01.2.3", "Write 1.2.3."),
        ("1.0b2", "Write 1.0.0-b2."),
        ("1.2-beta", "Write 1.2.0-beta."),
        ("1.0.0-beta.01", "Write 1.0.0-beta.1."),
        ("1.2.3\n", "Write 1.2.3."),
        (" 1.2.3", "Write 1.2.3."),
        ("latest", "Write MAJOR.MINOR.PATCH, such as 1.0.0."),
        ("", "Write MAJOR.MINOR.PATCH, such as 1.0.0."),
        ("1..2", "Write MAJOR.MINOR.PATCH, such as 1.0.0."),
        ("١.٢.٣", "Write MAJOR.MINOR.PATCH, such as 1.0.0."),
        ("1.0.0-ß", "Write MAJOR.MINOR.PATCH, such as 1.0.0."),
    ],
)
def test_what_is_no_version_is_refused_with_what_to_write(text, fix):
    with pytest.raises(InputError) as refusal:
        v(text)
    assert refusal.value.hint == fix
    assert refusal.value.details["field"] == "version"
    assert text.strip() in refusal.value.message


@given(st.text(max_size=20) | st.from_regex(r"[v=]?[0-9.]{1,9}[-+a-z0-9.]{0,9}", fullmatch=True))
def test_any_text_is_a_version_or_an_input_error_whose_fix_is_one(text):
    try:
        version = v(text)
    except InputError as refusal:
        fix = refusal.hint.removeprefix("Write ").removesuffix(".")
        assert fix.startswith("MAJOR") or v(fix)
    else:
        assert str(version) == text


def test_a_version_has_a_longest():
    longest = "1.0.0-" + "a" * (MAX_VERSION - 6)
    assert str(v(longest)) == longest
    with pytest.raises(LimitError, match="128"):
        v(longest + "a")


@pytest.mark.parametrize(
    ("version", "part", "bumped"),
    [
        ("1.2.3", "major", "2.0.0"),
        ("1.2.3", "minor", "1.3.0"),
        ("1.2.3", "patch", "1.2.4"),
        ("1.2.3+build", "patch", "1.2.4"),
        ("2.0.0-rc.1", "major", "2.0.0"),
        ("2.0.0-rc.1", "minor", "2.0.0"),
        ("2.0.0-rc.1", "patch", "2.0.0"),
        ("2.1.0-rc.1", "major", "3.0.0"),
        ("2.1.1-rc.1", "minor", "2.2.0"),
    ],
)
def test_bumping_gives_the_next_release(version, part, bumped):
    assert str(v(version).bump(part)) == bumped


@given(versions, st.sampled_from(["major", "minor", "patch"]))
def test_a_bumped_version_is_a_later_release(version, part):
    assert version.bump(part) > version or version.build
    assert not version.bump(part).is_prerelease


def test_the_latest_is_the_highest_release_else_the_highest_prerelease():
    assert latest([]) is None
    assert latest(map(v, ["1.0.0", "1.10.0", "1.9.0", "2.0.0-rc.1"])) == v("1.10.0")
    assert latest(map(v, ["2.0.0-rc.1", "2.0.0-rc.10", "2.0.0-beta"])) == v("2.0.0-rc.10")


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        (">=1.2", "1.2.0 1.10.0 9.0.0", "1.1.9 1.2.0-rc 2.0.0-rc"),
        (">1.2", "1.3.0", "1.2.0 1.2.9 1.3.0-a"),
        (">1.2.3", "1.2.4", "1.2.3"),
        ("<1.2", "1.1.9 0.0.0", "1.2.0 1.2.0-a"),
        ("<=1.2", "1.2.9", "1.3.0"),
        ("<=1.2.3", "1.2.3", "1.2.4"),
        ("^1.2", "1.2.0 1.9.9", "1.1.0 2.0.0 2.0.0-a"),
        ("^1.2.3", "1.2.3 1.3.0", "1.2.2 2.0.0"),
        ("^0.2.3", "0.2.3 0.2.9", "0.3.0 0.2.2"),
        ("^0.0.3", "0.0.3", "0.0.4 0.0.2"),
        ("^0.0", "0.0.9", "0.1.0"),
        ("^0", "0.9.0", "1.0.0"),
        ("~1.2.3", "1.2.3 1.2.9", "1.2.2 1.3.0"),
        ("~1.2", "1.2.0", "1.3.0"),
        ("~1", "1.9.0", "2.0.0"),
        ("=1.0.0", "1.0.0 1.0.0+build", "1.0.1"),
        ("1.0.0", "1.0.0", "1.0.1"),
        ("=1.2", "1.2.7", "1.3.0"),
        ("1.x", "1.0.0 1.9.0", "2.0.0 0.9.0 1.1.0-a"),
        ("1.2.*", "1.2.0", "1.3.0"),
        ("*", "0.0.0 9.9.9", "1.0.0-a"),
        (">=1.2 <2", "1.2.0 1.9.0", "2.0.0 1.1.0"),
        (">= 1.2 , < 2", "1.2.0 1.9.0", "2.0.0 1.1.0"),
        (">=1.2,<2", "1.2.0 1.9.0", "2.0.0 1.1.0"),
        ("^1.2.3-beta.2", "1.2.3-beta.2 1.2.3-rc 1.2.3 1.4.0", "1.2.3-beta.1 1.2.4-rc 2.0.0"),
        (">=2.0.0-a <2", "", "2.0.0-a 2.0.0 1.0.0"),
    ],
)
def test_a_range_takes_what_npm_takes(text, inside, outside):
    taken = Range.parse(text)
    assert [one for one in inside.split() if not taken.matches(v(one))] == []
    assert [one for one in outside.split() if taken.matches(v(one))] == []


@pytest.mark.parametrize(
    "text", ["", " ", ">=", ">= <2", "==1.0.0", "!=1", "=>1", ">=*", "v1.2", "1.x.3", "1.2.3.4", "01", "a", "1 || 2"]
)
def test_what_is_no_range_is_refused_with_what_to_write(text):
    with pytest.raises(InputError, match="is not a version range") as refusal:
        Range.parse(text)
    assert "`>=1.2`" in refusal.value.hint
    assert refusal.value.details == {"field": "range", "value": text}


def test_a_range_has_a_longest():
    with pytest.raises(LimitError, match="256"):
        Range.parse(">=1 " * MAX_RANGE)


def test_a_range_is_read_back_from_its_text():
    for text in ["*", ">= 1.2 ,<2", "^1.2.3-beta.2", "1.x"]:
        taken = Range.parse(text)
        assert Range.parse(str(taken)) == taken
    assert str(Range.parse(">= 1.2 ,<2")) == ">=1.2 <2"
    assert Range.parse("*") == ANY
    assert ANY.is_any
    assert not Range.parse("1.x").is_any


@given(versions, st.sampled_from(["=", ">=", "<=", "^", "~"]))
def test_a_version_is_in_every_range_that_starts_or_ends_with_it(version, sign):
    assert Range.parse(f"{sign}{version}").matches(version)


@given(versions, versions)
def test_what_a_caret_or_tilde_takes_is_not_older_and_of_the_same_major(asked, version):
    for sign in "^~":
        if Range.parse(f"{sign}{asked}").matches(version):
            assert version.precedence >= asked.precedence
            assert version.major == asked.major
