"""Environments: named sets of skills, agents and a model, one of which may be active.

<config>/environments/<name>/config.toml
<config>/environments/<name>/skills/<id>/SKILL.md
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from skillyard.config.files import home_folder, write_key
from skillyard.config.paths import USER_FILE
from skillyard.errors import ConflictError, InputError, NotFoundError
from skillyard.library.environment_files import (
    CONFIG_FILE,
    AgentProfile,
    EnvironmentFiles,
    read_environment_files,
)
from skillyard.library.json_text import with_entry, without_entry
from skillyard.library.loader import Changes, SkillInfo, SkillLoader
from skillyard.library.switches import SwitchesFile, SwitchSource, WithSwitches
from skillyard.library.tables import read_table, replace_text, text_in
from skillyard.skill.library import Catalog, Problem, SkillEntry
from skillyard.skill.names import hidden_characters, is_device_name, nearest_name

if TYPE_CHECKING:
    from skillyard.library.searching import SkillSearch

FOLDER: Final = "environments"
SKILLS: Final = "skills"
MAX_NAME: Final = 64
_NAME: Final = re.compile(r"[^\W_](?:[\w.-]*[^\W_])?")
_OTHER_FILES: Final = ("config.jsonc", "config.json")
_ACTIVE_KEYS: Final = ("active_environment", "activeEnvironment")
_NEW_CONFIG: Final = """\
# What this environment is for.
description = ""

# The model its agents use, as provider:model.
# model = "openai:gpt-5"

# [[agents]]
# id = "helper"
# role = "Answers questions about the product"
# goal = "Short, correct answers"
"""


class Environment:
    """One environment. `load_skills` once, then `reload` before every query: it is cheap and tells changes."""

    def __init__(self, path: str | Path, *, switches: SwitchSource | None = None) -> None:
        self.path = Path(path)
        self.name = self.path.name
        self._loader = SkillLoader(self.path / SKILLS, switches=switches)
        self._loaded = False
        self._search: SkillSearch | None = None
        self._files: EnvironmentFiles | None = None

    @property
    def skills_dir(self) -> Path:
        return self._loader.skills_dir

    @property
    def library(self) -> WithSwitches:
        """Its skills as a library, to be layered with others."""
        return self._loader.library

    @property
    def files(self) -> EnvironmentFiles:
        """What its settings files said at the last look."""
        if self._files is None:
            self._files = read_environment_files(self.path)
        return self._files

    @property
    def agents(self) -> tuple[AgentProfile, ...]:
        return self.files.agents

    @property
    def model(self) -> str:
        """The model in use, as `provider:model`; empty when none is named."""
        return self.files.model

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The skills that were left out at the last look, and why."""
        self.list_skills()
        return self._loader.problems

    def load_skills(self) -> None:
        """Read the skills folder. A skill that cannot be read never stops the rest."""
        self.reload()

    def reload(self) -> Changes:
        """Look at skills and settings again, and tell which skills are new, gone or changed."""
        self._files = None
        self._loaded = True
        return self._loader.refresh()

    def list_skills(self) -> list[SkillInfo]:
        """The skills, by id."""
        if not self._loaded:
            self.reload()
        return list(self._loader.known)

    def get_skill(self, id_or_name: str) -> SkillInfo | None:
        """The skill of that id, else of that id or name without regard to case."""
        infos = self.list_skills()
        entry = Catalog(entries=[_entry(info) for info in infos]).find(id_or_name)
        return next((info for info in infos if entry is not None and info.id == entry.id), None)

    def get_skills_info_for_tool_description(self, query: str = "", *, budget: int | None = None) -> str:
        """The skills as the description of a tool names them: `- name: description`, one line each.

        In 8,000 characters or as many as the budget has: where that is not enough, those that fit the query come
        first, and a last line says how many there are.
        """
        # The engine of search takes long to import, and most of what uses an environment needs none.
        from skillyard.search.catalog import BUDGET, HITS, CatalogWriter, Shape  # noqa: PLC0415

        entries = list(map(_entry, self.list_skills()))
        hits = [match.entry.id for match in self._searching().search(query, limit=HITS).best] if query.strip() else []
        return CatalogWriter(entries).write(budget=budget or BUDGET, shape=Shape.MARKDOWN, hits=hits).text

    def _searching(self) -> "SkillSearch":
        from skillyard.library.searching import SkillSearch, search_folder  # noqa: PLC0415 -- as above

        if self._search is None:
            self._search = SkillSearch(self.library, search_folder(home_folder(), [str(self.skills_dir.absolute())]))
        return self._search


