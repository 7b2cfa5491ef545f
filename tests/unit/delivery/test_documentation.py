import re
from pathlib import Path

import pytest

from skillyard.delivery.check import Status
from skillyard.delivery.discover import MAX_DEPTH
from skillyard.delivery.download import MAX_REDIRECTS, DownloadLimits
from skillyard.delivery.fetch_url import MAX_INDEX_BYTES, MAX_INDEX_ENTRIES
from skillyard.delivery.fetched import MAX_SOURCE_BYTES
from skillyard.delivery.git import MAX_REPOSITORY_FILES
from skillyard.delivery.git_process import MAX_REPOSITORY_BYTES
from skillyard.delivery.lock import entry_from_dict, entry_to_dict
from skillyard.delivery.place import project_place
from skillyard.skill.limits import MAX_BUNDLE_BYTES, MAX_BUNDLE_FILES, MIB

PAGE = (Path(__file__).parents[3] / "docs" / "delivery.md").read_text(encoding="utf-8")


def test_the_lock_shown_in_the_page_is_one(tmp_path: Path):
    (text,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    place = project_place(tmp_path)
    place.lock.write_text(text)
    from json import loads

    (raw,) = loads(text)["skills"]
    assert entry_to_dict(place, entry_from_dict(place, raw, "skills[0]")) == raw


@pytest.mark.parametrize("status", list(Status))
def test_every_status_is_documented(status: Status):
    assert f"`{status}`" in PAGE


def test_the_limits_in_the_page_are_the_limits():
    limits = DownloadLimits()
    assert f"{limits.max_bytes // MIB} MiB, {limits.max_seconds / 60:.0f} minutes, {MAX_REDIRECTS} redirects" in PAGE
    assert f"{MAX_INDEX_BYTES // MIB} MiB, {MAX_INDEX_ENTRIES:,} skills" in PAGE
    assert f"{MAX_REPOSITORY_BYTES // MIB} MiB, {MAX_REPOSITORY_FILES:,} files" in PAGE
    assert f"| {MAX_SOURCE_BYTES // MIB} MiB |" in PAGE
    assert f"| {MAX_DEPTH} folders |" in PAGE


def test_the_code_in_the_page_runs(tmp_path: Path, monkeypatch, skill_md):
    (tmp_path / "my-skills" / "pdf").mkdir(parents=True)
    (tmp_path / "my-skills" / "pdf" / "SKILL.md").write_text(skill_md("pdf"))
    (tmp_path / ".git").mkdir()
    (tmp_path / "me").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    (installing,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(installing, {})
    assert (tmp_path / ".claude/skills/pdf/SKILL.md").is_file()


def test_the_limits_of_a_skill_are_those_of_a_bundle():
    assert f"| one skill | {MAX_BUNDLE_FILES:,} files and {MAX_BUNDLE_BYTES // MIB} MiB in total" in PAGE
