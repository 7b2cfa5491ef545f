import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InvalidPathError
from skillyard.sandbox.workspace_paths import relative_path, workspace_path


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("file.txt", "file.txt"),
        ("./a/./b//c/", "a/b/c"),
        ("a/../b", "b"),
        ("a/..", "."),
        (".", "."),
        (".hidden", ".hidden"),
        ("...file", "...file"),
        ("/workspace", "."),
        ("/workspace/a/b", "a/b"),
        ("/workspace//a", "a"),
        ("workspace/a", "workspace/a"),
        ("한글/文件", "한글/文件"),
    ],
)
def test_a_path_has_one_spelling(given, meant):
    assert workspace_path(given) == meant


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("", "empty_path"),
        ("a\0", "null_byte"),
        ("/etc/passwd", "absolute_path"),
        ("/workspaces/x", "absolute_path"),
        ("//workspace/x", "absolute_path"),
        ("..", "path_traversal"),
        ("a/../../b", "path_traversal"),
        ("/workspace/..", "path_traversal"),
    ],
)
def test_what_leads_out_is_refused_with_the_reason(given, reason):
    with pytest.raises(InvalidPathError) as caught:
        workspace_path(given, field="cwd")
    assert caught.value.details["reason"] == reason
    assert caught.value.details["field"] == "cwd"
    assert "cwd" in caught.value.message


@pytest.mark.parametrize("given", ["/workspace", "/workspace/a", "/a"])
def test_a_relative_path_is_not_absolute(given):
    assert relative_path("a/../b") == "b"
    with pytest.raises(InvalidPathError) as caught:
        relative_path(given)
    assert caught.value.details["reason"] == "absolute_path"


@given(st.text(alphabet="./a\\b ", max_size=20))
def test_whatever_passes_stays_inside_and_means_the_same_again(text):
    try:
        meant = workspace_path(text)
    except InvalidPathError:
        return
    assert not meant.startswith("/")
    assert ".." not in meant.split("/")
    assert workspace_path(meant) == meant
