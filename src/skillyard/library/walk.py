"""Finding the `SKILL.md` files below a root: bounded in depth, wary of links and special files."""

import os
import shlex
import stat
from collections.abc import Sequence
from typing import Final, NamedTuple

from skillyard.skill.bundle import left_out_part
from skillyard.skill.limits import SKILL_FILE_NAMES
from skillyard.skill.models import Finding, Severity
from skillyard.skill.names import hidden_characters

STAMP_FIELDS: Final = 3
MAX_FOLDERS: Final = 30_000
"""Folders without a `SKILL.md` that are looked into, below one root."""
MAX_LINKS: Final = 10_000
"""Links that are looked at, below one root: each takes a dozen questions to the disk."""
MAX_TROUBLES: Final = 2_000
"""Bad links and folders that are told one by one, below one root; more are only counted."""
_FILE_TYPE: Final = 0o170000


class Trouble(NamedTuple):
    """A folder or file that is no skill although it looks like one, and why."""

    path: str
    finding: Finding


class Walk:
    """The skill files below a root, as columns: a library of thousands is walked on every look.

    `stamps` holds three numbers per file (ctime, size, inode); equal stamps mean an unchanged file. The ctime alone
    stands for both times: a write sets it, and so does setting the mtime back.
    """

    def __init__(self, root: str, *, known_roots: Sequence[str] = (), max_depth: int) -> None:
        self.root = root
        self.ids: list[str] = []
        self.paths: list[str] = []
        """The skill files, relative to the root."""
        self.stamps: list[int] = []
        self.linked: set[str] = set()
        """Those of the paths that are themselves links, into a known root."""
        self.in_order = True
        """Whether the ids stand sorted and once each, as they do in a flat folder without links."""
        self.troubles: list[Trouble] = []
        self._folders = self._links = self._untold = 0
        self._known_roots = tuple(f"{known.rstrip('/')}/" for known in (root, *known_roots))
        try:
            self._root_fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        except OSError as error:
            self._unreadable(root, error)
            return
        try:
            level = [""]
            for _ in range(max_depth):
                level = [deeper for prefix in level for deeper in self._visit(prefix)]
            if not self.paths:
                self._add_root_itself()
            self._tell_what_was_left_out()
        finally:
            os.close(self._root_fd)

    @property
    def has_links(self) -> bool:
        """Whether anything in the root is a link, so that what is shown may be elsewhere."""
        return self._links > 0 or bool(self.linked)

    def _visit(self, prefix: str) -> list[str]:
        """Note the skills among the folders in `prefix`; returns the folders to look into next.

        This loop is what a look at an unchanged library costs, so it does the usual case and nothing else.
        """
        names, links = self._subfolders(prefix)
        before = len(self.paths)
        ids, paths, stamps, status_of, root_fd = self.ids, self.paths, self.stamps, os.stat, self._root_fd
        visible_names = not hidden_characters("".join(names))
        deeper: list[str] = []
        for name in names:
            path = f"{prefix}{name}/SKILL.md"
            try:
                status = status_of(path, dir_fd=root_fd, follow_symlinks=False)
            except OSError:
                self._folders += 1
                if self._folders <= MAX_FOLDERS and not self._note(prefix, name) and not left_out_part(name):
                    deeper.append(f"{prefix}{name}/")
                continue
            if visible_names and status.st_mode & _FILE_TYPE == stat.S_IFREG:
                ids.append(name)
                paths.append(path)
                stamps += (status.st_ctime_ns, status.st_size, status.st_ino)
            else:
                self._note(prefix, name)
        room = max(0, MAX_LINKS - self._links)
        self._links += len(links)
        for name in links[:room]:
            path = f"{self.root}/{prefix}{name}"
            if self._leads_to_folder(path) and not self._note(prefix, name, is_link=True):
                self._link_without_skill(path)
        if links or (prefix and len(paths) > before):
            self.in_order = False
        return deeper

    def _subfolders(self, prefix: str) -> tuple[list[str], list[str]]:
        """The folders in a folder and the links, sorted: the disk's order must not matter."""
        names: list[str] = []
        links: list[str] = []
        try:
            with os.scandir(f"{self.root}/{prefix}") as scan:
                for entry in scan:
                    name = entry.name
                    if name[0] == ".":
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        names.append(name)
                    elif entry.is_symlink():
                        links.append(name)
        except OSError as error:
            self._unreadable(f"{self.root}/{prefix}".rstrip("/"), error)
        names.sort()
        links.sort()
        return names, links

    def _note(self, prefix: str, name: str, *, is_link: bool = False) -> bool:
        """Note a skill, or the trouble with it, with every check; False when there is no skill file at all."""
        folder = f"{self.root}/{prefix}{name}"
        for file in SKILL_FILE_NAMES:
            path = f"{folder}/{file}"
            try:
                status = os.lstat(path)
                if not self._name_is_visible(folder, name):
                    return True
                if is_link or stat.S_ISLNK(status.st_mode):
                    if self._dangles(path) or not self._link_stays_inside(folder, path):
                        return True
                    if stat.S_ISLNK(status.st_mode):
                        self.linked.add(f"{prefix}{name}/{file}")
                    status = os.stat(path)
            except FileNotFoundError:
                continue
            except OSError as error:
                self._unreadable(path, error)
                return True
            if stat.S_ISREG(status.st_mode):
                self._add(name, f"{prefix}{name}/{file}", status)
            else:
                self._trouble(path, "not-a-file", f"{file} is not a regular file.", "Replace it with a text file.")
            return True
        return False

    def _add(self, skill_id: str, path: str, status: os.stat_result) -> None:
        self.ids.append(skill_id)
        self.paths.append(path)
        self.stamps += (status.st_ctime_ns, status.st_size, status.st_ino)

    def _name_is_visible(self, folder: str, name: str) -> bool:
        hidden = hidden_characters(name)
        if hidden:
            self._trouble(
                folder,
                "folder-name-hidden",
                f"The folder's name holds characters that cannot be seen or read ({hidden}).",
                "Rename the folder.",
            )
        return not hidden

    def _leads_to_folder(self, path: str) -> bool:
        if os.path.isdir(path):
            return True
        self._dangles(path)
        return False

    def _dangles(self, path: str) -> bool:
        if os.path.exists(path):
            return False
        self._trouble(
            path,
            "link-dangling",
            f"The link leads to {os.readlink(path)!r}, which is not there.",
            f"Remove it: {shlex.join(['rm', path])}",
        )
        return True

    def _link_stays_inside(self, folder: str, path: str) -> bool:
        real = os.path.realpath(path)
        if real.startswith(self._known_roots):
            return True
        self._trouble(
            folder,
            "link-outside",
            f"The link leads to {real!r}, outside every known skill folder; it is not followed.",
            "Replace the link by a copy, or add the folder it leads to as a root.",
        )
        return False

    def _link_without_skill(self, path: str) -> None:
        self._trouble(
            path,
            "link-without-skill",
            "The link leads to a folder without a SKILL.md; folders of skills are not followed through links.",
            "Link each skill folder by itself.",
        )

    def _tell_what_was_left_out(self) -> None:
        hint = "Keep skills in a folder of their own, with nothing else in it."
        first = "only the first {:,} were looked into."
        for code, number, most, message in (
            ("too-many-folders", self._folders, MAX_FOLDERS, f"{self._folders:,} folders without a SKILL.md; {first}"),
            ("too-many-links", self._links, MAX_LINKS, f"{self._links:,} links; {first}"),
            ("too-many-problems", self._untold, 0, f"{self._untold:,} more links and folders that are no skills."),
        ):
            if number > most:
                self._note_trouble(self.root, code, f"It holds {message.format(most)}", hint)

    def _unreadable(self, path: str, error: OSError) -> None:
        self._trouble(
            path, "unreadable", f"It cannot be read: {error.strerror}.", f"Check it: {shlex.join(['ls', '-ld', path])}"
        )

    def _trouble(self, path: str, code: str, message: str, fix: str) -> None:
        if len(self.troubles) < MAX_TROUBLES:
            self._note_trouble(path, code, message, fix)
        else:
            self._untold += 1

    def _note_trouble(self, path: str, code: str, message: str, fix: str) -> None:
        self.troubles.append(Trouble(path, Finding(code=code, severity=Severity.ERROR, message=message, fix=fix)))

    def _add_root_itself(self) -> None:
        """A root that is itself a skill and holds no others: someone pointed at the skill's own folder."""
        for file in SKILL_FILE_NAMES:
            try:
                status = os.lstat(f"{self.root}/{file}")
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode):
                self._add(os.path.basename(self.root), file, status)
                return