class Environments:
    """All environments in a folder, and the configuration that says which one is active.

    The default folder is `environments` beside the configuration. The folder of another program has a `config.jsonc`
    beside it.
    """

    def __init__(self, config_dir: str | Path, folder: str | Path | None = None) -> None:
        self.config_dir = Path(config_dir).expanduser()
        self.folder = self.config_dir / FOLDER if folder is None else Path(folder).expanduser()
        places = dict.fromkeys((self.config_dir, self.folder.parent))
        self._others = [place / file for place in places for file in _OTHER_FILES]

    def list(self) -> list[Environment]:
        """The environments there are, by name."""
        return [self._at(name) for name in _names(self.folder)]

    def get(self, name: str) -> Environment:
        checked = check_environment_name(name)
        names = _names(self.folder)
        if checked not in names:
            near = nearest_name(checked, names)
            raise NotFoundError(
                f"There is no environment {checked!r}.",
                hint=f"Did you mean {near!r}?" if near else f"Make it: skillyard env create {checked}",
                details={"field": "environment", "value": checked},
            )
        return self._at(checked)

    def create(self, name: str) -> Environment:
        """A new, empty environment."""
        path = self.folder / check_environment_name(name)
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            raise ConflictError(
                f"There is an environment {name!r} already.",
                hint=f"See it: skillyard env show {name}",
                details={"field": "environment", "value": name},
            ) from None
        (path / SKILLS).mkdir()
        (path / CONFIG_FILE).write_text(_NEW_CONFIG, encoding="utf-8")
        return self._at(name)

    def active_name(self) -> str | None:
        """The name in the configuration's `active_environment` (or `activeEnvironment`); None is no error."""
        return self.named_active()[0]

    def active(self) -> Environment | None:
        """The active environment, or None when none is named."""
        name = self.active_name()
        return self.get(name) if name else None

    def switch(self, name: str | None) -> Environment | None:
        """Make an environment active, or none, in every file that names one: ours, and another program's."""
        environment = self.get(name) if name else None
        for file in self._others:
            self._switch_in(file, name or None)
        write_key(self.config_dir / USER_FILE, _ACTIVE_KEYS[0], name or None)
        return environment

    def _switch_in(self, file: Path, name: str | None) -> None:
        """Change the active environment in another program's file, if it names one; nothing else in it changes."""
        for key in _ACTIVE_KEYS:
            if text_in(read_table(file), key):
                text = file.read_text(encoding="utf-8")
                changed = (
                    without_entry(text, [key], file=str(file))
                    if name is None
                    else with_entry(text, [key], name, file=str(file))
                )
                replace_text(file, changed)

    def named_active(self) -> tuple[str | None, Path]:
        """The name of the active environment and the file that says so."""
        for file in (self.config_dir / USER_FILE, *self._others):
            name = text_in(read_table(file), *_ACTIVE_KEYS)
            if name:
                return name, file
        return None, self.config_dir / USER_FILE

    def _at(self, name: str) -> Environment:
        return Environment(self.folder / name, switches=SwitchesFile(self.config_dir))


def check_environment_name(name: str) -> str:
    """The name, if it can be the name of a folder on any disk."""
    problem = name_problem(name)
    if problem is not None:
        raise InputError(
            f"{name!r} cannot be the name of an environment: {problem}.",
            hint=f"Use up to {MAX_NAME} letters, digits, '-', '_' and '.', with a letter or digit at both ends.",
            details={"field": "environment", "value": name, "limit": MAX_NAME},
        )
    return name


def name_problem(name: str) -> str | None:
    """Why a text cannot name an environment, if it cannot."""
    if not name:
        return "it is empty"
    if len(name) > MAX_NAME:
        return f"it has {len(name)} characters"
    if hidden_characters(name):
        return "it holds characters that cannot be seen"
    if not _NAME.fullmatch(name):
        return "it has other characters than letters, digits, '-', '_' and '.', or such a sign at an end"
    return "Windows keeps it for a device" if is_device_name(name) else None


def _names(folder: Path) -> list[str]:
    try:
        found = [path.name for path in folder.iterdir() if path.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name for name in found if name_problem(name) is None)


def _entry(info: SkillInfo) -> SkillEntry:
    return SkillEntry(info.id, info.name, info.description, info.path, "")
