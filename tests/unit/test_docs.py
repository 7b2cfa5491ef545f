"""The documentation is true: tables are fresh, links lead somewhere, commands exist, the code runs."""

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from skillyard.cli.main import app, take_json_flag
from skillyard.errors import SkillyardError
from skillyard.library.watch import Added, Removed, Updated, Watcher
from skillyard.skill.library import SkillEntry

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page for pattern in ("*.md", "docs/**/*.md", "bench/*.md", "examples/*.md") for page in ROOT.glob(pattern)
)
PAGES_WITH_CODE = (
    *("README.md", "docs/library.md", "docs/environments.md", "docs/format.md", "docs/learning.md", "docs/python.md"),
    "docs/releases.md",
    "docs/evidence.md",
    "docs/agents.md",
    "docs/frameworks.md",
)
TESTED_ELSEWHERE = {"docs/delivery.md", "docs/shipping.md"}
"""Their code needs a source to install from, or a sandbox to ship to; the tests of that room bring one."""

LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")
ANCHOR = re.compile(r"\]\((?!https?://)([^)#\s]*)#([^)\s]+)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TYPED = re.compile(r"^\$ (?:[A-Z_]+=\S* )*(?:\S*/)?skillyard\b(.*)$", re.MULTILINE)
MENTIONED = re.compile(r"`skillyard ((?:[a-z-]+ ?)[^`]*)`")
CODE = sorted(ROOT.glob("src/**/*.py"))
SAID = re.compile(r"(?<![\w/.<-])skillyard (?=[a-z-])[^`\n<]*?(?=$|[`\n<),;]|[.:]? [A-Z(][a-z]|[.:](?:\s|$))")
"""A command in a text, up to where the sentence goes on or ends."""
FILLED_IN = "1"
"""What stands for the parts of a text that are filled in when it is said."""
SKILL = "---\nname: {name}\ndescription: Compares and reads files.\n---\n\n# Do it\n"


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_generated_tables_are_up_to_date():
    done = subprocess.run(
        [sys.executable, "scripts/docs.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_between_pages_lead_somewhere(page):
    broken = [
        target for target in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / target).exists()
    ]
    assert broken == []


def anchors_of(page: Path) -> set[str]:
    """What links can name in a page: its headings, as they are written in addresses."""
    return {
        re.sub(r"[^\w\- ]", "", title).lower().replace(" ", "-") for title in HEADING.findall(page.read_text("utf-8"))
    }


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_into_pages_lead_to_a_heading(page):
    named = ANCHOR.findall(page.read_text(encoding="utf-8"))
    broken = [f"{file}#{part}" for file, part in named if part not in anchors_of(page.parent / file if file else page)]
    assert broken == []


def test_every_decision_is_numbered_once():
    numbers = [page.name[:4] for page in sorted(ROOT.glob("docs/decisions/*.md"))]
    assert numbers == [f"{number:04d}" for number in range(1, len(numbers) + 1)]


def check_line(words, *, placeholders=False):
    """Raise unless the command line could be run; with placeholders, unless its command and options exist."""
    words, _ = take_json_flag(words)
    command = typer.main.get_command(app)
    while hasattr(command, "resolve_command") and words and not words[0].startswith("-"):
        _, command, words = command.resolve_command(typer.Context(command), list(words))
    if placeholders:
        known = {"--help", *(option for parameter in command.params for option in parameter.opts)}
        unknown = [word for word in words if re.fullmatch(r"--?[a-z][a-z-]*", word) and word not in known]
        assert unknown == []
    else:
        command.make_context(command.name, list(words))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_that_a_page_types_could_be_run(page):
    for line in TYPED.findall(page.read_text(encoding="utf-8")):
        check_line(shlex.split(line, comments=True))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_that_a_page_mentions_exist(page):
    for line in MENTIONED.findall(page.read_text(encoding="utf-8")):
        check_line(line.replace("\\|", "|").split(), placeholders=True)


def texts_in(source: str):
    """Every text in some code, with the parts that are filled in."""
    tree = ast.parse(source)
    within = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else FILLED_IN for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in within:
            yield node.value


def commands_in(source: str):
    """The commands that some code speaks of, and whether each is whole: something to copy, at the end of a text."""
    for text in texts_in(source):
        for found in SAID.finditer(text):
            yield found[0], found.end() == len(text) and text[: found.start()].endswith(": ")


def test_commands_that_the_code_speaks_of_exist():
    said = [(file, *each) for file in CODE for each in commands_in(file.read_text(encoding="utf-8"))]
    assert len(said) > 100
    assert sum(is_whole for *_, is_whole in said) > 40
    for file, command, is_whole in said:
        words = command.replace(f"--scope {FILLED_IN}", "--scope read").split()[1:]
        try:
            check_line(words, placeholders=True)
            if is_whole:
                check_line(words)
        except (SkillyardError, typer.TyperException, AssertionError) as error:
            pytest.fail(f"{file.relative_to(ROOT)} says {command!r}: {error}")


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("raise E(f'No {x}.', hint=f'Make it: skillyard env create {name}')", [("skillyard env create 1", True)]),
        (
            "'`skillyard list`, or skillyard find WORDS --new. Then'",
            [("skillyard list", False), ("skillyard find WORDS --new", False)],
        ),
        ("'This is skillyard. See skillyard.lock'", []),
    ],
)
def test_commands_are_found_in_code(text, commands):
    assert list(commands_in(text)) == commands


@pytest.mark.parametrize(
    ("line", "placeholders"),
    [
        ("shwo pdf", False),
        ("skill shwo", True),
        ("list --rot x", False),
        ("pack DIR --slimm", True),
        ("validate", False),
        ("validate x --profile harsh", False),
    ],
)
def test_a_wrong_command_would_be_noticed(line, placeholders):
    with pytest.raises((SkillyardError, typer.TyperException, AssertionError)):
        check_line(line.split(), placeholders=placeholders)


def test_every_page_with_code_is_run():
    pages = {name_of(page) for page in PAGES if PYTHON.search(page.read_text(encoding="utf-8"))}
    assert pages == {*PAGES_WITH_CODE, *TESTED_ELSEWHERE}


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A home with the skills that the pages speak of, in which their code may write."""
    for folder in ("person/.claude/skills/pdf", "documents/skills/file-diff"):
        skill = tmp_path / folder
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text(SKILL.format(name=skill.name))
    for file in ("references/SPEC.md", "scripts/compare.py"):
        path = tmp_path / "documents/skills/file-diff" / file
        path.parent.mkdir()
        path.write_text("")
    for name in ("SKILLYARD_HOME", "SKILLYARD_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "DOCUMENT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.chdir(tmp_path)
    # Watching waits for ever; what the loop is shown is one change of each kind.
    one = SkillEntry("a", "a", "d", "/a/SKILL.md", "mine")
    monkeypatch.setattr(Watcher, "__iter__", lambda _: iter([(Added(one), Removed(one), Updated(one, one))]))


@pytest.mark.parametrize("page", PAGES_WITH_CODE)
@pytest.mark.usefixtures("machine")
def test_the_code_of_a_page_runs(page):
    names = {}
    for number, block in enumerate(PYTHON.findall((ROOT / page).read_text(encoding="utf-8")), start=1):
        exec(compile(block, f"{page}, block {number}", "exec"), names)
