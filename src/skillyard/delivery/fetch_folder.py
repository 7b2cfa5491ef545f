"""Reading the skills of a folder or an archive on this machine."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from skillyard.delivery.discover import skill_folders_on_disk
from skillyard.delivery.fetched import FetchedSkill, RefusedSkill, take_in
from skillyard.delivery.source import Source
from skillyard.errors import LimitError, NotFoundError, UnavailableError
from skillyard.library.disk import read_folder
from skillyard.skill.archive import read_archive
from skillyard.skill.limits import MAX_ARCHIVE_BYTES


def fetch_folder(source: Source) -> Iterator[FetchedSkill | RefusedSkill]:
    """The skill that the folder is, or all skills below it."""
    root = Path(source.location) / source.subpath
    if not root.is_dir():
        raise NotFoundError(f"There is no folder {root}.", hint="Check the path.", details={"value": str(root)})
    for folder in skill_folders_on_disk(root):
        path = root / folder
        subpath = "/".join(filter(None, [source.subpath, folder]))
        yield take_in(read_folder(path), folder=path.name, source=replace(source, subpath=subpath))


def fetch_archive(source: Source) -> Iterator[FetchedSkill | RefusedSkill]:
    path = Path(source.location)
    try:
        size = path.stat().st_size
        if size > MAX_ARCHIVE_BYTES:
            raise LimitError(
                f"{path} has {size} bytes; an archive may have {MAX_ARCHIVE_BYTES}.",
                hint="Pack only what the skill needs.",
                details={"value": size, "limit": MAX_ARCHIVE_BYTES},
            )
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no file {path}.", hint="Check the path.") from error
    except OSError as error:
        raise UnavailableError(f"{path} cannot be read: {error.strerror}.", hint="Check its permissions.") from error
    yield archive_skill(data, name=path.name, source=source)


def archive_skill(data: bytes, *, name: str, source: Source) -> FetchedSkill | RefusedSkill:
    """The skill in an archive's bytes; `name` is the archive's file name."""
    read = read_archive(data, filename=name)
    resolved = f"sha256:{hashlib.sha256(data).hexdigest()}"
    return take_in(read, folder=read.folder or name.split(".", 1)[0], source=source, resolved=resolved)
