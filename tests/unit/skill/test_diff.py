import hashlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.skill import diff as diff_module
from skillyard.skill.bundle import Bundle, BundleFile
from skillyard.skill.diff import Change, diff_bundles


def bundle(**files):
    return Bundle(BundleFile(name, data) for name, data in files.items())


def only(old, new):
    (file,) = diff_bundles(bundle(a=old), bundle(a=new)).files
    return file


def applied(old, lines):
    """The text that results from applying the hunks to the old lines, as `patch` would."""
    result, at = [], 0
    for line in lines:
        if line.startswith("@@"):
            start, count = line.split()[1][1:].split(",")
            first = int(start) - (1 if int(count) else 0)
            result += old[at:first]
            at = first
        elif line[0] == "+":
            result.append(f"{line[1:]}\n")
        elif line[0] == "\\":
            result[-1] = result[-1].removesuffix("\n")
        else:
            assert old[at].removesuffix("\n") == line[1:]
            if line[0] == " ":
                result.append(old[at])
            at += 1
    return "".join(result + old[at:])


def test_equal_bundles_have_no_difference():
    diff = diff_bundles(bundle(a=b"1"), bundle(a=b"1"))
    assert not diff
    assert diff.unified() == ""
    assert diff.old_digest == diff.new_digest


def test_files_are_sorted_into_added_removed_and_changed():
    diff = diff_bundles(bundle(a=b"1", b=b"2", same=b"0"), bundle(b=b"3", c=b"4", same=b"0"))
    assert [file.path for file in diff.added] == ["c"]
    assert [file.path for file in diff.removed] == ["a"]
    assert [file.path for file in diff.changed] == ["b"]
    assert [file.path for file in diff.files] == ["a", "b", "c"]


def test_a_text_change_reads_like_git_diff():
    old = bundle(a=b"1\n2\n3\n4\n5\n6\n7\n8\n9\n")
    new = bundle(a=b"1\n2\n3\n4\nfive\n6\n7\n8\n9")
    assert diff_bundles(old, new).unified() == (
        "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n-9\n+9\n"
        "\\ No newline at end of file\n"
    )


def test_an_added_and_a_removed_file_are_compared_with_nothing():
    assert diff_bundles(bundle(), bundle(a=b"1\n")).unified() == (
        "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+1\n"
    )
    assert diff_bundles(bundle(a=b"1\n"), bundle()).unified() == (
        "diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-1\n"
    )


def test_a_mode_change_alone_is_a_change():
    diff = diff_bundles(Bundle([BundleFile("a", b"1")]), Bundle([BundleFile("a", b"1", executable=True)]))
    assert diff.files[0].change is Change.CHANGED
    assert diff.unified() == "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n"


@pytest.mark.parametrize("data", [b"\0", b"\xff\xfe", b"text\0text"])
def test_a_binary_file_is_shown_by_size_and_hash(data):
    file = only(b"text", data)
    assert file.binary
    assert file.lines == ()
    assert (file.new.size, file.new.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert hashlib.sha256(data).hexdigest()[:12] in "\n".join(file.unified())


def test_the_dictionary_is_plain_json():
    diff = diff_bundles(bundle(a=b"1", b=b"\0"), bundle(a=b"2", b=b"\1\0"))
    document = json.loads(json.dumps(diff.as_dict()))
    assert document["old_digest"].startswith("sha256:")
    assert [file["change"] for file in document["files"]] == ["changed", "changed"]
    assert document["files"][0]["diff"].startswith("@@ -1,1 +1,1 @@\n-1")
    assert document["files"][1]["binary"]
    assert document["files"][1]["old"] == {
        "size": 1,
        "sha256": hashlib.sha256(b"\0").hexdigest(),
        "executable": False,
    }


def test_a_small_change_in_a_long_file_is_still_exact():
    lines = [b"%d\n" % number for number in range(50_000)]
    changed = [*lines[:40_000], b"new\n", *lines[40_001:]]
    file = only(b"".join(lines), b"".join(changed))
    assert file.lines[0] == "@@ -39998,7 +39998,7 @@"
    assert "-40000" in file.lines
    assert "+new" in file.lines
    assert not file.truncated


def test_a_text_too_large_to_compare_is_said_to_differ():
    file = only(b"a\n" * 600_000, b"b\n" * 600_000)
    assert file.truncated
    assert not file.binary
    assert file.lines == ()
    assert "Not all is shown" in "\n".join(file.unified())


def test_long_lines_and_long_diffs_are_cut_and_said_to_be():
    file = only(b"", b"x" * 5000)
    assert file.truncated
    assert len(file.lines[1]) < 1100
    file = only(b"", b"x\n" * 5000)
    assert file.truncated
    assert len(file.lines) == diff_module.MAX_SHOWN_LINES


def test_the_output_of_many_files_is_bounded_in_all():
    new = Bundle(BundleFile(f"{number}", b"line\n" * 1000) for number in range(100))
    diff = diff_bundles(Bundle([]), new)
    assert sum(len(file.lines) for file in diff.files) == diff_module.MAX_SHOWN_IN_ALL
    assert diff.files[-1].truncated
    assert len(diff.files) == 100


def slow_to_compare(count):
    """Two texts in which each match that difflib finds leaves nearly all of the work to do again."""
    lines = [b"%d\n" % number for number in range(count)]
    return b"".join(lines), b"".join(lines[::2] * 2)


def test_files_made_to_be_slow_to_compare_take_little_time():
    pairs = [slow_to_compare(20_000), *(slow_to_compare(990) for _ in range(100))]
    old, new = (Bundle(BundleFile(f"{n}", pair[side]) for n, pair in enumerate(pairs)) for side in (0, 1))
    started = time.process_time()
    diff_bundles(old, new)
    assert time.process_time() - started < 2


@given(st.text(st.sampled_from("ab\n\r\u2028"), max_size=60), st.text(st.sampled_from("ab\n\r\u2028"), max_size=60))
def test_applying_the_hunks_gives_the_new_text(old, new):
    files = diff_bundles(bundle(a=old.encode()), bundle(a=new.encode())).files
    lines = [line for file in files for line in file.lines]
    assert applied(diff_module._lines(old), _joined(lines)) == new


def _joined(lines):
    """The lines without the mark that belongs to a removed or kept last line."""
    kept = []
    for line in lines:
        if line.startswith("\\") and kept[-1][0] != "+":
            continue
        kept.append(line)
    return kept
