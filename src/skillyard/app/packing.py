"""Skills as single files: loading from anywhere, packing, unpacking."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skillyard.app.validation import validate_path
from skillyard.errors import ConflictError, InputError, NotFoundError
from skillyard.files import replace_file
from skillyard.library.disk import read_folder, write_folder
from skillyard.library.regular import read_regular
from skillyard.skill.archive import pack, read_archive
from skillyard.skill.bundle import Bundle, BundleRead
from skillyard.skill.limits import MAX_ARCHIVE_BYTES, SKILL_FILE_NAMES
from skillyard.skill.models import Profile

ENDING: Final = ".skill"
_REPLACED: Final = (ENDING, ".zip")


@dataclass(frozen=True, kw_only=True, slots=True)
class Packed:
    """A packed skill: where it is, and what names its content and its bytes."""

    file: Path
    digest: str
    sha256: str
    files: int
    bytes: int


def load_skill(path: Path) -> BundleRead:
    """The files of a skill in a folder or an archive."""
    if path.is_dir():
        return read_folder(path)
    if path.name in SKILL_FILE_NAMES and path.exists():
        return read_folder(path.absolute().parent)
    if not path.exists():
        raise NotFoundError(
            f"There is no {str(path)!r}.",
            hint="Give a skill folder or an archive.",
            details={"path": str(path)},
        )
    return read_archive(read_regular(os.path.realpath(path), MAX_ARCHIVE_BYTES), filename=path.name)


def load_bundle(path: Path) -> tuple[str, Bundle]:
    """The id and the files of a skill, or an error that says everything that is wrong with them."""
    read = load_skill(path)
    return read.folder or path.stem, read.require()


def pack_folder(folder: Path, output: Path | None, *, slim: bool = False) -> Packed:
    """Pack a valid skill folder into one file, the same bytes for the same content."""
    report = validate_path(folder, Profile.STRICT)
    if not report.valid:
        raise InputError(
            f"{report.id} is not valid, so it is not packed.",
            hint=f"`skillyard validate {folder}` says what to change.",
            details={"findings": [finding.as_dict() for finding in report.findings]},
        )
    skill_id, bundle = load_bundle(folder)
    data = pack(bundle, skill_id, slim=slim)
    target = output or Path(f"{skill_id}{ENDING}")
    if target.is_dir():
        target /= f"{skill_id}{ENDING}"
    _write(target, data)
    # What others will unpack is what is reported.
    packed = read_archive(data).require()
    return Packed(
        file=target,
        digest=packed.digest,
        sha256=hashlib.sha256(data).hexdigest(),
        files=len(packed),
        bytes=len(data),
    )


def unpack_file(archive: Path, into: Path) -> tuple[Path, Bundle]:
    """Unpack a skill as a new folder in `into`, named as the archive names it."""
    skill_id, bundle = load_bundle(archive)
    target = into / skill_id
    write_folder(bundle, target)
    return target, bundle


def _write(target: Path, data: bytes) -> None:
    if target.exists() and target.suffix.lower() not in _REPLACED:
        raise ConflictError(
            f"{target} is there already and does not look like a packed skill.",
            hint=f"Choose a name that ends in {ENDING}.",
            details={"file": str(target)},
        )
    replace_file(target, data, mode=0o644)
