"""Skills as single files: packing and unpacking."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skillyard.app.loading import load_bundle, load_skill, require_there, skill_folder
from skillyard.app.validation import report_on
from skillyard.command_text import command_text
from skillyard.config.paths import is_inside
from skillyard.errors import ConflictError, InputError, SkillyardError, UsageError
from skillyard.files import replace_file
from skillyard.library.disk import write_folder
from skillyard.skill.archive import EVALS, pack, read_archive
from skillyard.skill.bundle import Bundle
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


def pack_folder(folder: Path, output: str | None, *, slim: bool) -> Packed:
    """Pack a valid skill folder into one file, the same bytes for the same content.

    `output` is the file, or a folder for it: one that is there, or, with a slash at the end, one to be made.
    """
    require_there(folder)
    read = load_skill(folder)
    report = report_on(folder, read, Profile.AGENTS, references=False)
    if not report.valid:
        raise InputError(
            f"{report.id} is not valid, so it is not packed.",
            hint=f"`{command_text('validate', str(folder))}` says what to change.",
            details={"findings": [finding.as_dict() for finding in report.findings]},
        )
    target = _target(folder, output, f"{report.id}{ENDING}")
    bundle = read.require()
    data = pack(bundle, report.id, slim=slim)
    packed = _read_back(data, Bundle(file for file in bundle if not (slim and file.path.startswith(EVALS))))
    _write(target, data)
    return Packed(
        file=target,
        digest=packed.digest,
        sha256=hashlib.sha256(data).hexdigest(),
        files=len(packed),
        bytes=len(data),
    )


def unpack_file(archive: Path, into: Path) -> tuple[Path, Bundle]:
    """Unpack a skill as a new folder in `into`, named as the archive names it."""
    if archive.is_dir():
        raise UsageError(
            f"{archive} is a folder, not an archive.",
            hint="Give a .skill, .zip, .tar.gz or .tar file.",
            details={"path": str(archive)},
        )
    skill_id, bundle = load_bundle(archive)
    target = into / skill_id
    write_folder(bundle, target)
    return target, bundle


def _target(path: Path, output: str | None, name: str) -> Path:
    """Where the file goes: never into the skill, of which it would then be a part."""
    folder = skill_folder(path)
    into = output is not None and (output.endswith("/") or Path(output).is_dir())
    target = Path(output or "") / name if into or output is None else Path(output)
    if folder is None or not is_inside(folder, target):
        return target
    beside = Path(os.path.abspath(folder)).parent / name  # noqa: PTH100 -- resolving would follow links
    if output is None:
        return beside
    raise UsageError(
        f"{target} is inside the skill, so it would be packed the next time.",
        hint=f"Choose a place outside it: -o {beside}",
        details={"file": str(target)},
    )


def _read_back(data: bytes, expected: Bundle) -> Bundle:
    """The bundle as others will unpack it. What differs from the skill must not leave this machine."""
    packed = read_archive(data).require()
    if packed != expected:
        raise SkillyardError("The packed skill is not the skill.", hint="This is our mistake; please report it.")
    return packed


def _write(target: Path, data: bytes) -> None:
    if target.exists() and target.suffix.lower() not in _REPLACED:
        raise ConflictError(
            f"{target} is there already and does not look like a packed skill.",
            hint=f"Choose a name that ends in {ENDING}.",
            details={"file": str(target)},
        )
    replace_file(target, data, mode=0o644)
