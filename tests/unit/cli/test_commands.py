"""The table of commands: all of them can be loaded, and the page about them knows each."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from skillyard.cli.commands import COMMANDS

DOCS = Path(__file__).parents[3] / "docs"


def leaves(entries, before=()):
    for entry in entries:
        if isinstance(entry.target, tuple):
            yield from leaves(entry.target, (*before, entry.name))
        else:
            yield (*before, entry.name), entry.help


LEAVES = dict(leaves(COMMANDS))


def homes(entries):
    """The modules that commands live in."""
    for entry in entries:
        yield from homes(entry.target) if isinstance(entry.target, tuple) else [entry.target.partition(":")[0]]


def test_no_command_needs_a_database_to_explain_itself():
    modules = sorted({f"skillyard.cli.{home}" for home in homes(COMMANDS)})
    code = f"import sys, importlib; [importlib.import_module(each) for each in {modules}]; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert not {"sqlalchemy", "fastapi"} & set(done.stdout.split())


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_every_command_is_on_the_page_of_commands(words):
    mentioned = re.findall(r"`skillyard ([^`]*)`", (DOCS / "cli.md").read_text(encoding="utf-8"))
    assert any(tuple(line.split()[: len(words)]) == words for line in mentioned)


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_every_command_explains_itself_in_eighty_columns(run, words):
    result = run(*words, "--help")
    assert result.code == 0
    assert result.out.startswith(f"Usage: skillyard {' '.join(words)} ")
    assert LEAVES[words] in " ".join(result.out.split())
    assert all(len(line) <= 80 for line in result.out.splitlines())


@pytest.mark.usefixtures("open_yard")
def test_the_commands_of_the_registry_page_work_in_their_order(run, skill, tmp_path):
    for name in ("refunds", "drafted"):
        skill(name, under=tmp_path / "project/skills")
    page = (DOCS / "registry.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\$ skillyard (.*)$", page, re.MULTILINE)
    assert len(lines) > 15
    for line in lines:
        result = run(*shlex.split(line))
        assert result.code == 0, (line, result.err)
