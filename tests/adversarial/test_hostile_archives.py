"""Archives made to harm whoever opens them: each is answered with a typed finding, quickly, in little memory."""

import gzip
import io
import stat
import struct
import tarfile
import time
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.skill.archive import pack, read_archive
from skillyard.skill.bundle import Bundle, BundleFile
from skillyard.skill.limits import MIB
from skillyard.skill.models import Severity, has_errors
from skillyard.skill.paths import collision_findings, path_findings

SKILL = b"---\nname: x\ndescription: y\n---\n"


def answer(data):
    """The codes of the errors, once it is sure that the answer came as promised."""
    started = time.process_time()
    read = read_archive(data, filename="x.skill")
    assert time.process_time() - started < 2
    assert (read.bundle is None) == has_errors(read.findings)
    for finding in read.findings:
        assert finding.message.isprintable()
        assert finding.fix
    if read.bundle is not None:
        assert not has_errors(collision_findings([file.path for file in read.bundle]))
        assert not any(has_errors(path_findings(file.path)) for file in read.bundle)
    return {finding.code for finding in read.findings if finding.severity is Severity.ERROR}


class Entry:
    """One zip entry, each of whose two descriptions can be made to lie."""

    def __init__(self, name, data=b"", *, body=None, central=(), local=(), **both):
        honest = {
            "extra": b"",
            "flags": 0,
            "method": 0,
            "crc": zlib.crc32(data),
            "size": len(data),
            "mode": 0o100644,
            **both,
        }
        if body is None:
            body = data if honest["method"] != 8 else zlib.compress(data, 9, wbits=-15)
        self.body = body
        honest |= {"packed": len(body), "name": name.encode() if isinstance(name, str) else name, **both}
        self.central = honest | dict(central)
        self.local = honest | dict(local)

    def local_bytes(self):
        said = self.local
        numbers = (20, said["flags"], said["method"], 0, 33, said["crc"], said["packed"], said["size"])
        return struct.pack("<4s5H3L2H", b"PK\3\4", *numbers, len(said["name"]), 0) + said["name"] + self.body

    def central_bytes(self, offset):
        said = self.central
        numbers = (788, 20, said["flags"], said["method"], 0, 33, said["crc"], said["packed"], said["size"])
        lengths = (len(said["name"]), len(said["extra"]), 0, 0, 0)
        head = struct.pack("<4s6H3L5H2L", b"PK\1\2", *numbers, *lengths, said["mode"] << 16, said.get("at", offset))
        return head + said["name"] + said["extra"]


def forged(*entries, count=None, before_end=b"", after=b"", end=None):
    entries = (Entry("x/SKILL.md", SKILL), *entries)
    body, directory = b"", b""
    for entry in entries:
        directory += entry.central_bytes(len(body))
        body += entry.local_bytes()
    count = len(entries) if count is None else count
    said = {"disk": 0, "here": count, "count": count, "size": len(directory), "start": len(body), **(end or {})}
    tail = struct.pack(
        "<4s4H2LH", b"PK\5\6", said["disk"], 0, said["here"], said["count"], said["size"], said["start"], 0
    )
    return body + directory + before_end + tail + after


def test_the_forger_makes_sound_archives_when_it_does_not_lie():
    data = forged(Entry("x/a", b"a" * 100, method=8), Entry("x/run", b"1", mode=0o100755))
    assert answer(data) == set()
    assert len(read_archive(data).bundle) == 3


ZIP_NAMES = {
    "/etc/cron.d/x": "path-absolute",
    "../../x": "path-escape",
    "x/../../y": "path-escape",
    "x/./y": "path-escape",
    "x/..": "path-escape",
    "././x": "path-escape",
    "x//y": "path-absolute",
    "x/y//z": "path-empty",
    "": "path-empty",
    "C:/x": "path-absolute",
    "x\\..\\..\\y": "path-backslash",
    "\\\\host\\share\\x": "path-absolute",
    "x/a\0.md": "path-hidden",
    "x/a\u202egpj.sh": "path-hidden",
    "x/a\u200b": "path-hidden",
    "x/\x1b]0;owned\x07": "path-hidden",
    "x/a\nb": "path-hidden",
    "x/nul": "path-reserved",
    "x/COM1.txt": "path-reserved",
    "x/a.": "path-edge",
    "x/a ": "path-edge",
    "x/．．/y": "path-escape",
    "x/a／b": "path-escape",
    "x/" + "a" * 256: "path-length",
    "x/" + "a/" * 40 + "b": "path-depth",
    "x/" + "a" * 60_000: "path-length",
    "x/skill.md": "path-collision",
    "x/SKILL.md": "path-collision",
    "X/SKILL.md": "path-collision",
    "x/SKILL.md/inner": "path-collision",
    "x/ſkill.md": "path-collision",
    "../.git/hooks/pre-commit": "path-escape",
}


