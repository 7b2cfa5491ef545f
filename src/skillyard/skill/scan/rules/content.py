"""Files that are not what a reviewer can read: bytecode, programs, archives, and files under a false name."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from skillyard.skill.models import Severity
from skillyard.skill.scan.page import Page
from skillyard.skill.scan.rule import Hit, Rule
from skillyard.skill.scan.rules.magic import LOCKED_ZIP, Family, Kind, kind_of

BYTECODE: Final = Rule(
    code="scan-bytecode",
    looks_for="Compiled Python, Java, WebAssembly, Android or Lua code, whatever the file is called.",
    why="It runs and cannot be read; compiled Python is even preferred to the source beside it.",
    fix="Ship the source only and delete `__pycache__`.",
)
PROGRAM: Final = Rule(
    code="scan-native-program",
    looks_for="Native programs and libraries (ELF, Mach-O, Windows), whatever the file is called.",
    why="It runs with the user's rights and cannot be reviewed.",
    fix="Ship the source, or name the package it comes from.",
)
ARCHIVE: Final = Rule(
    code="scan-archive",
    looks_for="Archives and compressed files inside the bundle, whatever they are called; office documents are "
    "archives too and only noted, unless they hold macros.",
    why="What is packed inside is not scanned.",
    fix="Put the files into the bundle unpacked.",
)
DISGUISE: Final = Rule(
    code="scan-disguised-file",
    looks_for="A script, program or archive under the name of an image, a document or another harmless kind.",
    why="A false name keeps reviewers and tools from looking inside.",
    fix="Name the file for what it is, or remove it.",
)
RULES: Final = (BYTECODE, PROGRAM, ARCHIVE, DISGUISE)

_BY_FAMILY: Final = {Family.BYTECODE: BYTECODE, Family.PROGRAM: PROGRAM, Family.ARCHIVE: ARCHIVE}
_PACKED_DOCUMENTS: Final = frozenset(
    {".docx", ".dotx", ".docm", ".xlsx", ".xltx", ".xlsm", ".pptx", ".potx", ".pptm", ".odt", ".ods", ".odp"}
    | {".epub", ".vsdx", ".sketch", ".fig", ".key", ".pages", ".numbers", ".kmz", ".npz", ".pt", ".pth", ".keras"}
)
_IMAGE_STARTS: Final = (b"\x89PNG", b"\xff\xd8", b"GIF8", b"RIFF", b"<svg", b"<?xml", b"BM", b"\0\0\1\0")
"""One kind of image under another's name is a slip, not a disguise."""
_STARTS: Final = {
    ".png": _IMAGE_STARTS,
    ".jpg": _IMAGE_STARTS,
    ".jpeg": _IMAGE_STARTS,
    ".gif": _IMAGE_STARTS,
    ".webp": _IMAGE_STARTS,
    ".pdf": (b"%PDF",),
    ".woff": (b"wOFF",),
    ".woff2": (b"wOF2",),
}
_READABLE: Final = frozenset(
    {".md", ".txt", ".csv", ".json", ".yaml", ".yml", ".toml", ".xml", ".html", ".css", ".log"}
)
_SOURCES: Final = frozenset({".py", ".js", ".mjs", ".ts", ".sh", ".rb", ".pl", ".ps1", ".bat"})
_MEDIA: Final = frozenset({*_STARTS, ".svg", ".ico", ".bmp", ".ttf", ".otf", ".mp3", ".mp4", ".wav"})
_SCRIPT_STARTS: Final = (b"#!/", b"<?php", b"@echo off")
_LARGE_FILE_POINTER: Final = b"version https://git-lfs"


def find(page: Page) -> Iterator[Hit]:
    suffix = PurePosixPath(page.path).suffix.lower()
    kind = kind_of(page.data)
    if kind is not None:
        yield _unreadable(kind, suffix, page.data)
    elif suffix in _READABLE | _MEDIA and page.data[:64].lstrip().lower().startswith(_SCRIPT_STARTS):
        yield _hit(DISGUISE, Severity.ERROR, f"A script is named `{suffix}`")
    elif _is_misnamed(suffix, page.data):
        yield _hit(DISGUISE, Severity.WARNING, f"A file named `{suffix}` does not hold what its name says")


def _unreadable(kind: Kind, suffix: str, data: bytes) -> Hit:
    rule = _BY_FAMILY[kind.family]
    if suffix in _READABLE | _MEDIA | _SOURCES:
        return _hit(DISGUISE, Severity.ERROR, f"There is {kind.name} under the name `{suffix}`")
    if kind == LOCKED_ZIP:
        return _hit(rule, Severity.ERROR, f"There is {kind.name} in the bundle")
    if rule is ARCHIVE and suffix in _PACKED_DOCUMENTS:
        if b"vbaProject.bin" in data:
            return _hit(rule, Severity.WARNING, "A document holds macros, which are programs")
        return _hit(rule, Severity.INFO, "A document is a packed file")
    return _hit(rule, Severity.WARNING, f"There is {kind.name} in the bundle")


def _is_misnamed(suffix: str, data: bytes) -> bool:
    starts = _STARTS.get(suffix)
    if starts is None or not data or data.startswith(_LARGE_FILE_POINTER):
        return False
    return not data[:64].lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(starts)


def _hit(rule: Rule, severity: Severity, says: str) -> Hit:
    return Hit(rule=rule, severity=severity, position=0, says=says)
