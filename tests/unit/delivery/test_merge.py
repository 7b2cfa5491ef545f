import pytest

from skillyard.delivery.merge import Favor, merge_bundles
from skillyard.errors import UnavailableError
from skillyard.skill.bundle import Bundle, BundleFile

TEN = "".join(f"line {number}\n" for number in range(10))


def test_what_only_one_side_changed_is_taken_from_it(make_bundle):
    base = make_bundle({"mine": "1", "theirs": "1", "gone-mine": "1", "gone-theirs": "1", "same": "1"})
    ours = make_bundle({"mine": "2", "theirs": "1", "gone-theirs": "1", "same": "2", "new-mine": "x"})
    theirs = make_bundle({"mine": "1", "theirs": "2", "gone-mine": "1", "same": "2", "new-theirs": "y"})
    merged = merge_bundles(base, ours, theirs)
    expected = make_bundle({"mine": "2", "theirs": "2", "same": "2", "new-mine": "x", "new-theirs": "y"})
    assert (merged.bundle, merged.conflicts) == (expected, ())


def test_edits_of_different_lines_are_merged(make_bundle):
    base = make_bundle({"a.md": TEN})
    ours = make_bundle({"a.md": TEN.replace("line 1\n", "line one\n")})
    theirs = make_bundle({"a.md": TEN.replace("line 8\n", "line eight\n")})
    merged = merge_bundles(base, ours, theirs).bundle
    assert merged == make_bundle({"a.md": TEN.replace("line 1\n", "line one\n").replace("line 8\n", "line eight\n")})


def test_line_endings_are_kept_as_they_are(make_bundle):
    crlf = TEN.replace("\n", "\r\n")
    base, ours = make_bundle({"a.md": crlf}), make_bundle({"a.md": crlf.replace("line 1\r", "line one\r")})
    theirs = make_bundle({"a.md": crlf.replace("line 8\r", "line eight\r")})
    merged = merge_bundles(base, ours, theirs).bundle
    assert merged is not None
    assert merged.get("a.md").data.count(b"\r\n") == 10


def test_edits_of_the_same_line_are_a_conflict_that_shows_both(make_bundle):
    merged = merge_bundles(
        make_bundle({"a.md": "x\n"}), make_bundle({"a.md": "mine\n"}), make_bundle({"a.md": "theirs\n"})
    )
    assert merged.bundle is None
    (conflict,) = merged.conflicts
    assert conflict.path == "a.md"
    assert all(word in conflict.merged for word in ("<<<<<<< yours", "mine", "x", "theirs", ">>>>>>> upstream"))


@pytest.mark.parametrize(("favor", "word"), [(Favor.OURS, "mine"), (Favor.THEIRS, "theirs")])
def test_a_side_settles_the_conflict_and_other_edits_of_both_stay(make_bundle, favor: Favor, word: str):
    base = make_bundle({"a.md": TEN})
    ours = make_bundle({"a.md": TEN.replace("line 1\n", "mine\n").replace("line 5\n", "my own\n")})
    theirs = make_bundle({"a.md": TEN.replace("line 1\n", "theirs\n").replace("line 9\n", "their own\n")})
    merged = merge_bundles(base, ours, theirs, favor=favor).bundle
    assert merged is not None
    lines = merged.get("a.md").data.decode().splitlines()
    assert (lines[1], lines[5], lines[9]) == (word, "my own", "their own")


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "reason"),
    [
        ({"a": "1"}, {}, {"a": "2"}, "Deleted by you"),
        ({"a": "1"}, {"a": "2"}, {}, "Deleted by upstream"),
        ({}, {"a": "1"}, {"a": "2"}, "Added by both"),
        ({"a": b"\0a"}, {"a": b"\0b"}, {"a": b"\0c"}, "not a text"),
    ],
)
def test_what_cannot_be_merged_is_a_conflict_that_a_side_settles(make_bundle, base, ours, theirs, reason: str):
    sides = (make_bundle(base), make_bundle(ours), make_bundle(theirs))
    assert reason in merge_bundles(*sides).conflicts[0].reason
    assert merge_bundles(*sides, favor=Favor.OURS).bundle == sides[1]
    assert merge_bundles(*sides, favor=Favor.THEIRS).bundle == sides[2]


def test_the_executable_bit_is_merged_for_itself(make_bundle):
    def with_script(data: bytes, *, executable: bool) -> Bundle:
        return Bundle([*make_bundle().files, BundleFile("run.sh", data, executable)])

    base = with_script(b"1\n", executable=False)
    merged = merge_bundles(base, with_script(b"1\n", executable=True), with_script(b"2\n", executable=False)).bundle
    assert merged == with_script(b"2\n", executable=True)


def test_two_good_halves_that_make_a_bad_whole_are_a_conflict(make_bundle):
    colliding = merge_bundles(make_bundle(), make_bundle({"Notes.md": "a"}), make_bundle({"notes.md": "b"}))
    assert colliding.bundle is None
    assert "one on some disks" in colliding.conflicts[0].reason

    text = "---\nname: pdf\ndescription: d\n{}license: MIT\na: 1\nb: 2\nc: 3\n{}---\n"
    versions = [text.format("", ""), text.format("x: 1\n", ""), text.format("", "x: 1\n")]
    broken = merge_bundles(*(make_bundle({"SKILL.md": version}) for version in versions))
    assert broken.bundle is None
    assert broken.conflicts[0].path == "SKILL.md"


def test_without_git_only_what_needs_lines_merged_fails(make_bundle, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    base, ours, theirs = make_bundle({"a": "1"}), make_bundle({"a": "2"}), make_bundle({"a": "1", "b": "3"})
    assert merge_bundles(base, ours, theirs).bundle == make_bundle({"a": "2", "b": "3"})
    with pytest.raises(UnavailableError, match="git is not installed"):
        merge_bundles(base, ours, make_bundle({"a": "3"}))
