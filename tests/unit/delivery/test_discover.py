from pathlib import Path

import pytest

from skillyard.delivery.discover import MAX_DEPTH, skill_folders, skill_folders_on_disk
from skillyard.errors import LimitError


def test_plain_folders_come_before_hidden_ones_and_shallow_before_deep():
    paths = [".claude/skills/z/SKILL.md", "skills/b/SKILL.md", "a/SKILL.md", "skills/.curated/c/skill.md"]
    assert skill_folders(paths) == ["a", "skills/b", ".claude/skills/z", "skills/.curated/c"]


def test_what_is_inside_a_skill_belongs_to_it():
    assert skill_folders(["a/SKILL.md", "a/examples/b/SKILL.md"]) == ["a"]
    assert skill_folders(["SKILL.md", "a/SKILL.md"]) == [""]


def test_other_files_and_litter_are_no_skills():
    assert skill_folders(["a/README.md", "node_modules/x/SKILL.md", ".git/x/SKILL.md", "a/Skill.md"]) == []


def test_folders_too_deep_are_not_looked_into(tmp_path: Path):
    fine, deep = "/".join("d" * MAX_DEPTH), "/".join("e" * (MAX_DEPTH + 1))
    assert skill_folders([f"{fine}/SKILL.md", f"{deep}/SKILL.md"]) == [fine]
    for folder in (fine, deep):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "SKILL.md").touch()
    assert skill_folders_on_disk(tmp_path) == [fine]


def test_links_are_not_followed_on_disk(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "SKILL.md").touch()
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "SKILL.md").symlink_to(tmp_path / "a" / "SKILL.md")
    assert skill_folders_on_disk(tmp_path) == ["a"]


def test_a_folder_that_is_not_there_has_no_skills(tmp_path: Path):
    assert skill_folders_on_disk(tmp_path / "gone") == []


def test_too_many_folders_are_given_up(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("skillyard.delivery.discover.MAX_FOLDERS", 3)
    for name in "abcd":
        (tmp_path / name).mkdir()
    with pytest.raises(LimitError):
        skill_folders_on_disk(tmp_path)
