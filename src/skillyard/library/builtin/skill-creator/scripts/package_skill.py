#!/usr/bin/env python3
"""Pack a skill folder into one `.skill` file, a zip that any agent tool can unpack.

Needs Python 3.9 or newer and quick_validate.py beside it, nothing else. The same content gives the same file.
"""

from __future__ import annotations

import argparse
import io
import os
import stat
import sys
import tempfile
import zipfile
from pathlib import Path

from quick_validate import validate_skill

LEFT_OUT_NAMES = {"__pycache__", "node_modules", ".git", "__macosx", ".ds_store"}
LEFT_OUT_AT_ROOT = "evals"
EARLIEST_DATE = (1980, 1, 1, 0, 0, 0)


class PackError(Exception):
    """A reason why the folder cannot be packed."""


def package_skill(folder: Path, target_folder: Path) -> Path:
    """Check the skill and write `<name>.skill` into the target folder; an old one is replaced whole."""
    # Links are not followed: an installed skill goes by the name of its link.
    folder, target_folder = Path(os.path.abspath(folder)), Path(os.path.abspath(target_folder))  # noqa: PTH100
    valid, message = validate_skill(folder)
    if not valid:
        raise PackError(f"the skill is not valid:\n{message}")
    if folder in (target_folder, *target_folder.parents):
        raise PackError("the archive would lie inside the skill; choose another target folder")
    files = skill_files(folder)
    target_folder.mkdir(parents=True, exist_ok=True)
    target = target_folder / f"{folder.name}.skill"
    # Written beside the target and moved into place, so that nobody reads half an archive.
    with tempfile.NamedTemporaryFile(dir=target_folder, prefix=".skill-", delete=False) as temporary:
        try:
            with zipfile.ZipFile(temporary, "w") as archive:
                for path in files:
                    archive.writestr(_entry(folder, path), path.read_bytes())
            temporary.close()
            Path(temporary.name).chmod(0o644)
            Path(temporary.name).replace(target)
        except BaseException:
            Path(temporary.name).unlink()
            raise
    return target


def skill_files(folder: Path) -> list[Path]:
    """The files that belong into the archive, in the order in which they are packed."""
    files: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=_fail):
        here = Path(parent)
        folders[:] = [name for name in folders if not (is_left_out(name) or here / name == folder / LEFT_OUT_AT_ROOT)]
        kept = [name for name in names if not is_left_out(name)]
        for path in (here / name for name in (*folders, *kept)):
            mode = path.lstat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                kind = "a link" if stat.S_ISLNK(mode) else "no ordinary file"
                raise PackError(f"{str(path.relative_to(folder))!r} is {kind}; replace it by a copy or delete it")
        files.extend(here / name for name in kept)
    return sorted(files, key=lambda path: path.relative_to(folder).as_posix().encode("utf-8", "surrogateescape"))


def is_left_out(name: str) -> bool:
    """Whether a file or folder of this name is a cache, a history or litter of a system."""
    name = name.casefold()
    return name in LEFT_OUT_NAMES or name.startswith("._") or name.endswith(".pyc")


def _fail(error: OSError) -> None:
    raise error


def _entry(folder: Path, path: Path) -> zipfile.ZipInfo:
    name = f"{folder.name}/{path.relative_to(folder).as_posix()}"
    entry = zipfile.ZipInfo(name, EARLIEST_DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3
    executable = path.stat().st_mode & stat.S_IXUSR
    entry.external_attr = (stat.S_IFREG | (0o755 if executable else 0o644)) << 16
    return entry


def main() -> int:
    """Pack the folder named on the command line."""
    parser = argparse.ArgumentParser(
        description="Check an Agent Skill and pack it into one .skill file.",
        epilog="Exit codes: 0 packed, 1 not packed (the reason is printed), 2 wrong usage.",
    )
    parser.add_argument("skill", type=Path, help="the folder that holds SKILL.md")
    parser.add_argument("target", type=Path, nargs="?", default=Path(), help="where the file goes (default: here)")
    arguments = parser.parse_args()
    output = sys.stdout
    if isinstance(output, io.TextIOWrapper):
        # A name in another script must not break the report on a terminal that cannot show it.
        output.reconfigure(errors="backslashreplace")
    try:
        target = package_skill(arguments.skill, arguments.target)
    except PackError as error:
        print(error, file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(f"cannot pack the skill: {error}", file=sys.stderr)
        return 1
    print(f"Packed {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
