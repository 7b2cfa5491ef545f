"""Where the target of a reference lies: in this skill, in another one, or outside."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import PurePosixPath
from posixpath import dirname, join, normpath
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import unquote

from skillyard.skill.bundle import Bundle
from skillyard.skill.limits import MAX_PATH_BYTES, SKILL_FILE_NAMES
from skillyard.skill.names import is_valid_name

KnownSkills: TypeAlias = Collection[str] | Callable[[str], bool]
"""The ids of the skills that are there, or a way to ask for one."""

STANDARD_FOLDERS: Final = ("references", "scripts", "assets")

_ORDINARY_FOLDERS: Final = frozenset(
    {*STANDARD_FOLDERS, "agents", "api", "app", "bin", "config", "data", "docs", "evals", "examples", "images", "img"}
    | {"lib", "modules", "output", "packages", "path", "plugins", "public", "reference", "resources", "rules"}
    | {"script", "shared", "skills", "snippets", "src", "static", "styles", "templates", "test", "tests", "workflows"}
)
"""Folders that are not taken for the name of another skill."""
_ELSEWHERE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[/~\\#?@]")
"""An address, an anchor, or a place on the machine."""
_PLACEHOLDER: Final = re.compile(r"[{}<>*$|^`\"\n]|\.\.\.|…|\bYYYY\b|\bX{2,}\b|path/to/|\byour[-_]", re.IGNORECASE)
_DOMAIN: Final = re.compile(r"www\.|[^/]+\.(?:com|org|net|io|dev|ai|app|cn|kr|jp|gov|edu)(?:/|$)", re.IGNORECASE)
_CODE_PATH: Final = re.compile(r"[\w./@+-]+/[\w.@+-]+")


class Target(NamedTuple):
    skill: str | None
    """The other skill; `None` for this one."""
    path: str
    leaves: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Places:
    """The files of a skill and the skills beside it, asked by path."""

    skill_id: str
    known_skills: KnownSkills | None
    paths: dict[str, str]
    """Every file and folder, by its path and, where no file has that, by its path in lower case."""
    names: dict[str, str]
    """A file by its name alone."""

    @classmethod
    def of(cls, bundle: Bundle, skill_id: str, known_skills: KnownSkills | None) -> "Places":
        exact: dict[str, str] = {}
        for file in bundle:
            exact[file.path] = file.path
            for parent in PurePosixPath(file.path).parents:
                exact[str(parent)] = str(parent)
        folded = {path.casefold(): path for path in exact}
        return cls(
            skill_id=skill_id,
            known_skills=known_skills,
            paths=folded | exact,
            names={PurePosixPath(file.path).name: file.path for file in bundle},
        )

    def has(self, path: str) -> bool:
        return self.paths.get(path) == path

    def close_to(self, path: str) -> str:
        """The file that was probably meant: spelled in another case, or of that name in another folder."""
        return self.paths.get(path.casefold(), "") or self.names.get(PurePosixPath(path).name, "")

    def linked(self, written: str, source: str) -> Target | None:
        """The target of a link or image; `None` where it is no reference."""
        path = _clean(written)
        if not path or _ELSEWHERE.match(path) or _PLACEHOLDER.search(path) or _DOMAIN.match(path):
            return None
        return self._resolved(path, source)

    def in_code(self, word: str, source: str, *, alone: bool) -> Target | None:
        """The target of a path in inline code. A word of a longer command counts only if it is a file of the skill."""
        if not _CODE_PATH.fullmatch(word) or _ELSEWHERE.match(word) or _PLACEHOLDER.search(word):
            return None
        target = self._resolved(word, source)
        if target is None or target.leaves:
            return None
        if target.skill is None:
            folder = target.path.partition("/")[0]
            return target if self.has(target.path) or (alone and folder in STANDARD_FOLDERS) else None
        is_plain = target.path in SKILL_FILE_NAMES or target.path.startswith(STANDARD_FOLDERS)
        return target if alone and (is_plain or self._is_known(target.skill)) else None

    def wiki(self, written: str) -> Target | None:
        path = _clean(written)
        for candidate in (path, f"{path}.md", self.names.get(path, ""), self.names.get(f"{path}.md", "")):
            if candidate and self.has(candidate):
                return Target(None, candidate)
        skill, _, rest = path.partition("/")
        return Target(skill, rest) if is_valid_name(skill) and skill != self.skill_id else None

    def _resolved(self, path: str, source: str) -> Target | None:
        beside = normpath(join(dirname(source), path))
        if self.has(beside):
            return Target(None, beside)
        if beside.startswith("../") or beside == "..":
            return self._outside(beside)
        if path.startswith("."):
            return Target(None, beside)
        rooted = normpath(path)
        if self.has(rooted):
            return Target(None, rooted)
        first, _, rest = rooted.partition("/")
        if first == self.skill_id and rest:
            return Target(None, rest)
        if rest and self._is_skill(first, rest):
            return Target(first, rest)
        if not rest and not PurePosixPath(first).suffix:
            return None
        return Target(None, rooted if first in STANDARD_FOLDERS else beside)

    def _outside(self, path: str) -> Target:
        """A path that starts with `..`: its neighbour is another skill, anything else leaves the skill."""
        up = path.count("../")
        inner = path.replace("../", "").removeprefix("..")
        if up == 2 and inner.startswith("skills/"):  # noqa: PLR2004 - from a skill to the folder of all and back
            up, inner = 1, inner.removeprefix("skills/")
        skill, _, rest = inner.partition("/")
        if up == 1 and skill == self.skill_id:
            return Target(None, rest)
        if up == 1 and skill not in _ORDINARY_FOLDERS and is_valid_name(skill):
            return Target(skill, rest)
        return Target(None, path, leaves=True)

    def _is_skill(self, name: str, rest: str) -> bool:
        if name in _ORDINARY_FOLDERS or self.has(name):
            return False
        if self._is_known(name):
            return True
        return is_valid_name(name) and ("/" in rest or rest in SKILL_FILE_NAMES)

    def _is_known(self, name: str) -> bool:
        return self.known_skills is not None and is_known(self.known_skills, name)


def is_known(known_skills: KnownSkills, name: str) -> bool:
    return known_skills(name) if callable(known_skills) else name in known_skills


def _clean(written: str) -> str:
    """The path of a target: no anchor, no query, escapes undone."""
    path = unquote(re.split(r"[#?]", written, maxsplit=1)[0].strip(), errors="replace")
    return path.rstrip("/") if len(path) <= MAX_PATH_BYTES else ""
