"""Folders made to harm whoever reads them: each is answered with a typed finding, and nothing outside is touched."""

import os
import socket
import time

import pytest

from skillyard.library import disk
from skillyard.library.disk import read_folder
from skillyard.skill.limits import MAX_FILE_BYTES, MAX_PATH_DEPTH, MIB
from skillyard.skill.models import Severity, has_errors

SECRET = b"outside-secret"


@pytest.fixture
def skill(tmp_path):
    (tmp_path / "secret").write_bytes(SECRET)
    folder = tmp_path / "skills" / "x"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_bytes(b"---\nname: x\ndescription: y\n---\n")
    return folder


def answer(folder):
    """All findings by code, once it is sure that the answer came as promised."""
    started = time.process_time()
    read = read_folder(folder)
    assert time.process_time() - started < 2
    assert (read.bundle is None) == has_errors(read.findings)
    assert not any(SECRET in file.data for file in read.bundle or ())
    assert all(finding.fix and finding.message.isprintable() for finding in read.findings)
    return {finding.code for finding in read.findings}


@pytest.mark.parametrize(
    "target",
    ["../../secret", "/etc/passwd", "SKILL.md", "missing", ".", "..", "/", "loop", "/dev/zero", "/proc/self/mem"],
)
def test_a_link_is_refused_wherever_it_leads(skill, target):
    (skill / "loop").symlink_to(target)
    assert answer(skill) == {"link"}


def test_a_skill_file_that_is_a_link_is_refused(skill):
    (skill / "SKILL.md").unlink()
    (skill / "SKILL.md").symlink_to("../../secret")
    assert "link" in answer(skill)


def test_links_that_lead_round_in_folders_are_not_followed(skill):
    (skill / "a").mkdir()
    (skill / "a" / "up").symlink_to("..")
    (skill / "a" / "self").symlink_to("../a")
    assert [finding.file for finding in read_folder(skill).findings] == ["a/self", "a/up"]


def test_a_folder_that_turns_into_a_link_meanwhile_is_not_entered(skill, tmp_path, monkeypatch):
    (skill / "a").mkdir()
    real_open = os.open

    def swapping(path, *args, **kwargs):
        if path == "a":
            (skill / "a").rmdir()
            (skill / "a").symlink_to(tmp_path)
        return real_open(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", swapping)
    assert answer(skill) == {"unreadable"}


def test_a_file_that_turns_into_a_link_meanwhile_is_not_read(skill, tmp_path, monkeypatch):
    (skill / "a").touch()
    real_open = os.open

    def swapping(path, *args, **kwargs):
        if path == "a":
            (skill / "a").unlink()
            (skill / "a").symlink_to(tmp_path / "secret")
        return real_open(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", swapping)
    assert answer(skill) == {"unreadable"}


def test_pipes_and_sockets_are_skipped_without_being_opened(skill, monkeypatch):
    os.mkfifo(skill / "pipe")
    monkeypatch.chdir(skill)
    opened, real_open = [], os.open

    def noting(path, *args, **kwargs):
        opened.append(path)
        return real_open(path, *args, **kwargs)

    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        monkeypatch.setattr(os, "open", noting)
        read = read_folder(skill)
    assert [(finding.code, finding.file, finding.severity) for finding in read.findings] == [
        ("special-file-skipped", "pipe", Severity.WARNING),
        ("special-file-skipped", "socket", Severity.WARNING),
    ]
    assert [file.path for file in read.bundle] == ["SKILL.md"]
    assert opened == [skill, "SKILL.md"]


def test_a_skill_file_that_is_a_pipe_does_not_hold_anyone_up(skill):
    (skill / "SKILL.md").unlink()
    os.mkfifo(skill / "SKILL.md")
    assert answer(skill) == {"special-file-skipped", "skill-file-missing"}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        (b"a\nb", "path-hidden"),
        (b"\x1b[31mred", "path-hidden"),
        ("a\u202egpj.exe".encode(), "path-hidden"),
        ("a\u200bb".encode(), "path-hidden"),
        (b"\xff\xfe", "path-encoding"),
        (b"a\\..\\b", "path-backslash"),
        (b"nul.txt", "path-reserved"),
        (b"trailing.", "path-edge"),
        (b"trailing ", "path-edge"),
        ("．．".encode(), "path-escape"),
        (b"C:evil", "path-absolute"),
        (b"skill.md", "path-collision"),
        (b"Skill.MD", "path-collision"),
    ],
)
def test_a_hostile_name_is_refused(skill, name, code):
    (skill / os.fsdecode(name)).touch()
    assert code in answer(skill)


def test_names_equal_but_for_unicode_form_collide(skill):
    for name in ("caf\u00e9", "cafe\u0301"):
        (skill / name).touch()
    assert answer(skill) == {"path-collision"}


def test_a_chain_of_folders_deeper_than_allowed_is_not_followed(skill):
    deep = skill
    for _ in range(MAX_PATH_DEPTH * 3):
        deep /= "d"
    deep.mkdir(parents=True)
    assert answer(skill) == {"path-depth"}


def test_a_sparse_file_of_a_terabyte_is_not_read(skill):
    with (skill / "huge").open("wb") as stream:
        stream.truncate(1 << 40)
    assert answer(skill) == {"bundle-file-size"}


def test_sparse_files_that_are_too_much_together_stop_the_reading(skill):
    for number in range(5):
        with (skill / f"{number}").open("wb") as stream:
            stream.truncate(min(MAX_FILE_BYTES, 20 * MIB))
    assert answer(skill) == {"bundle-size"}


def test_a_folder_of_too_many_files_is_given_up(skill):
    for number in range(2001):
        (skill / f"{number}").touch()
    assert answer(skill) == {"bundle-files"}


def test_a_folder_of_endless_empty_folders_is_given_up(skill, monkeypatch):
    monkeypatch.setattr(disk, "_MAX_ENTRIES", 50)
    for number in range(60):
        (skill / f"{number}").mkdir()
    assert answer(skill) == {"bundle-files"}


def test_a_bad_file_does_not_stop_the_next_skill_from_being_read(skill):
    neighbour = skill.parent / "y"
    neighbour.mkdir()
    (neighbour / "SKILL.md").write_bytes(b"fine")
    (skill / "link").symlink_to("/")
    assert answer(skill) == {"link"}
    assert answer(neighbour) == set()
