from pathlib import Path

import pytest

from skillyard.delivery.place import LockPlace, folder_place, project_place, user_place
from skillyard.errors import NotAllowedError


@pytest.mark.parametrize(
    "path",
    ["../x", "a/../../x", "/etc/x", "", ".", "a//b", "a\\b", "C:/x", "a/\x00", "a/\u202ex", "a/nul", "a/ .", "-x"],
)
def test_a_path_that_could_lead_elsewhere_is_refused(tmp_path: Path, path: str):
    with pytest.raises(NotAllowedError):
        project_place(tmp_path).resolve(path)


@pytest.mark.parametrize("path", [".git/hooks", ".GIT/hooks", "a/.git/hooks"])
def test_nothing_is_installed_where_git_would_run_it(tmp_path: Path, path: str):
    with pytest.raises(NotAllowedError, match="git run commands"):
        project_place(tmp_path).resolve(path)


def test_a_link_out_of_a_project_is_not_followed(tmp_path: Path):
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    (project / ".claude").symlink_to(outside)
    (project / ".agents").symlink_to(project / "real")
    with pytest.raises(NotAllowedError):
        project_place(project).resolve(".claude/skills/x")
    assert project_place(project).resolve(".agents/skills/x") == project / ".agents/skills/x"


def test_a_link_out_of_a_persons_own_home_is_theirs(tmp_path: Path):
    (tmp_path / "me").mkdir()
    (tmp_path / "me" / ".claude").symlink_to(tmp_path)
    place = user_place(tmp_path / "yard", tmp_path / "me")
    assert place.resolve(".claude/skills/x") == tmp_path / "me/.claude/skills/x"


def test_paths_are_written_relative_to_the_base(tmp_path: Path):
    place = project_place(tmp_path)
    assert place.relative(tmp_path / ".claude/skills/x") == ".claude/skills/x"
    with pytest.raises(NotAllowedError):
        place.relative(tmp_path.parent / "x")


def test_every_place_has_its_lock_where_it_belongs(tmp_path: Path):
    assert project_place(tmp_path).lock == tmp_path / "skillyard.lock"
    assert folder_place(tmp_path / "s") == LockPlace(lock=tmp_path / "s/skillyard.lock", base=tmp_path / "s")
    assert user_place(tmp_path / "yard", tmp_path).lock == tmp_path / "yard/skillyard.lock"