@pytest.mark.parametrize(("name", "code"), ZIP_NAMES.items(), ids=map(str, range(len(ZIP_NAMES))))
def test_a_hostile_name_in_a_zip_is_refused(name, code):
    assert code in answer(forged(Entry(name, b"1")))


@pytest.mark.parametrize(
    ("name", "code"),
    [(name, code) for name, code in ZIP_NAMES.items() if name],
    ids=map(str, range(len(ZIP_NAMES) - 1)),
)
@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT], ids=["pax", "gnu"])
def test_a_hostile_name_in_a_tar_is_refused(name, code, form):
    assert code in answer(tarred(named(name), form=form))


def test_a_name_that_is_not_utf8_is_refused():
    assert "path-encoding" in answer(forged(Entry(b"x/\xb0\xa1.md", b"1")))
    assert "path-encoding" in answer(tarred(named("x/\udcb0\udca1.md"), form=tarfile.GNU_FORMAT))


def test_a_folder_entry_may_not_escape_or_replace_a_file():
    assert "path-escape" in answer(forged(Entry("../../x/", mode=0o40755)))
    assert "path-collision" in answer(forged(Entry("x/SKILL.md/", mode=0o40755)))
    assert "archive-forged" in answer(forged(Entry("x/a/", b"content", mode=0o40755)))


@pytest.mark.parametrize(
    ("mode", "code"),
    [
        (stat.S_IFLNK | 0o777, "link"),
        (stat.S_IFIFO | 0o644, "special-file"),
        (stat.S_IFCHR | 0o644, "special-file"),
        (stat.S_IFBLK | 0o644, "special-file"),
        (stat.S_IFSOCK | 0o644, "special-file"),
    ],
)
def test_links_and_special_files_in_a_zip_are_refused(mode, code):
    assert answer(forged(Entry("x/a", b"/etc/passwd", mode=mode))) == {code}


