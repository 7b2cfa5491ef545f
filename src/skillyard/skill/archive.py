"""A skill as one file: packing `.skill` archives, reading them and other archives of the wild."""

import io
import zipfile
from typing import Final

from skillyard.errors import InputError, LimitError
from skillyard.skill.archive_intake import ArchiveRefusedError, Intake, ratio_limit, refused
from skillyard.skill.archive_tar import GZIP_MAGIC, is_tar, read_tar
from skillyard.skill.archive_zip import read_zip
from skillyard.skill.bundle import Bundle, BundleFile, BundleRead, bundle_of, require_safe
from skillyard.skill.bundle_rules import bundle_finding
from skillyard.skill.limits import MAX_ARCHIVE_BYTES, MIB, SKILL_FILE_NAMES
from skillyard.skill.models import Finding
from skillyard.skill.paths import is_safe_segment, printable

EVALS: Final = "evals/"

_ENDINGS: Final = (".skill", ".zip", ".tar.gz", ".tgz", ".tar")
_ZIP_MAGIC: Final = (b"PK\x03\x04", b"PK\x05\x06")
_OTHER_MAGIC: Final = {
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!": "rar",
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_LISTED_SKILLS: Final = 5
_TOO_LARGE: Final = f"The archive is larger than {MAX_ARCHIVE_BYTES // MIB} MiB."

_EARLIEST: Final = (1980, 1, 1, 0, 0, 0)
_UNIX: Final = 3
_PLAIN_MODE: Final = 0o100644
_EXECUTABLE_MODE: Final = 0o100755
_LEVEL: Final = 6


def pack(bundle: Bundle, folder: str, *, slim: bool = False) -> bytes:
    """The bundle as a `.skill` file, in a top folder of that name: the same content gives the same bytes.

    `slim` leaves out the evals, which an agent that uses the skill does not need; the digest is then another.
    """
    if not is_safe_segment(folder):
        raise InputError(
            f"The folder name '{printable(folder)}' cannot be the top of an archive.",
            hint="Use a name of letters, digits and hyphens.",
            details={"field": "folder", "value": printable(folder)},
        )
    return _packed(bundle, f"{folder}/", slim=slim)


def pack_flat(bundle: Bundle, *, slim: bool = False) -> bytes:
    """The bundle as a zip with `SKILL.md` at its top, as skills are served for discovery; else like `pack`."""
    return _packed(bundle, "", slim=slim)


def read_archive(data: bytes, *, filename: str = "") -> BundleRead:
    """Reads a skill from the bytes of a `.skill`, zip, tar or tar.gz file; never raises, whatever they are.

    The skill's files are at the top or in the only top folder. Without one, `filename` names the folder.
    """
    intake = Intake()
    try:
        _unpack(data, intake)
    except ArchiveRefusedError as refusal:
        intake.findings.append(refusal.finding)
        return BundleRead(bundle=None, folder=_stem(filename), findings=tuple(intake.findings))
    paths = [file.path for file in intake.files]
    wrapper = _wrapper(paths)
    return bundle_of(
        [file._replace(path=file.path.removeprefix(wrapper)) for file in intake.files],
        folder=wrapper.removesuffix("/") or _stem(filename),
        folders=[path.removeprefix(wrapper) for path in intake.folders if f"{path}/" != wrapper],
        left_out=[path.removeprefix(wrapper) for path in intake.left_out],
        findings=[*intake.findings, *_layout_findings(paths, wrapper)],
    )


def looks_like_archive(data: bytes) -> bool:
    """Whether the bytes are those of an archive, also of a kind that `read_archive` refuses by name."""
    return data.startswith((*_ZIP_MAGIC, GZIP_MAGIC, *_OTHER_MAGIC)) or is_tar(data)


def _unpack(data: bytes, intake: Intake) -> None:
    if len(data) > MAX_ARCHIVE_BYTES:
        raise refused("archive-size", _TOO_LARGE)
    if data.startswith(_ZIP_MAGIC):
        read_zip(data, intake)
    elif data.startswith(GZIP_MAGIC) or is_tar(data):
        read_tar(data, intake)
    else:
        kind = next((name for magic, name in _OTHER_MAGIC.items() if data.startswith(magic)), None)
        if kind is not None:
            raise refused("archive-unsupported", f"The archive is a {kind} file.")
        raise refused("archive-unknown", "The file is no archive." if data else "The file is empty.")


def _wrapper(paths: list[str]) -> str:
    """The one folder that everything is in, with its `/`; empty when the files are not in one."""
    top = paths[0].partition("/")[0] if paths else ""
    wrapper = f"{top}/"
    if not is_safe_segment(top) or not all(path.startswith(wrapper) for path in paths):
        return ""
    return wrapper


def _layout_findings(paths: list[str], wrapper: str) -> list[Finding]:
    folders = {path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] in SKILL_FILE_NAMES}
    if not folders or wrapper.removesuffix("/") in folders:
        return []
    listed = ", ".join(f"'{printable(folder)}'" for folder in sorted(folders)[:_LISTED_SKILLS])
    more = f" and {len(folders) - _LISTED_SKILLS} more" if len(folders) > _LISTED_SKILLS else ""
    message = f"The archive has no skill at its top; there is one in {listed}{more}."
    return [bundle_finding("archive-layout", message)]


def _stem(filename: str) -> str:
    name = filename.replace("\\", "/").rpartition("/")[2]
    ending = next((ending for ending in _ENDINGS if name.lower().endswith(ending)), "")
    stem = name[: len(name) - len(ending)]
    return stem if is_safe_segment(stem) else ""


def _packed(bundle: Bundle, prefix: str, *, slim: bool) -> bytes:
    require_safe(bundle)
    files = [file for file in bundle if not (slim and file.path.startswith(EVALS))]
    packed = _zipped(files, prefix, zipfile.ZIP_DEFLATED)
    if sum(len(file.data) for file in files) > ratio_limit(len(packed)):
        # So much repetition would be refused as a bomb by whoever reads it.
        packed = _zipped(files, prefix, zipfile.ZIP_STORED)
    if len(packed) > MAX_ARCHIVE_BYTES:
        raise LimitError(_TOO_LARGE, hint="Delete files the skill does not need.")
    return packed


def _zipped(files: list[BundleFile], prefix: str, method: int) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for file in files:
            entry = zipfile.ZipInfo(f"{prefix}{file.path}", date_time=_EARLIEST)
            entry.create_system = _UNIX
            entry.external_attr = (_EXECUTABLE_MODE if file.executable else _PLAIN_MODE) << 16
            archive.writestr(entry, file.data, compress_type=method, compresslevel=_LEVEL)
    return target.getvalue()
