import json
import subprocess
import sys
from itertools import chain, combinations

import pytest

from skillyard.errors import InputError, UsageError
from skillyard.skill.document import parse
from skillyard.skill.models import Profile
from skillyard.skill.scaffold import PARTS, scaffold

EVERY_CHOICE = list(chain.from_iterable(combinations(PARTS, size) for size in range(len(PARTS) + 1)))
FILES = {
    "scripts": "scripts/summarize.py",
    "references": "references/errors.md",
    "assets": "assets/report.md",
    "evals": "evals/evals.json",
}


def skill_md(bundle):
    return bundle.get("SKILL.md").data


@pytest.mark.parametrize("parts", EVERY_CHOICE)
def test_a_new_skill_is_valid_at_once_whatever_it_starts_with(parts):
    bundle = scaffold("pdf-forms", with_=parts)
    parsed = parse(skill_md(bundle), folder="pdf-forms", profile=Profile.STRICT)
    assert parsed.valid
    # What is still to be written is said, so that nobody publishes it unseen.
    assert [finding.code for finding in parsed.findings] == ["todo-left"]
    assert parsed.findings[0].message.startswith("4 TODOs are left, on lines 3, 8, ")


@pytest.mark.parametrize("parts", EVERY_CHOICE)
def test_the_text_names_the_files_that_are_there_and_no_others(parts):
    bundle = scaffold("pdf-forms", with_=parts)
    assert [file.path for file in bundle] == sorted(["SKILL.md", *(FILES[part] for part in parts)])
    text = skill_md(bundle).decode()
    assert {part for part in PARTS[:3] if FILES[part] in text} == set(parts) - {"evals"}


def test_steps_are_numbered_without_gaps():
    lines = skill_md(scaffold("pdf-forms", with_=("scripts", "assets"))).decode().splitlines()
    assert [line[0] for line in lines if line[:1].isdigit()] == ["1", "2", "3", "4"]


def test_the_description_is_kept_whatever_it_contains():
    description = "Use when: 'a' # b\nand \"c\" --- d"
    document = parse(skill_md(scaffold("pdf-forms", description=description)), folder="pdf-forms").document
    assert document is not None
    assert document.description == description


def test_names_in_every_script_work():
    parsed = parse(skill_md(scaffold("보고서-작성")), folder="보고서-작성", profile=Profile.STRICT)
    assert [finding.code for finding in parsed.findings] == ["todo-left"]
    assert "# 보고서 작성" in skill_md(scaffold("보고서-작성")).decode()


def test_only_the_script_is_executable():
    assert [file.path for file in scaffold("pdf-forms", with_=PARTS) if file.executable] == [FILES["scripts"]]


def test_the_script_runs_and_explains_a_wrong_path(tmp_path):
    script = tmp_path / "summarize.py"
    script.write_bytes(scaffold("pdf-forms", with_=["scripts"]).get(FILES["scripts"]).data)
    command = [sys.executable, "-S", "-E", str(script)]
    counted = subprocess.run([*command, str(script)], capture_output=True, check=True, text=True)
    assert json.loads(counted.stdout)["bytes"] == script.stat().st_size
    missing = subprocess.run([*command, "/no/such/file"], capture_output=True, check=False, text=True)
    assert missing.returncode == 1
    assert "cannot read /no/such/file" in missing.stderr


def test_the_evals_name_the_skill():
    evals = json.loads(scaffold("보고서", with_=["evals"]).get(FILES["evals"]).data)
    assert evals["skill_name"] == "보고서"
    assert evals["evals"][0]["assertions"]


def test_the_same_request_gives_the_same_files():
    assert scaffold("a", with_=("evals", "scripts")).digest == scaffold("a", with_=("scripts", "evals")).digest


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [("PDF Forms", "pdf-forms"), ("a--b", "a-b"), ("../up", "up"), ("con", "con-skill"), ("x" * 70, "x" * 64)],
)
def test_a_wrong_name_is_refused_with_one_that_fits(name, suggestion):
    with pytest.raises(InputError) as caught:
        scaffold(name)
    assert suggestion in caught.value.hint
    assert caught.value.details["field"] == "name"
    assert scaffold(suggestion)


def test_a_name_of_which_nothing_is_left_is_refused_with_the_rule():
    with pytest.raises(InputError) as caught:
        scaffold("!!!")
    assert "letters, digits and hyphens" in caught.value.hint


def test_an_unknown_part_is_refused_with_the_parts_there_are():
    with pytest.raises(UsageError) as caught:
        scaffold("pdf-forms", with_=["script"])
    assert "'script'" in caught.value.message
    assert "scripts, references, assets, evals" in caught.value.hint


def test_a_description_over_the_limit_is_refused():
    with pytest.raises(InputError) as caught:
        scaffold("pdf-forms", description="x" * 1025)
    assert "1,024" in caught.value.message