def deflated_zeros(size):
    packer = zlib.compressobj(9, wbits=-15)
    chunk = bytes(MIB)
    return b"".join(packer.compress(chunk) for _ in range(size // MIB)) + packer.flush()


BOMB = deflated_zeros(15 * MIB)

FORGED = {
    "encrypted": (lambda: forged(Entry("x/a", b"1", flags=1)), "archive-encrypted"),
    "encrypted in one description": (lambda: forged(Entry("x/a", b"1", central={"flags": 1})), "archive-forged"),
    "other name in the local header": (lambda: forged(Entry("x/a", b"1", local={"name": b"../a"})), "archive-forged"),
    "other method in the local header": (lambda: forged(Entry("x/a", b"1", local={"method": 8})), "archive-forged"),
    "other size in the local header": (lambda: forged(Entry("x/a", b"1", local={"size": 2})), "archive-forged"),
    "other checksum in the local header": (lambda: forged(Entry("x/a", b"1", local={"crc": 2})), "archive-forged"),
    "zip64 size in the local header that is not there": (
        lambda: forged(Entry("x/a", b"1", local={"size": 0xFFFFFFFF, "packed": 0xFFFFFFFF})),
        "archive-forged",
    ),
    "wrong checksum": (lambda: forged(Entry("x/a", b"1", crc=7)), "archive-damaged"),
    "larger than said": (
        lambda: forged(Entry("x/a", b"a" * 5000, method=8, size=10)),
        "archive-forged",
    ),
    "smaller than said": (
        lambda: forged(Entry("x/a", b"a", method=8, size=5000)),
        "archive-forged",
    ),
    "stored size differs": (lambda: forged(Entry("x/a", b"abc", size=2)), "archive-forged"),
    "not deflate at all": (lambda: forged(Entry("x/a", b"abc", method=8, body=b"\xff" * 50)), "archive-damaged"),
    "bytes after the deflated end": (
        lambda: forged(Entry("x/a", b"abc", method=8, body=zlib.compress(b"abc", wbits=-15) + b"more")),
        "archive-forged",
    ),
    "claims the central directory": (
        lambda: forged(Entry("x/a", b"1", packed=60, size=60)),
        "archive-forged",
    ),
    "claims gigabytes": (
        lambda: forged(Entry("x/a", packed=4_000_000_000, size=1)),
        "archive-forged",
    ),
    "declares a huge file": (
        lambda: forged(Entry("x/a", b"1", method=8, size=0xFFFFFFFE)),
        "bundle-file-size",
    ),
    "two entries on the same bytes": (
        lambda: forged(Entry("x/SKILL.md", SKILL, central={"at": 0}), Entry("x/b")),
        "archive-forged",
    ),
    "offset past the end": (lambda: forged(Entry("x/a", b"1", central={"at": 0xFFFFFFF0})), "archive-forged"),
    "offset into other data": (lambda: forged(Entry("x/a", b"1", central={"at": 5})), "archive-forged"),
    "counts fewer entries": (lambda: forged(Entry("x/a", b"1"), count=1), "archive-forged"),
    "counts more entries": (lambda: forged(count=2), "archive-damaged"),
    "counts 65535 entries": (lambda: forged(count=0xFFFF), "archive-damaged"),
    "several volumes": (lambda: forged(end={"disk": 1}), "archive-unsupported"),
    "directory elsewhere": (lambda: forged(end={"start": 0}), "archive-forged"),
    "directory past the end": (lambda: forged(end={"start": 0xFFFFFFFF}), "archive-forged"),
    "zip64": (lambda: forged(before_end=b"PK\x06\x07" + bytes(16)), "archive-unsupported"),
    "bytes before the end record": (lambda: forged(before_end=b"hidden"), "archive-forged"),
    "bytes after the end": (lambda: forged(after=b"hidden"), "archive-forged"),
    "a second archive after the first": (lambda: forged() + forged(Entry("x/evil")), "archive-forged"),
    "unknown compression": (lambda: forged(Entry("x/a", b"1", method=14)), "archive-unsupported"),
    "second name": (
        lambda: forged(Entry("x/a", b"1", extra=struct.pack("<2HBL", 0x7075, 9, 1, zlib.crc32(b"x/a")) + b"../b")),
        "archive-forged",
    ),
    "bomb": (
        lambda: forged(Entry("x/a", body=BOMB, method=8, size=15 * MIB)),
        "archive-ratio",
    ),
    "bomb that says it is small": (
        lambda: forged(Entry("x/a", body=BOMB, method=8, size=10)),
        "archive-forged",
    ),
    "many bombs": (
        lambda: forged(*(Entry(f"x/{n}", body=BOMB, method=8, size=15 * MIB) for n in range(9))),
        "bundle-size",
    ),
    "padded list of entries": (
        lambda: forged(*(Entry(f"x/{n}", b"1", extra=struct.pack("<2H", 0xCAFE, 0) * 15_000) for n in range(80))),
        "archive-forged",
    ),
    "too many entries": (lambda: forged(*(Entry(f"x/{n}.pyc") for n in range(20_001))), "archive-entries"),
}


@pytest.mark.parametrize(("make", "code"), FORGED.values(), ids=FORGED)
def test_a_forged_zip_is_refused(make, code):
    assert code in answer(make())


def test_more_entries_than_a_skill_can_have_are_not_even_looked_at():
    assert answer(forged(*(Entry(f"x/{n}.") for n in range(2001)))) == {"bundle-files"}
    assert answer(forged(*(Entry(f"x/{n}./", mode=0o40755) for n in range(2001)))) == {"archive-entries"}
    links = forged(*(Entry(f"x/{n}", mode=0o120777) for n in range(2001)))
    assert answer(links) == {"link"}
    assert len(read_archive(links).findings) < 200


@pytest.mark.parametrize(
    ("top", "code"),
    [
        ("..", "path-escape"),
        ("", "path-absolute"),
        ("C:", "path-absolute"),
        ("nul", "path-reserved"),
        ("x\u202e", "path-hidden"),
        ("x.", "path-edge"),
    ],
)
def test_an_unsafe_folder_around_the_whole_skill_is_not_taken_off(top, code):
    name = f"{top}/SKILL.md".encode()
    body = Entry(name, SKILL).local_bytes()
    directory = Entry(name, SKILL).central_bytes(0)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(directory), len(body), 0)
    assert code in answer(body + directory + end)
    assert code in answer(block(name, size=b"%011o" % len(SKILL)) + padded(SKILL) + END)


def test_overlapping_entries_that_quote_each_other_are_refused():
    """Each entry's stored bytes are the headers of the next, down to one bomb that all of them share."""
    inner = Entry("x/z", b"a" * 1000, method=8)
    body = inner.local_bytes()
    directory = [(inner, 0)]
    for name in "yxwv":
        outer = Entry(f"x/{name}", body, body=b"")
        outer.local["packed"] = outer.central["packed"] = len(body)
        head = outer.local_bytes()
        directory = [(outer, 0), *((entry, at + len(head)) for entry, at in directory)]
        body = head + body
    central = b"".join(entry.central_bytes(at) for entry, at in directory)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 5, 5, len(central), len(body), 0)
    assert answer(body + central + end) == {"archive-forged"}


