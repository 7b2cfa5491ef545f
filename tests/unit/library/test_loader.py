import os
import time
from pathlib import Path

import pytest

from skillyard.library.loader import SkillInfo, SkillLoader
from skillyard.library.switches import Switches, save_switches

pytestmark = pytest.mark.usefixtures("config_dir")


def age(path: Path, *, nanoseconds: int = 1_000_000_000) -> None:
    """Make a file look as if it was written long ago."""
    os.utime(path, ns=(nanoseconds, nanoseconds))


def test_every_folder_with_a_skill_file_of_either_name_is_loaded_by_id(tmp_path: Path, write_skill):
    lower = write_skill(tmp_path / "skill-a", name="Skill A Name", file="skill.md", description="功能描述")
    upper = write_skill(tmp_path / "another")
    assert SkillLoader(tmp_path).load_all() == [
        SkillInfo("another", "another", "Does another.", str(upper)),
        SkillInfo("skill-a", "Skill A Name", "功能描述", str(lower)),
    ]


def test_a_folder_that_is_not_there_has_no_skills(tmp_path: Path):
    assert SkillLoader(tmp_path / "none").load_all() == []


def test_a_broken_skill_is_told_and_stops_nothing(tmp_path: Path, write_skill):
    write_skill(tmp_path / "good")
    write_skill(tmp_path / "bad", text="no frontmatter")
    loader = SkillLoader(str(tmp_path))
    assert [info.id for info in loader.load_all()] == ["good"]
    assert [problem.id for problem in loader.problems] == ["bad"]


def test_changes_are_told_once(tmp_path: Path, write_skill):
    write_skill(tmp_path / "one")
    write_skill(tmp_path / "two")
    loader = SkillLoader(tmp_path)
    first = loader.refresh()
    assert [info.id for info in first.added] == ["one", "two"]
    assert not loader.refresh()
    write_skill(tmp_path / "three")
    write_skill(tmp_path / "two", description="Does more.")
    (tmp_path / "one" / "SKILL.md").unlink()
    changes = loader.refresh()
    assert [[info.id for info in group] for group in (changes.added, changes.removed, changes.updated)] == [
        ["three"],
        ["one"],
        ["two"],
    ]
    assert changes.updated[0].description == "Does more."
    assert not loader.refresh()


def test_an_edit_of_the_instructions_alone_is_an_update(tmp_path: Path, write_skill):
    write_skill(tmp_path / "one", body="Do this.")
    loader = SkillLoader(tmp_path)
    loader.refresh()
    write_skill(tmp_path / "one", body="Do that.")
    assert [info.id for info in loader.refresh().updated] == ["one"]


def test_an_edit_that_leaves_size_and_times_as_they_were_is_seen_while_the_file_is_young(tmp_path: Path, write_skill):
    path = write_skill(tmp_path / "one", body="Do this.")
    status = path.stat()
    loader = SkillLoader(tmp_path)
    loader.refresh()
    with path.open("r+") as stream:
        stream.write(path.read_text().replace("this", "that"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert [info.id for info in loader.refresh().updated] == ["one"]
    assert not loader.refresh()


def test_a_settled_file_is_not_read_again(tmp_path: Path, write_skill, monkeypatch):
    write_skill(tmp_path / "one")
    monkeypatch.setattr("skillyard.library.revisions.YOUNG_NS", -(10**18))
    monkeypatch.setattr("skillyard.library.beside.COARSE_CLOCK_NS", -(10**18))
    loader = SkillLoader(tmp_path)
    loader.refresh()
    monkeypatch.setattr("skillyard.library.revisions.read_regular", None)
    assert not loader.refresh()


def test_an_unchanged_folder_is_opened_by_the_next_process_without_reading_a_file(
    tmp_path: Path, write_skill, monkeypatch
):
    write_skill(tmp_path / "one")
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 60_000_000_000)  # what was just written counts as old
    before = SkillLoader(tmp_path).load_all()
    for reading in ("folder.read_regular", "revisions.read_regular", "revisions.look_beside"):
        monkeypatch.setattr(f"skillyard.library.{reading}", None)
    assert SkillLoader(tmp_path).load_all() == before != []


def test_a_touched_young_file_with_the_same_content_is_no_update(tmp_path: Path, write_skill):
    path = write_skill(tmp_path / "one")
    loader = SkillLoader(tmp_path)
    loader.refresh()
    age(path, nanoseconds=path.stat().st_mtime_ns + 5)
    assert not loader.refresh()


def test_a_skill_that_became_a_link_elsewhere_is_gone(tmp_path: Path, write_skill):
    write_skill(tmp_path / "skills" / "one")
    outside = write_skill(tmp_path / "outside" / "one")
    loader = SkillLoader(tmp_path / "skills")
    loader.refresh()
    (tmp_path / "skills" / "one" / "SKILL.md").unlink()
    (tmp_path / "skills" / "one" / "SKILL.md").symlink_to(outside)
    assert [info.id for info in loader.refresh().removed] == ["one"]


def test_a_skill_that_is_switched_off_is_gone_and_comes_back(tmp_path: Path, write_skill, config_dir: Path):
    write_skill(tmp_path / "skills" / "one")
    loader = SkillLoader(tmp_path / "skills")
    loader.refresh()
    save_switches(config_dir, Switches().disable("one", root=tmp_path / "skills"))
    assert [info.id for info in loader.refresh().removed] == ["one"]
    assert loader.known == ()
    save_switches(config_dir, Switches())
    assert [info.id for info in loader.refresh().added] == ["one"]
