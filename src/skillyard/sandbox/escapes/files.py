"""Attempts on the files of the host."""

# ruff: noqa: PTH101, PTH102, PTH104, PTH106, PTH108, PTH112, PTH123, PTH208, PTH211 (plain calls, one for each thing that is tried)
from __future__ import annotations

import os

from skillyard.sandbox.escapes.ground import text_of, world


def read_secret() -> str:
    return text_of(world["secret_file"])


def read_by_link() -> str:
    os.symlink(world["secret_file"], "link-out")
    try:
        return text_of("link-out")
    finally:
        os.unlink("link-out")


def list_home() -> str:
    return ",".join(os.listdir(str(world["home"])))


def read_shadow() -> str:
    return text_of(world["shadow"])


def write_system() -> str:
    path = world["system_folder"] + "/skillyard-probe"
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    os.unlink(path)
    return path


def write_file() -> str:
    with open(world["victims"]["write_file"], "r+b") as file:
        file.write(b"changed")
    return "written"


def write_by_link() -> str:
    os.symlink(world["victims"]["write_by_link"], "link-out")
    try:
        with open("link-out", "r+b") as file:
            file.write(b"changed")
    finally:
        os.unlink("link-out")
    return "written"


def truncate_file() -> str:
    os.truncate(world["victims"]["truncate_file"], 3)
    return "truncated"


def change_mode() -> str:
    os.chmod(world["victims"]["change_mode"], 0o666)  # noqa: S103 -- that is what is tried
    return "changed"


def change_mode_by_link() -> str:
    os.symlink(world["victims"]["change_mode_by_link"], "link-out")
    try:
        os.chmod("link-out", 0o666)  # noqa: S103 -- that is what is tried
    finally:
        os.unlink("link-out")
    return "changed"


def change_times() -> str:
    os.utime(world["victims"]["change_times"], (1, 1))
    return "changed"


def change_attributes() -> str:
    os.setxattr(world["victims"]["change_attributes"], "user.skillyard", b"changed")
    return "changed"


def hard_link() -> str:
    os.link(world["victims"]["hard_link"], "hard-link")
    os.unlink("hard-link")
    return "linked"


def rename_out() -> str:
    os.mkdir("renamed")
    try:
        os.rename("renamed", world["home"] + "/renamed")
    finally:
        if os.path.isdir("renamed"):
            os.rmdir("renamed")
    os.rmdir(world["home"] + "/renamed")
    return "renamed"


def open_devices() -> str:
    opened: list[str] = []
    for path in world["devices"]:
        try:
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))
            opened.append(path)
        except OSError:
            pass
    return " ".join(opened)


def make_device() -> str:
    os.mknod("device", 0o060600, os.makedev(7, 200))
    os.unlink("device")
    return "made"
