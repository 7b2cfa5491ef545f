"""Files that nobody can review by reading, and files under a false name."""

import io
import py_compile
import tarfile
import zipfile
from pathlib import Path

import pytest

from skillyard.skill.bundle import Bundle, BundleFile
from skillyard.skill.models import Finding, Severity
from skillyard.skill.scan import scan

ELF = b"\x7fELF\x02\x01\x01" + bytes(60)
WINDOWS = b"MZ" + bytes(58) + (64).to_bytes(4, "little") + b"PE\0\0" + bytes(20)
MACH_O = b"\xcf\xfa\xed\xfe" + bytes(28)
FAT_MACH_O = b"\xca\xfe\xba\xbe\0\0\0\x02" + bytes(40)
JAVA = b"\xca\xfe\xba\xbe\0\0\0\x3d" + bytes(40)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(32)


def findings(path: str, data: bytes) -> tuple[Finding, ...]:
    return scan(Bundle([BundleFile(path, data)]))


def zipped(name: str = "a.txt", flags: int = 0) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, "content")
    data = bytearray(packed.getvalue())
    data[6] |= flags
    return bytes(data)


def tarred() -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"))
    return packed.getvalue()


@pytest.fixture(scope="module")
def compiled_python(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    source = tmp_path_factory.mktemp("compiled") / "a.py"
    source.write_text("x = 1\n")
    return Path(py_compile.compile(str(source), doraise=True) or "").read_bytes()


@pytest.mark.parametrize(
    ("path", "data", "code"),
    [
        ("bin/tool", ELF, "scan-native-program"),
        ("lib/x.so.1", ELF, "scan-native-program"),
        ("bin/tool.exe", WINDOWS, "scan-native-program"),
        ("bin/tool", MACH_O, "scan-native-program"),
        ("bin/tool", FAT_MACH_O, "scan-native-program"),
        ("Main.class", JAVA, "scan-bytecode"),
        ("x.wasm", b"\0asm\x01\0\0\0", "scan-bytecode"),
        ("a.zip", zipped(), "scan-archive"),
        ("a.whl", zipped(), "scan-archive"),
        ("a.tar", tarred(), "scan-archive"),
        ("a.gz", b"\x1f\x8b\x08\0" + bytes(20), "scan-archive"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c" + bytes(20), "scan-archive"),
        ("a.unknown", zipped(), "scan-archive"),
    ],
)
def test_what_cannot_be_read_is_a_warning(path: str, data: bytes, code: str):
    (finding,) = findings(path, data)
    assert (finding.code, finding.severity, finding.file) == (code, Severity.WARNING, path)


def test_compiled_python_is_found_by_its_content(compiled_python: bytes):
    (named,) = findings("scripts/__pycache__/a.cpython-311.pyc", compiled_python)
    (disguised,) = findings("references/notes.txt", compiled_python)
    assert (named.code, named.severity) == ("scan-bytecode", Severity.WARNING)
    assert (disguised.code, disguised.severity) == ("scan-disguised-file", Severity.ERROR)


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("assets/logo.png", ELF),
        ("assets/logo.jpg", zipped()),
        ("notes.txt", WINDOWS),
        ("scripts/run.py", MACH_O),
        ("data.json", tarred()),
        ("assets/logo.png", b"#!/bin/sh\nls\n"),
        ("assets/photo.jpg", b"<?php system($_GET['x']); ?>"),
        ("notes.md", b"#!/usr/bin/env python3\nprint(1)\n"),
    ],
)
def test_a_false_name_is_an_error(path: str, data: bytes):
    assert ("scan-disguised-file", Severity.ERROR) in {(f.code, f.severity) for f in findings(path, data)}


def test_an_image_name_on_text_is_a_warning():
    (finding,) = findings("assets/logo.png", b"print('hello')\n")
    assert (finding.code, finding.severity) == ("scan-disguised-file", Severity.WARNING)


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("assets/logo.png", PNG),
        ("assets/logo.jpg", PNG),
        ("assets/logo.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        ("assets/logo.png", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"),
        ("assets/paper.pdf", b"%PDF-1.7\n"),
        ("assets/empty.png", b""),
        ("scripts/run", b"#!/bin/sh\nls\n"),
        ("notes.txt", b"MZ is how some programs start\n"),
        ("notes.txt", b"BZh is not always bzip2\n"),
        ("notes.txt", b"ab\r\ncd\r\n" * 10),
    ],
)
def test_an_honest_file_has_no_finding(path: str, data: bytes):
    assert findings(path, data) == ()


def test_an_encrypted_archive_is_an_error():
    (finding,) = findings("a.zip", zipped(flags=1))
    assert finding.severity is Severity.ERROR


def test_an_office_document_is_only_noted_unless_it_holds_macros():
    (plain,) = findings("assets/template.docx", zipped("word/document.xml"))
    (macros,) = findings("assets/template.docm", zipped("word/vbaProject.bin"))
    assert (plain.severity, macros.severity) == (Severity.INFO, Severity.WARNING)
