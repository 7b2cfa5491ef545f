import io
import stat
import tarfile
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InputError, LimitError
from skillyard.skill import archive as archive_module
from skillyard.skill.archive import pack, pack_flat, read_archive
from skillyard.skill.bundle import Bundle, BundleFile, bundle_of
from skillyard.skill.models import Severity

SKILL = BundleFile("SKILL.md", b"---\nname: x\ndescription: y\n---\n")
BUNDLE = Bundle(
    [
        SKILL,
        BundleFile("scripts/run.sh", b"#!/bin/sh\n", executable=True),
        BundleFile("evals/evals.json", b"{}"),
        BundleFile("assets/evals/keep", b"1"),
        BundleFile("assets/x.bin", bytes(range(256))),
        BundleFile("참고/한글.md", b""),
    ]
)


def codes(read):
    return [finding.code for finding in read.findings]


def zipped(files, **kwargs):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", **kwargs) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return target.getvalue()


def tarred(files, mode="w:gz", *, form=tarfile.PAX_FORMAT):
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode=mode, format=form) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return target.getvalue()


def test_packing_and_reading_gives_the_same_bundle_and_folder():
    read = read_archive(pack(BUNDLE, "my-skill"))
    assert read.bundle == BUNDLE
    assert read.bundle.digest == BUNDLE.digest
    assert read.folder == "my-skill"
    assert read.findings == ()


def test_the_same_content_gives_the_same_bytes_whatever_the_order():
    assert pack(BUNDLE, "x") == pack(Bundle(BUNDLE.files[::-1]), "x")
    assert pack(read_archive(pack(BUNDLE, "x")).bundle, "x") == pack(BUNDLE, "x")


def test_a_packed_skill_is_a_plain_zip_with_fixed_attributes():
    with zipfile.ZipFile(io.BytesIO(pack(BUNDLE, "my-skill"))) as archive:
        assert archive.testzip() is None
        entries = {entry.filename: entry for entry in archive.infolist()}
    assert list(entries) == [f"my-skill/{file.path}" for file in BUNDLE]
    assert {entry.date_time for entry in entries.values()} == {(1980, 1, 1, 0, 0, 0)}
    assert {entry.create_system for entry in entries.values()} == {3}
    assert stat.filemode(entries["my-skill/scripts/run.sh"].external_attr >> 16) == "-rwxr-xr-x"
    assert stat.filemode(entries["my-skill/SKILL.md"].external_attr >> 16) == "-rw-r--r--"


def test_slim_leaves_out_the_evals_at_the_top_only():
    read = read_archive(pack(BUNDLE, "x", slim=True))
    assert {file.path for file in BUNDLE} - {file.path for file in read.bundle} == {"evals/evals.json"}


def test_a_flat_archive_has_the_skill_file_at_its_top_and_the_same_digest():
    packed = pack_flat(BUNDLE)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert archive.namelist() == [file.path for file in BUNDLE]
    read = read_archive(packed, filename="my-skill.zip")
    assert read.bundle.digest == BUNDLE.digest
    assert read.folder == "my-skill"
    assert read.findings == ()
    assert pack_flat(Bundle(BUNDLE.files[::-1])) == packed
    assert read_archive(pack_flat(BUNDLE, slim=True)).bundle == read_archive(pack(BUNDLE, "x", slim=True)).bundle


@pytest.mark.parametrize("folder", ["", "..", "a/b", "/x", "nul", "a\n"])
def test_an_unsafe_folder_name_is_not_packed(folder):
    with pytest.raises(InputError, match="folder name"):
        pack(BUNDLE, folder)


def test_a_bundle_with_an_unsafe_path_is_not_packed():
    with pytest.raises(InputError):
        pack(Bundle([SKILL, BundleFile("../x", b"")]), "x")
    with pytest.raises(InputError):
        pack_flat(Bundle([SKILL, BundleFile("../x", b"")]))


def test_what_packs_too_well_is_stored_so_that_it_can_be_read_again():
    bundle = Bundle([SKILL, BundleFile("zeros", bytes(3_000_000))])
    packed = pack(bundle, "x")
    assert len(packed) > 3_000_000
    assert read_archive(packed).bundle == bundle


def test_an_archive_too_large_to_be_read_is_not_made(monkeypatch):
    monkeypatch.setattr(archive_module, "MAX_ARCHIVE_BYTES", 100)
    with pytest.raises(LimitError):
        pack(BUNDLE, "x")
    assert codes(read_archive(bytes(101))) == ["archive-size"]


