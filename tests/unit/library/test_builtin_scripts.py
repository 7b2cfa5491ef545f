import json
import os
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from skillyard.library.builtin import builtin_root
from skillyard.skill.archive import pack, read_archive

ROOT = builtin_root()


def run(script: str, *arguments: object, stdin: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a script of a built-in skill with the standard library only."""
    command = [sys.executable, "-S", "-E", "-s", "-B", ROOT / script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, text=True, input=stdin, cwd=cwd)


def init(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return run("skill-creator/scripts/init_skill.py", *arguments, cwd=cwd)


def package(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return run("skill-creator/scripts/package_skill.py", *arguments, cwd=cwd)


def check_steps(steps: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run("browser-automation/scripts/check_steps.py", *arguments, "-", stdin=steps)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    assert init("pdf-forms", "--path", tmp_path).returncode == 0
    return tmp_path / "pdf-forms"


def test_init_makes_a_valid_skill_with_one_example_of_each_kind(skill):
    assert set(contents(skill)) == {
        "SKILL.md",
        "scripts/example.py",
        "references/api_reference.md",
        "assets/example_asset.txt",
    }
    checked = run("skill-creator/scripts/quick_validate.py", skill)
    assert (checked.returncode, checked.stdout) == (0, "Skill is valid\n")


def test_the_example_script_runs(skill):
    result = subprocess.run([skill / "scripts/example.py", skill / "SKILL.md"], capture_output=True, check=True)
    assert json.loads(result.stdout)["lines"] > 10


def test_init_makes_missing_folders_and_uses_the_working_one_by_default(tmp_path):
    assert init("보고서", "--path", tmp_path / "a/b").returncode == 0
    assert init("plain", cwd=tmp_path).returncode == 0
    assert (tmp_path / "a/b/보고서/SKILL.md").is_file()
    assert (tmp_path / "plain/SKILL.md").is_file()


def test_init_leaves_alone_what_is_there(skill):
    before = contents(skill)
    result = init("pdf-forms", "--path", skill.parent)
    assert result.returncode == 1
    assert "exists already" in result.stderr
    assert contents(skill) == before


@pytest.mark.parametrize(("name", "fit"), [("PDF Forms", "pdf-forms"), ("../up", "up"), ("a_b", "a-b"), ("", "")])
def test_init_refuses_a_wrong_name_and_offers_one_that_fits(tmp_path, name, fit):
    result = init(name, "--path", tmp_path)
    assert result.returncode == 1
    assert ("try: " + fit in result.stderr) == bool(fit)
    assert list(tmp_path.iterdir()) == []


def test_init_explains_a_place_it_cannot_write_to(tmp_path):
    (tmp_path / "file").write_text("x")
    result = init("pdf-forms", "--path", tmp_path / "file")
    assert result.returncode == 1
    assert "Traceback" not in result.stderr


def test_a_packed_skill_lies_in_a_folder_of_its_name(skill, tmp_path):
    result = package(skill, tmp_path / "out")
    assert (result.returncode, result.stdout) == (0, f"Packed {tmp_path}/out/pdf-forms.skill\n")
    with zipfile.ZipFile(tmp_path / "out/pdf-forms.skill") as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            f"pdf-forms/{path}": data for path, data in contents(skill).items()
        }
        modes = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
    assert {name for name, mode in modes.items() if mode & stat.S_IXUSR} == {"pdf-forms/scripts/example.py"}


def test_litter_and_evals_are_left_out(skill, tmp_path):
    for path in (
        "evals/evals.json",
        "scripts/__pycache__/x.pyc",
        "node_modules/a/b.js",
        ".git/config",
        "x.pyc",
        "assets/.DS_Store",
        "assets/._x",
        "assets/evals/kept.txt",
    ):
        (skill / path).parent.mkdir(parents=True, exist_ok=True)
        (skill / path).write_text("x")
    (skill / "evals/link").symlink_to("/etc/hostname")
    assert package(skill, tmp_path).returncode == 0
    with zipfile.ZipFile(tmp_path / "pdf-forms.skill") as archive:
        assert [name.removeprefix("pdf-forms/") for name in archive.namelist()] == [
            "SKILL.md",
            "assets/evals/kept.txt",
            "assets/example_asset.txt",
            "references/api_reference.md",
            "scripts/example.py",
        ]


def test_the_same_content_gives_the_same_file_as_skillyard_itself(skill, tmp_path):
    package(skill, tmp_path)
    first = (tmp_path / "pdf-forms.skill").read_bytes()
    for path in skill.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    package(skill, tmp_path)
    assert (tmp_path / "pdf-forms.skill").read_bytes() == first
    assert pack(read_archive(first).require(), "pdf-forms", slim=True) == first


@pytest.mark.parametrize("target", ["/etc/hostname", "/etc", "missing"])
def test_links_are_refused(skill, tmp_path, target):
    (skill / "assets/link").symlink_to(target)
    result = package(skill, tmp_path)
    assert result.returncode == 1
    assert "'assets/link' is a link" in result.stderr
    assert not (tmp_path / "pdf-forms.skill").exists()


def test_pipes_are_refused_without_waiting_for_them(skill, tmp_path):
    os.mkfifo(skill / "assets/pipe")
    assert "'assets/pipe' is no ordinary file" in package(skill, tmp_path).stderr


def test_an_invalid_skill_is_not_packed_and_every_problem_is_said(skill, tmp_path):
    (skill / "SKILL.md").write_text("---\nname: other\ndescription: a <b>\n---\n")
    result = package(skill, tmp_path)
    assert result.returncode == 1
    assert "must equal the folder's name" in result.stderr
    assert "angle brackets" in result.stderr
    assert not (tmp_path / "pdf-forms.skill").exists()


def test_the_archive_may_not_lie_inside_the_skill(skill):
    for target in (skill, skill / "assets"):
        result = package(skill, target)
        assert result.returncode == 1
        assert "inside the skill" in result.stderr


def test_a_failed_packing_leaves_the_old_file_and_nothing_else(skill, tmp_path):
    package(skill, tmp_path / "out")
    before = contents(tmp_path / "out")
    os.truncate(skill / "SKILL.md", 0)
    package(skill, tmp_path / "out")
    (skill / "SKILL.md").unlink()
    package(skill, tmp_path / "out")
    assert contents(tmp_path / "out") == before


def test_the_scripts_work_from_one_folder_without_the_rest_of_the_skill(tmp_path):
    for name in ("init_skill.py", "quick_validate.py", "package_skill.py"):
        (tmp_path / name).write_bytes((ROOT / "skill-creator/scripts" / name).read_bytes())

    def shell(*command: str) -> str:
        run_here = [sys.executable, "-S", "-E", "-s", *command]
        return subprocess.run(run_here, capture_output=True, check=True, text=True, cwd=tmp_path).stdout

    shell("init_skill.py", "moved", "--path", ".")
    assert "Skill is valid" in shell("quick_validate.py", "moved")
    shell("package_skill.py", "moved", ".")
    assert zipfile.is_zipfile(tmp_path / "moved.skill")


def test_the_inspection_says_what_is_in_the_workspace(tmp_path):
    (tmp_path / "small.txt").write_text("x")
    (tmp_path / "large.bin").write_bytes(b"x" * 1000)
    (tmp_path / "loop").symlink_to(tmp_path)
    result = run("python-sandbox/scripts/inspect_workspace.py", tmp_path, "--json")
    report = json.loads(result.stdout)
    assert report["workspace"]["files"] == 2
    assert report["workspace"]["bytes"] == 1001
    assert report["workspace"]["largest"][0] == {"path": "large.bin", "bytes": 1000}
    assert report["python"]["version"].startswith("3.")
    assert report["system"]["cpus"] >= 1


def test_the_inspection_is_short_and_works_where_there_is_no_workspace(tmp_path):
    result = run("python-sandbox/scripts/inspect_workspace.py", tmp_path / "missing")
    assert result.returncode == 0
    assert "does not exist" in result.stdout
    assert len(result.stdout.splitlines()) < 30


CAREFUL = """\
agent-browser open https://shop.example/login
agent-browser snapshot -i
fill @e1 "ana"
find label "Password" fill "{{password}}"   # resolved anew
--session a click @e3
wait --url "**/account"
snapshot -i
get text @e4
"""


def findings(result: subprocess.CompletedProcess[str]) -> list[str]:
    return [" ".join(line.split(": ")[:2]) for line in result.stdout.splitlines()]


def test_careful_steps_have_no_findings():
    result = check_steps(CAREFUL)
    assert (result.returncode, result.stdout) == (0, "")


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("open x\nclick @e1\nget text h1", "step 2 stale-ref"),
        ("open x\nsnapshot -i\nclick @e1\nfill @e2 y\nget url", "step 4 stale-ref"),
        ("open x\nsnapshot -i\nreload\nget text @e2", "step 4 stale-ref"),
        ("open x\nfind role button click --name Save", "step 2 no-proof"),
        ("open x\nwait --text Hello\nfind label Name fill Ana", "step 3 no-proof"),
        ("open x\nwait 2000\nget url", "step 2 fixed-wait"),
        ('open x\nfind label "비밀번호" fill "hunter2"\nget url', "step 2 literal-secret"),
    ],
)
def test_each_careless_step_is_found(steps, expected):
    result = check_steps(steps)
    assert result.returncode == 1
    assert findings(result) == [expected]


def test_a_saved_recipe_may_not_hold_refs():
    assert findings(check_steps(CAREFUL, "--replay")) == [f"step {number} replayed-ref" for number in (3, 5, 8)]


def test_steps_may_be_json_and_other_kinds_are_passed_over():
    steps = {"steps": ["open x", {"type": "python", "code": "click @e1"}, {"type": "browser", "cmd": "click @e2"}]}
    assert findings(check_steps(json.dumps(steps))) == ["step 3 stale-ref", "step 3 no-proof"]


@pytest.mark.parametrize("steps", ['{"a": 1}', "[1]", "[", 'fill @e1 "open', '{"steps": {}}'])
def test_what_is_no_list_of_steps_is_refused_in_one_line(steps):
    result = check_steps(steps)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
