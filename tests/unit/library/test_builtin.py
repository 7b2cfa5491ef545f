import ast
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from skills_ref.validator import validate as reference_problems
from typer.main import get_command

from skillyard import errors
from skillyard.cli.commands import COMMANDS
from skillyard.cli.frame import Group
from skillyard.cli.main import app, take_json_flag
from skillyard.library.builtin import builtin_root
from skillyard.library.disk import read_folder
from skillyard.library.folder import FolderLibrary
from skillyard.library.quick_validate import validate_skill
from skillyard.skill.document import parse
from skillyard.skill.models import Profile
from skillyard.skill.scan import scan

NAMES = ["browser-automation", "python-sandbox", "skill-creator", "skillyard"]
SKILLS = [builtin_root() / name for name in NAMES]
SCRIPTS = [path for skill in SKILLS for path in sorted(skill.glob("scripts/*.py"))]
OWN_FILE = re.compile(r"(?<![\w/.-])(?:scripts|references|assets)/[\w./-]*\w")
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
COMMAND = re.compile(r"\bskillyard ((?:skill|env|config|registry) [a-z]+|[a-z]+)\b")


EXAMPLES = [
    line
    for block in re.findall(
        r"^```bash\n(.*?)^```", (builtin_root() / "skillyard/SKILL.md").read_text(), re.DOTALL | re.MULTILINE
    )
    for line in block.splitlines()
]


def each_skill(function):
    return pytest.mark.parametrize("skill", SKILLS, ids=NAMES)(function)


def files_of(skill: Path) -> set[str]:
    paths = (path for path in skill.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(skill).as_posix() for path in paths}


def texts_of(skill: Path) -> dict[str, str]:
    return {path: (skill / path).read_text(encoding="utf-8") for path in files_of(skill) if path.endswith(".md")}


def skillyard_md() -> str:
    return (builtin_root() / "skillyard/SKILL.md").read_text(encoding="utf-8")


def commands_in(text: str) -> set[str]:
    return {found for code in CODE.findall(text) for found in COMMAND.findall(code)}


def test_the_library_lists_the_four_skills_and_nothing_else():
    catalog = FolderLibrary(builtin_root()).catalog()
    assert [entry.id for entry in catalog.entries] == NAMES
    assert not catalog.problems


@each_skill
def test_each_skill_is_without_findings_in_every_check(skill):
    data = (skill / "SKILL.md").read_bytes()
    assert parse(data, folder=skill.name, profile=Profile.STRICT).findings == ()
    assert reference_problems(skill) == []
    assert validate_skill(skill) == (True, "Skill is valid")


@each_skill
def test_a_scan_finds_nothing_to_worry_about(skill):
    assert scan(read_folder(skill).require()) == ()


@each_skill
def test_each_description_says_when_to_use_the_skill(skill):
    document = parse((skill / "SKILL.md").read_bytes()).document
    assert document is not None
    assert "Use when" in document.description
    assert len(document.description) <= 600, "it is in every prompt"


@each_skill
def test_every_path_that_a_text_names_is_there(skill):
    for path, text in texts_of(skill).items():
        assert set(OWN_FILE.findall(text)) <= files_of(skill), path


@each_skill
def test_every_file_is_named_in_the_body(skill):
    body = (skill / "SKILL.md").read_text(encoding="utf-8")
    assert {path for path in files_of(skill) if not path.startswith("evals/")} <= {"SKILL.md", *OWN_FILE.findall(body)}


@each_skill
def test_each_skill_comes_with_test_cases_in_the_common_form(skill):
    evals = json.loads((skill / "evals/evals.json").read_text(encoding="utf-8"))
    assert evals["skill_name"] == skill.name
    assert [case["id"] for case in evals["evals"]] == list(range(1, len(evals["evals"]) + 1))
    assert len(evals["evals"]) >= 3
    for case in evals["evals"]:
        assert case["prompt"]
        assert case["expected_output"]
        assert len(case["assertions"]) >= 3


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_each_script_is_executable_and_explains_itself_without_packages(script):
    assert os.access(script, os.X_OK)
    assert script.read_bytes().startswith(b"#!/usr/bin/env python3\n")
    command = [sys.executable, "-S", "-E", "-s", "-B", script, "--help"]
    shown = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    assert "Exit codes: 0" in shown


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_each_script_is_python_3_9(script):
    tree = ast.parse(script.read_text(encoding="utf-8"), feature_version=(3, 9))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert "__future__" in imported, "so that annotations may be written in today's form"


def test_every_command_that_the_skillyard_skill_names_exists():
    there = set[str]()
    for entry in COMMANDS:
        inner = entry.target if isinstance(entry.target, tuple) else ()
        there |= {entry.name, *(f"{entry.name} {command.name}" for command in inner)}
    assert commands_in(skillyard_md()) <= there


@pytest.mark.parametrize("line", EXAMPLES)
def test_every_example_of_the_skillyard_skill_is_understood_by_the_command_line(line):
    words, _ = take_json_flag(shlex.split(line)[1:])
    command = get_command(app)
    context = command.make_context("skillyard", words)
    while isinstance(command, Group):
        _, command, words = command.resolve_command(context, words)
        assert command is not None
        context = command.make_context(line, list(words), parent=context)
    assert not context.args


def test_the_skillyard_skill_names_every_command_for_work_on_skills():
    daily = ("audit", "init", "validate", "pack", "list", "find", "show", "add", "remove", "update", "publish")
    skill = ("diff", "scan", "unpack", "references", "enable", "disable", "adopt", "check")
    yard = ("list", "show", "pull", "versions", "yank", "visibility", "diff", "history", "undo", "whoami")
    named = {*daily, *(f"skill {name}" for name in skill), *(f"registry {name}" for name in yard)}
    assert named <= commands_in(skillyard_md())
    assert all(word in skillyard_md() for word in ("--server", "SKILLYARD_TOKEN", "publish ./"))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (errors.UsageError, "wrong usage"),
        (errors.NotFoundError, "not found"),
        (errors.NotAllowedError, "not allowed"),
        (errors.ConflictError, "conflict"),
    ],
)
def test_the_skillyard_skill_explains_the_exit_codes_as_they_are(error, words):
    assert f"| {error.exit_code} | {words}" in skillyard_md()