@pytest.mark.parametrize("prefix", ["", "my-skill/", "./", "./my-skill/"])
@pytest.mark.parametrize(
    "packer",
    [
        zipped,
        lambda files: zipped(files, compression=zipfile.ZIP_DEFLATED),
        tarred,
        lambda files: tarred(files, "w"),
        lambda files: tarred(files, form=tarfile.GNU_FORMAT),
        lambda files: tarred(files, form=tarfile.USTAR_FORMAT),
    ],
    ids=["stored", "deflated", "tar.gz", "tar", "gnu", "ustar"],
)
def test_every_kind_of_archive_is_read_with_and_without_a_folder(packer, prefix):
    files = {"SKILL.md": SKILL.data, "a/가.bin": b"\0\xff", f"deep/{'n' * 90}/{'m' * 90}": b""}
    data = packer({prefix + name: content for name, content in files.items()})
    read = read_archive(data, filename="given.tar.gz")
    assert read.findings == ()
    assert read.bundle == Bundle(BundleFile(name, content) for name, content in files.items())
    assert read.folder == ("my-skill" if "my-skill" in prefix else "given")


@pytest.mark.parametrize(
    ("filename", "folder"),
    [
        ("a.skill", "a"),
        ("dir/a.ZIP", "a"),
        ("a.tar.gz", "a"),
        ("a.tgz", "a"),
        ("a.v2.tar", "a.v2"),
        ("C:\\x\\a.zip", "a"),
        ("", ""),
        ("..", ""),
        ("nul.zip", ""),
    ],
)
def test_without_a_folder_the_file_name_names_it_if_it_can(filename, folder):
    assert read_archive(zipped({"SKILL.md": b""}), filename=filename).folder == folder


def test_a_zip_streamed_to_a_pipe_is_read():
    class Pipe(io.RawIOBase):
        def __init__(self):
            self.data = bytearray()

        def writable(self):
            return True

        def write(self, chunk):
            self.data += chunk
            return len(chunk)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/SKILL.md", SKILL.data)
        with archive.open(zipfile.ZipInfo("x/a"), "w", force_zip64=True) as member:
            member.write(b"streamed")
    assert read_archive(bytes(pipe.data)).bundle == Bundle([SKILL, BundleFile("a", b"streamed")])


def test_utf8_names_are_read_though_the_packer_does_not_say_so():
    marked = zipped({"x/SKILL.md": b"", "x/한글.md": b""})
    unmarked = marked.replace(b"\x14\x00\x00\x08", b"\x14\x00\x00\x00")
    assert unmarked != marked
    assert read_archive(unmarked).bundle.get("한글.md") is not None


def test_litter_of_packers_is_left_out_and_does_not_hide_the_folder():
    files = {"x/SKILL.md": b"", "__MACOSX/x/._SKILL.md": b"1", "x/.DS_Store": b"1", "x/a/__pycache__/b.pyc": b"1"}
    for read in (read_archive(zipped(files)), read_archive(tarred(files))):
        assert read.bundle == Bundle([BundleFile("SKILL.md", b"")])
        assert read.folder == "x"
        assert codes(read) == ["left-out"]


def test_links_inside_left_out_folders_do_not_matter():
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("x/SKILL.md"))
        link = tarfile.TarInfo("x/node_modules/.bin/tool")
        link.type, link.linkname = tarfile.SYMTYPE, "../tool/run"
        archive.addfile(link)
    read = read_archive(target.getvalue())
    assert read.bundle == Bundle([BundleFile("SKILL.md", b"")])
    assert codes(read) == ["left-out"]


def test_a_lower_case_skill_file_is_renamed_on_the_way_in():
    read = read_archive(zipped({"x/skill.md": b"1"}))
    assert read.bundle == Bundle([BundleFile("SKILL.md", b"1")])
    assert [(finding.code, finding.severity) for finding in read.findings] == [("skill-file-renamed", Severity.WARNING)]


@pytest.mark.parametrize(
    ("names", "code", "said"),
    [
        (["a/SKILL.md", "b/SKILL.md"], "archive-layout", "'a', 'b'"),
        (["x/SKILL.md", "README.md"], "archive-layout", "'x'"),
        (["repo/skills/x/SKILL.md"], "archive-layout", "'repo/skills/x'"),
        (["x/README.md"], "skill-file-missing", "SKILL.md"),
    ],
)
def test_an_archive_without_one_skill_at_its_top_says_what_it_has(names, code, said):
    read = read_archive(zipped(dict.fromkeys(names, b"")))
    assert read.bundle is None
    assert read.findings[0].code == code
    assert said in read.findings[0].message


def test_a_skill_inside_a_skill_belongs_to_it():
    read = read_archive(zipped({"x/SKILL.md": b"", "x/examples/SKILL.md": b""}))
    assert {file.path for file in read.bundle} == {"SKILL.md", "examples/SKILL.md"}


paths = st.lists(st.text(st.sampled_from("abcDE.-_ é한"), min_size=1, max_size=8), min_size=1, max_size=4).map("/".join)


@given(st.dictionaries(paths, st.tuples(st.binary(max_size=200), st.booleans()), max_size=8), st.booleans())
def test_whatever_is_a_bundle_survives_packing(files, slim):
    made = bundle_of([SKILL, *(BundleFile(path, *rest) for path, rest in files.items())])
    if made.bundle is None:
        return
    read = read_archive(pack(made.bundle, "x", slim=slim))
    assert read.bundle.digest == made.bundle.digest
    assert read.folder == "x"
    assert read_archive(pack_flat(made.bundle, slim=slim)).bundle.digest == made.bundle.digest