def test_an_archive_in_an_archive_is_just_a_file():
    inner = forged(Entry("x/a", body=BOMB, method=8, size=30 * MIB))
    assert answer(forged(Entry("x/inner.zip", inner))) == set()


def named(name, **fields):
    info = tarfile.TarInfo(name)
    for field, value in fields.items():
        setattr(info, field, value)
    return info


def tarred(*infos, form=tarfile.PAX_FORMAT):
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=form) as archive:
        archive.addfile(named("x/SKILL.md", size=len(SKILL)), io.BytesIO(SKILL))
        for info in infos:
            archive.addfile(info, io.BytesIO(bytes(info.size)))
    return target.getvalue()


def block(name=b"x/a", *, size=b"00000000000", kind=b"0", mode=b"0000644"):
    head = bytearray(512)
    head[: len(name)] = name
    head[100 : 100 + len(mode)] = mode
    head[124 : 124 + len(size)] = size
    head[156:157] = kind
    head[257:265] = b"ustar\00000"
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head)


def padded(data):
    return data + bytes(-len(data) % 512)


def extension(kind, payload):
    return block(b"ext", size=b"%011o" % len(payload), kind=kind) + padded(payload)


def pax(key, value):
    body = b" %s=%s\n" % (key, value)
    length = len(body) + len(str(len(body) + 3))
    while len(str(length)) + len(body) != length:
        length = len(str(length)) + len(body)
    return b"%d%s" % (length, body)


START = block(b"x/SKILL.md", size=b"%011o" % len(SKILL)) + padded(SKILL)
END = bytes(1024)

