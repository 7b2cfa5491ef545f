"""The command line on a real terminal: colours, progress, questions, and text that cannot steer it."""

import os
import pty
import re
import subprocess
import sys

import pytest

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
PROGRESS = re.compile(r"\x1b\[(?:\?25[lh]|2K|1A)")
"""What a spinner, which shows when a command takes long, does with the cursor and its own line."""


@pytest.fixture
def environment(tmp_path):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SKILLYARD_")}
    kept.pop("NO_COLOR", None)
    return {**kept, "HOME": str(tmp_path), "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}


@pytest.fixture
def on_terminal(environment, tmp_path):
    """Run a command with all its streams on a terminal; returns the exit code and what the terminal got."""

    def _run(*words, answer=b"", **variables):
        outer, inner = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "skillyard", *map(str, words)],
            stdin=inner,
            stdout=inner,
            stderr=inner,
            env={**environment, **variables},
            cwd=tmp_path,
            close_fds=True,
        )
        os.close(inner)
        if answer:
            os.write(outer, answer)
        shown = bytearray()
        while True:
            try:
                part = os.read(outer, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        os.close(outer)
        return process.wait(), shown.decode()

    return _run


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "mine/evil"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        '---\nname: evil\ndescription: "\\e[2Jwipe \\e]0;title\\a \\x9b1A up"\n---\n\x1b[31mred\x1b[0m\n'
    )
    return tmp_path / "mine"


@pytest.mark.parametrize("words", [["list"], ["show", "evil"], ["show", "evil", "--raw"], ["find", "title"]])
def test_only_our_own_colours_reach_the_terminal(on_terminal, root, words):
    _, shown = on_terminal(*words, "--root", root)
    rest = PROGRESS.sub("", COLOURS.sub("", shown))
    assert not {"\x1b", "\x07", "\x9b"} & set(rest)
    assert r"\x1b[2Jwipe" in rest or r"\e[2Jwipe" in rest
    assert "\x1b[31m" not in shown


def test_colours_are_used_and_can_be_turned_off(on_terminal, root):
    assert COLOURS.search(on_terminal("validate", root / "evil")[1])
    assert not COLOURS.search(on_terminal("validate", root / "evil", NO_COLOR="1")[1])


def test_long_lines_are_cut_to_the_terminal(on_terminal, root):
    (root / "evil/SKILL.md").write_text(f"---\nname: evil\ndescription: {'word ' * 100}\n---\n")
    shown = COLOURS.sub("", on_terminal("list", "--root", root)[1])
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "…" in shown


def test_messages_wrap_between_words_under_their_column(on_terminal, root):
    (root / "evil/SKILL.md").write_text("---\nname: Evil_Name\ndescription: d\n---\n")
    shown = COLOURS.sub("", on_terminal("validate", root / "evil")[1])
    lines = shown.splitlines()
    assert all(len(line) <= 80 for line in lines[1:])
    continued = [line for line in lines if line.startswith(" " * 25)]
    assert continued
    assert all(line[:2] in {"✗ ", "  "} for line in lines[:-1])


def test_what_people_copy_is_not_cut(on_terminal, root):
    shown = COLOURS.sub("", on_terminal("show", "evil", "--root", root)[1]).replace("\r\n", "\n")
    assert str(root / "evil/SKILL.md") in shown
    assert re.search(r"sha256:[0-9a-f]{64}\n", shown)


def test_what_is_said_of_an_installation_wraps_under_its_column(on_terminal, root, tmp_path):
    (root / "evil/SKILL.md").write_text("---\nname: Evil_Name\ndescription: d\n---\n")
    (tmp_path / "there/evil").mkdir(parents=True)
    shown = COLOURS.sub("", on_terminal("add", root / "evil", "--root", tmp_path / "there", "--dry-run")[1])
    under = [line for line in shown.splitlines() if line.startswith(" " * 11)]
    assert any(line.strip().startswith("warning") for line in under)
    assert all(len(line) <= 80 or str(tmp_path) in line for line in under)


def test_a_fix_wraps_between_words_and_its_command_stays_whole(on_terminal, root, tmp_path):
    words = ("add", root / "evil", "--root", tmp_path / "there")
    on_terminal(*words)
    for folder in (root, tmp_path / "there"):
        with (folder / "evil/SKILL.md").open("a") as stream:
            stream.write(f"{folder}\n")
    shown = COLOURS.sub("", on_terminal(*words)[1])
    indent = " " * 11
    assert (
        f"\r\n{indent}was edited since it was installed, or may have been. The fix keeps\r\n{indent}the edits" in shown
    )
    assert f"{indent}fix:\r\n{indent}skillyard update evil --root {tmp_path / 'there'}\r\n" in shown


def test_where_things_in_the_trash_were_is_not_cut(on_terminal, root):
    deep = root / ("folder-with-a-long-name-" * 4) / "skills"
    (root / "evil").rename(deep.parent.parent / "moved")
    deep.mkdir(parents=True)
    (root / "moved").rename(deep / "evil")
    on_terminal("remove", "evil", "--root", deep, "--force", "-y")
    shown = COLOURS.sub("", on_terminal("skill", "restore")[1])
    assert str(deep / "evil") in shown.replace("\r\n", "")
    assert "…" not in shown


@pytest.mark.parametrize(("answer", "stays"), [(b"n\n", True), (b"y\n", False)])
def test_removing_asks_on_a_terminal(on_terminal, root, answer, stays):
    (root / "evil/SKILL.md").write_text("---\nname: evil\ndescription: d\n---\n")
    code, shown = on_terminal("remove", "evil", "--root", root, "--force", answer=answer)
    assert "[y/N]" in shown
    assert (root / "evil").exists() is stays
    assert code == (1 if stays else 0)


def test_yes_answers_the_question(on_terminal, root):
    code, shown = on_terminal("remove", "evil", "--root", root, "--force", "-y")
    assert "[y/N]" not in shown
    assert code == 0
    assert not (root / "evil").exists()


def test_a_registry_on_the_terminal_is_cut_asks_and_cannot_be_steered(on_terminal, root):
    (root / "evil/SKILL.md").write_text(
        f'---\nname: evil\ndescription: "\\e[2Jwipe {"word " * 40}"\nmetadata:\n  requires: evil\n---\nSee [[evil]].\n'
    )
    code, shown = on_terminal("publish", root / "evil", "--notes", "\x1b[2Jnotes", LOGNAME="ann")
    assert code == 0
    assert COLOURS.search(shown)
    plain = COLOURS.sub("", on_terminal("registry", "list", LOGNAME="ann")[1])
    assert "ann/evil" in plain
    assert "\x1b" not in plain
    assert all(len(line) <= 80 for line in plain.splitlines())
    code, shown = on_terminal("registry", "delete", "evil", answer=b"y\n", LOGNAME="ann", NO_COLOR="1")
    assert code == 0
    assert "Delete ann/evil?" in shown
    assert "skillyard registry undo" in shown
    assert not COLOURS.search(shown)


def test_the_history_fits_into_the_terminal_and_is_not_cut(on_terminal, tmp_path):
    folder = tmp_path / "tree/alpha"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: alpha\ndescription: Does it.\n---\n")
    reason = "because of this and that, " * 9
    assert on_terminal("registry", "import", folder)[0] == 0
    assert on_terminal("registry", "visibility", "alpha", "public", "-m", reason)[0] == 0
    code, shown = on_terminal("registry", "history", "alpha")
    lines = COLOURS.sub("", shown).splitlines()
    assert (code, "…" in shown) == (0, False)
    assert max(map(len, lines)) <= 80
    assert reason.strip() in " ".join(line.strip() for line in lines)
