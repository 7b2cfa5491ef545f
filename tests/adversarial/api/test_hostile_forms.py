"""Archives and forms that are sent to do harm: refused with a code of ours, and nothing of them is kept."""

import base64
import gzip
import io
import struct
import tarfile
import zipfile

import pytest

MIB = 1024 * 1024
SKILL_MD = b"---\nname: sent\ndescription: Was sent.\n---\n# Sent\n"


def form(*parts, boundary=b"b"):
    """A form as it goes over the wire: (name, file name or None, bytes)."""
    lines = []
    for name, filename, data in parts:
        disposition = f'form-data; name="{name}"' + (f'; filename="{filename}"' if filename is not None else "")
        lines += [b"--" + boundary, b"Content-Disposition: " + disposition.encode(), b"", data]
    return b"\r\n".join([*lines, b"--" + boundary + b"--", b""])


def zipped(files=None, *, skill_md=SKILL_MD):
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("sent/SKILL.md", skill_md)
        for path, data in (files or {}).items():
            packed.writestr(path, data)
    return written.getvalue()


def tarred(*members, mode="w:gz"):
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode=mode) as packed:
        entry = tarfile.TarInfo("sent/SKILL.md")
        entry.size = len(SKILL_MD)
        packed.addfile(entry, io.BytesIO(SKILL_MD))
        for name, kind, target in members:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, target
            packed.addfile(entry)
    return written.getvalue()


def linked():
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as packed:
        packed.writestr("sent/SKILL.md", SKILL_MD)
        entry = zipfile.ZipInfo("sent/link")
        entry.external_attr = 0o120777 << 16
        packed.writestr(entry, "/etc/passwd")
    return written.getvalue()


def lying():
    """A zip whose file says it is small."""
    data = zipped({"sent/bomb": b"\0" * (8 * MIB)})
    return data.replace(struct.pack("<L", 8 * MIB), struct.pack("<L", 10))


ARCHIVES = {
    "nothing": b"",
    "noise": bytes(range(256)) * 8,
    "half a zip": zipped()[:60],
    "a zip without a skill": zipped().replace(b"SKILL.md", b"OTHER.md"),
    "two skills": zipped({"other/SKILL.md": SKILL_MD}),
    "a path that climbs": zipped({"sent/../../x": b"x"}),
    "an absolute path": zipped({"/etc/cron.d/x": b"x"}),
    "a backslash": zipped({"sent\\..\\x": b"x"}),
    "a zip with a link": linked(),
    "names that are one": zipped({"sent/a.md": b"1", "sent/A.md": b"2"}),
    "names of two forms": zipped({"sent/é.md": b"1", "sent/e\u0301.md": b"2"}),
    "2,001 files": zipped({f"sent/{n}": b"" for n in range(2001)}),
    "a bomb": zipped({"sent/bomb": b"\0" * (64 * MIB)}),
    "a bomb in many files": zipped({f"sent/{n}": b"\0" * MIB for n in range(40)}),
    "a file that lies about its size": lying(),
    "a tar with a link": tarred(("sent/l", tarfile.SYMTYPE, "../../etc")),
    "a tar with a hard link": tarred(("sent/l", tarfile.LNKTYPE, "/etc/passwd")),
    "a tar with a device": tarred(("sent/dev", tarfile.CHRTYPE, "")),
    "a tar with a pipe": tarred(("sent/pipe", tarfile.FIFOTYPE, "")),
    "a tar that climbs": tarred(("../x", tarfile.REGTYPE, "")),
    "half a tar": tarred()[:-30],
    "a gzip of a gzip": gzip.compress(tarred()),
    "a gzip bomb": gzip.compress(b"\0" * (64 * MIB)),
    "a zip in base64": base64.b64encode(zipped()),
    "a SKILL.md alone": SKILL_MD,
    "a SKILL.md that is no text": zipped(skill_md=b"\xff" * 100),
    "a SKILL.md that says nothing": zipped(skill_md=b"# Sent\n"),
    "a SKILL.md of 2 MiB": zipped(skill_md=SKILL_MD + b"x" * 2 * MIB),
    "a name that misleads": zipped().replace(b"sent/", b"s\x1bnt/"),
    "18 MiB and a byte": b"PK\3\4" + b"\0" * (18 * MIB - 3),
}


@pytest.mark.parametrize("what", ARCHIVES)
@pytest.mark.parametrize("publish", ["false", "true"])
def test_an_archive_that_means_harm_is_refused(refused, what, publish):
    sent = {"files": {"file": ("it.skill", ARCHIVES[what])}, "data": {"publish": publish}}
    refused("POST", "skills/import", 422, 413, **sent)


FORMS = {
    "no file": form(("publish", None, b"true")),
    "a file that is a field": form(("file", None, zipped())),
    "a field that is a file": form(("file", "a.skill", zipped()), ("namespace", "olga", b"olga")),
    "no end": form(("file", "a.skill", zipped()))[:-4],
    "no parts": b"--b--\r\n",
    "another boundary": form(("file", "a.skill", zipped()), boundary=b"other"),
    "2,000 fields": form(*((f"f{n}", None, b"") for n in range(2000)), ("file", "a.skill", zipped())),
    "2,000 files": form(*((f"f{n}", "a", b"") for n in range(2000)), ("file", "a.skill", zipped())),
    "a long field": form(("file", "a.skill", zipped()), ("notes", None, b"x" * (2 * MIB))),
    "a field that is no text": form(("file", "a.skill", zipped()), ("namespace", None, b"\xff\xfe")),
    "a zero byte": form(("file", "a.skill", zipped()), ("notes", None, b"a\0b")),
    "a version of zero bytes": form(
        ("file", "a.skill", zipped()), ("publish", None, b"true"), ("version", None, b"\0")
    ),
    "a version that climbs": form(
        ("file", "a.skill", zipped()), ("publish", None, b"true"), ("version", None, b"../1")
    ),
    "a version without publishing": form(("file", "a.skill", zipped()), ("version", None, b"1.0.0")),
    "a base that is none": form(("file", "a.skill", zipped()), ("base", None, b"x")),
    "another namespace": form(("file", "a.skill", zipped()), ("namespace", None, b"../../etc")),
    "long headers": b"--b\r\nContent-Disposition: form-data; name=" + b"a" * 100_000 + b"\r\n\r\nx\r\n--b--\r\n",
    "many headers": b"--b\r\n" + b"X-A: b\r\n" * 5000 + b"\r\nx\r\n--b--\r\n",
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # half a form leaves its file to Python
@pytest.mark.parametrize("what", FORMS)
def test_a_form_that_is_none_is_refused(refused, what):
    refused(
        "POST", "skills/import", raw_body=[FORMS[what]], headers={"Content-Type": "multipart/form-data; boundary=b"}
    )


@pytest.mark.parametrize("kind", ["multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed"])
def test_a_form_without_a_boundary_is_refused(refused, kind):
    body = form(("file", "a.skill", zipped()))
    refused("POST", "skills/import", 400, 422, raw_body=[body], headers={"Content-Type": kind})


@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data; boundary=b"])
def test_a_client_that_goes_away_in_the_middle_leaves_nothing(refused, yard, kind):
    before = yard.served.state()
    start = form(("file", "it.skill", zipped()))[:200] if "form" in kind else b'{"name": "sent", '
    answer = yard.ask("owner", "POST", "skills/import", raw_body=[start, None], headers={"Content-Type": kind})
    assert answer is None or answer.status_code >= 400
    assert yard.served.state() == before