TARS = {
    "symbolic link": (lambda: START + block(kind=b"2") + END, "link"),
    "hard link": (lambda: START + block(kind=b"1") + END, "link"),
    "character device": (lambda: START + block(kind=b"3") + END, "special-file"),
    "block device": (lambda: START + block(kind=b"4") + END, "special-file"),
    "pipe": (lambda: START + block(kind=b"6") + END, "special-file"),
    "unknown kind": (lambda: START + block(kind=b"Z") + END, "archive-unsupported"),
    "sparse file": (lambda: START + block(kind=b"S") + END, "archive-unsupported"),
    "sparse file in pax form": (
        lambda: START + extension(b"x", pax(b"GNU.sparse.major", b"1")) + END,
        "archive-unsupported",
    ),
    "huge size": (lambda: START + block(size=b"77777777777") + END, "bundle-file-size"),
    "size in base 256": (lambda: START + block(size=b"\x80" + b"\xff" * 11) + END, "bundle-file-size"),
    "negative size": (lambda: START + block(size=b"\xff" * 12) + END, "archive-damaged"),
    "size with a sign": (lambda: START + block(size=b"-0000000001") + END, "archive-damaged"),
    "size with an underscore": (lambda: START + block(size=b"0000_000001") + END, "archive-damaged"),
    "size past the end": (lambda: START + block(size=b"00000100000") + END, "archive-damaged"),
    "folder with content": (lambda: START + block(b"x/d/", size=b"00000000005", kind=b"5") + END, "archive-forged"),
    "wrong checksum": (lambda: START + block().replace(b"x/a", b"x/b") + END, "archive-damaged"),
    "no end": (lambda: START, "archive-damaged"),
    "cut in a header": (lambda: START + block()[:100], "archive-damaged"),
    "bytes after the end": (lambda: START + END + b"hidden", "archive-forged"),
    "second archive after the end": (lambda: START + END + START + END, "archive-forged"),
    "path of all entries": (lambda: START + extension(b"g", pax(b"path", b"../x")) + END, "archive-forged"),
    "size of all entries": (lambda: START + extension(b"g", pax(b"size", b"9")) + END, "archive-forged"),
    "escape by pax path": (lambda: START + extension(b"x", pax(b"path", b"../x")) + block() + END, "path-escape"),
    "NUL in a pax path": (lambda: START + extension(b"x", pax(b"path", b"x/a\0b")) + block() + END, "path-hidden"),
    "escape by long name": (lambda: START + extension(b"L", b"/etc/x\0") + block() + END, "path-absolute"),
    "huge pax size": (lambda: START + extension(b"x", pax(b"size", b"9" * 18)) + block() + END, "bundle-file-size"),
    "absurd pax size": (lambda: START + extension(b"x", pax(b"size", b"9" * 5000)) + block() + END, "archive-damaged"),
    "negative pax size": (lambda: START + extension(b"x", pax(b"size", b"-1")) + block() + END, "archive-damaged"),
    "pax record past the end": (lambda: START + extension(b"x", b"999 path=a\n") + block() + END, "archive-damaged"),
    "pax record of no length": (lambda: START + extension(b"x", b"0 path=a\n") + block() + END, "archive-damaged"),
    "pax record of no length after another": (
        lambda: START + extension(b"x", pax(b"a", b"b") + b"0 a=b\n") + block() + END,
        "archive-damaged",
    ),
    "pax record without a key": (lambda: START + extension(b"x", b"5 =a\n") + block() + END, "archive-damaged"),
    "huge extension": (lambda: START + block(size=b"00077777777", kind=b"x") + END, "archive-forged"),
    "long name of a megabyte": (lambda: START + extension(b"L", b"a" * MIB) + block() + END, "archive-forged"),
    "too many entries": (lambda: START + block(b"x/a.pyc") * 20_001 + END, "archive-entries"),
    "megabytes of attributes": (lambda: START + extension(b"x", b"5 a=\n" * 12_000) * 100 + END, "archive-forged"),
    "too many files": (lambda: START + b"".join(block(b"x/%d" % n) for n in range(2001)) + END, "bundle-files"),
    "same name twice": (lambda: START + START + END, "path-collision"),
}


@pytest.mark.parametrize("packer", [bytes, lambda data: gzip.compress(data, 1)], ids=["plain", "gzip"])
@pytest.mark.parametrize(("make", "code"), TARS.values(), ids=TARS)
def test_a_hostile_tar_is_refused(make, code, packer):
    codes = answer(packer(make()))
    # Some of these repeat themselves so much that gzip's own bound is met first.
    assert code in codes or (packer is not bytes and codes == {"archive-ratio"})


GZIPS = {
    "cut off": (lambda: gzip.compress(START + END)[:-9], "archive-damaged"),
    "without its checksum": (lambda: gzip.compress(START + END)[:-4], "archive-damaged"),
    "wrong checksum": (lambda: gzip.compress(START + END)[:-8] + bytes(8), "archive-damaged"),
    "header only": (lambda: b"\x1f\x8b", "archive-damaged"),
    "bytes after the end": (lambda: gzip.compress(START + END) + b"hidden", "archive-forged"),
    "two streams": (lambda: gzip.compress(START + END) + gzip.compress(END), "archive-forged"),
    "millions of empty streams": (lambda: gzip.compress(START + END) + gzip.compress(b"") * 500_000, "archive-forged"),
    "thousands of long names": (
        lambda: gzip.compress(START + extension(b"L", b"x/a\0") * 30_000 + END, 1),
        "archive-entries",
    ),
    "bomb": (lambda: gzip.compress(bytes(100 * MIB), 9), "archive-ratio"),
    "bomb in a file": (
        lambda: gzip.compress(START + block(size=b"%011o" % (15 * MIB)) + bytes(15 * MIB) + END, 9),
        "archive-ratio",
    ),
    "bomb in a left-out file": (
        lambda: gzip.compress(START + block(b"x/a.pyc", size=b"77777777777") + bytes(100 * MIB), 9),
        "archive-ratio",
    ),
    "bomb after the end": (lambda: gzip.compress(START + bytes(100 * MIB), 9), "archive-ratio"),
    "no tar inside": (lambda: gzip.compress(SKILL * 50), "archive-damaged"),
}


@pytest.mark.parametrize(("make", "code"), GZIPS.values(), ids=GZIPS)
def test_a_hostile_gzip_is_refused(make, code):
    assert answer(make()) == {code}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "archive-unknown"),
        (SKILL, "archive-unknown"),
        (b"PK", "archive-unknown"),
        (b"PK\3\4", "archive-damaged"),
        (b"PK\5\6" + bytes(18), "skill-file-missing"),
        (bytes(2048), "archive-unknown"),
        (b"#!/bin/sh\n" + forged(), "archive-unknown"),
        (b"7z\xbc\xaf\x27\x1c" + bytes(100), "archive-unsupported"),
        (b"Rar!\x1a\x07", "archive-unsupported"),
        (b"BZh9", "archive-unsupported"),
        (b"\xfd7zXZ\0", "archive-unsupported"),
        (b"\x28\xb5\x2f\xfd", "archive-unsupported"),
    ],
)
def test_what_is_no_archive_is_told_so(data, code):
    assert answer(data) == {code}


@pytest.mark.parametrize(
    "make",
    [
        FORGED["bomb that says it is small"][0],
        FORGED["many bombs"][0],
        FORGED["declares a huge file"][0],
        TARS["size in base 256"][0],
        GZIPS["bomb"][0],
        GZIPS["bomb in a left-out file"][0],
    ],
    ids=["small bomb", "many bombs", "huge file", "huge tar", "gzip", "left out"],
)
def test_a_lying_header_allocates_next_to_nothing(make):
    data = make()
    tracemalloc.start()
    try:
        read_archive(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * MIB


SOUND = pack(
    Bundle(
        [
            BundleFile("SKILL.md", SKILL),
            BundleFile("scripts/run.sh", b"#!/bin/sh\necho hi\n" * 20, executable=True),
            BundleFile("참고/a.md", b"text"),
        ]
    ),
    "x",
)
SOUND_TAR = START + block(b"x/run", size=b"00000000005", mode=b"0000755") + padded(b"12345") + END
SOUND_ARCHIVES = st.sampled_from([SOUND, SOUND_TAR, gzip.compress(SOUND_TAR, mtime=0)])


@given(st.binary(max_size=2000))
def test_any_bytes_are_answered(data):
    answer(data)


@given(st.sampled_from([b"PK\3\4", b"PK\5\6", b"\x1f\x8b\x08\0", b"PK\1\2"]), st.binary(max_size=2000))
def test_any_bytes_after_a_magic_number_are_answered(magic, data):
    answer(magic + data)


@given(SOUND_ARCHIVES, st.data())
def test_a_cut_archive_is_never_taken_for_a_whole_one(archive, data):
    cut = data.draw(st.integers(0, len(archive) - 1))
    read = read_archive(archive[:cut])
    assert read.bundle is None or read.bundle == read_archive(archive).bundle
    answer(archive[:cut])


@given(SOUND_ARCHIVES, st.data())
def test_a_flipped_bit_never_yields_an_unsafe_path(archive, data):
    changed = bytearray(archive)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    answer(bytes(changed))


@given(st.lists(st.tuples(st.sampled_from(list(b"0125LKxg7\0")), st.binary(max_size=120)), max_size=6))
def test_any_chain_of_tar_headers_is_answered(headers):
    answer(START + b"".join(extension(bytes([kind]), payload) for kind, payload in headers) + END)
