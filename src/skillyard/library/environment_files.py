"""What an environment's files say: its agents and its model, in whichever of the known spellings.

`config.toml` is Skillyard's own file. `config.jsonc`, `agents.jsonc` and `models.jsonc` are read as well, so
that environments made for other programs work as they are; where both say something, `config.toml` wins.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar, cast

from skillyard.errors import SkillyardError
from skillyard.library.tables import Table, read_value, text_in

CONFIG_FILE: Final = "config.toml"
_OTHER_CONFIGS: Final = ("config.jsonc", "config.json")
_AGENT_FILES: Final = ("agents.jsonc", "agents.json")
_MODEL_FILES: Final = ("models.jsonc", "models.json")
_PROMPT_KEYS: Final = ("prompt", "systemPrompt", "system_prompt")
_MODEL_KEYS: Final = ("model", "modelName", "model_name", "name")
_URL_KEYS: Final = ("base_url", "baseURL", "baseUrl")
_DEFAULT_KEYS: Final = ("model", "default", "defaultModel", "default_model", "activeModel", "active_model", "active")
_LISTED: Final = ""
"""The key under which a file that is one list is kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentProfile:
    """An agent of an environment: who it is and what it is for."""

    id: str
    name: str
    role: str = ""
    goal: str = ""
    prompt: str = ""
    model: str = ""
    extra: Mapping[str, object] = field(default_factory=dict[str, object], repr=False)
    """Everything else that was said of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelProfile:
    """A model of an environment. Keys and other secrets may be in `extra`, so it is never shown."""

    id: str
    provider: str = ""
    model: str = ""
    base_url: str = ""
    extra: Mapping[str, object] = field(default_factory=dict[str, object], repr=False)

    @property
    def spec(self) -> str:
        """`provider:model`, as settings name a model."""
        return f"{self.provider}:{self.model}" if self.provider else self.model


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvironmentFiles:
    """The settings of an environment. A file that cannot be read is told in `errors`; the others count."""

    description: str = ""
    agents: tuple[AgentProfile, ...] = ()
    models: tuple[ModelProfile, ...] = ()
    model: str = ""
    """The model in use, as `provider:model`; empty when none is named."""
    errors: tuple[SkillyardError, ...] = ()


_Profile = TypeVar("_Profile", AgentProfile, ModelProfile)


def read_environment_files(folder: Path) -> EnvironmentFiles:
    """What the files in an environment's folder say."""
    errors: list[SkillyardError] = []
    own = _first((CONFIG_FILE,), folder, errors)
    other = _first(_OTHER_CONFIGS, folder, errors)
    agents = _first(_AGENT_FILES, folder, errors)
    models = _first(_MODEL_FILES, folder, errors)
    profiles = _distinct(_models(own, other, models))
    return EnvironmentFiles(
        description=text_in(own, "description") or text_in(other, "description"),
        agents=tuple(_distinct(_agents(own, other, agents)).values()),
        models=tuple(profiles.values()),
        model=_default_model((own, models, other), profiles),
        errors=tuple(errors),
    )


def _first(names: Iterable[str], folder: Path, errors: list[SkillyardError]) -> Table:
    for name in names:
        try:
            value = read_value(folder / name)
        except SkillyardError as error:
            errors.append(error)
            continue
        if isinstance(value, dict):
            return cast("Table", value)
        if isinstance(value, list):
            return {_LISTED: cast("list[object]", value)}
    return {}


def _agents(own: Table, other: Table, file: Table) -> Iterator[AgentProfile]:
    for id_, fields in _items((own.get("agents"), _section(file, "agents"), other.get("agents")), plain="prompt"):
        yield AgentProfile(
            id=id_,
            name=text_in(fields, "name") or id_,
            role=text_in(fields, "role"),
            goal=text_in(fields, "goal"),
            prompt=text_in(fields, *_PROMPT_KEYS),
            model=text_in(fields, "model"),
            extra=_without(fields, "id", "name", "role", "goal", "model", *_PROMPT_KEYS),
        )


def _models(own: Table, other: Table, file: Table) -> Iterator[ModelProfile]:
    for id_, fields in _items((own.get("models"), _section(file, "models"), other.get("models")), plain="model"):
        yield ModelProfile(
            id=id_,
            provider=text_in(fields, "provider"),
            model=text_in(fields, *_MODEL_KEYS) or id_,
            base_url=text_in(fields, *_URL_KEYS),
            extra=_without(fields, "id", "provider", *_MODEL_KEYS, *_URL_KEYS),
        )


def _default_model(tables: Iterable[Table], profiles: Mapping[str, ModelProfile]) -> str:
    for table in tables:
        for key in _DEFAULT_KEYS:
            value = table.get(key)
            if isinstance(value, dict):
                # An object that names a provider and a model is one itself.
                fields = cast("Table", value)
                value = ModelProfile(
                    id="", provider=text_in(fields, "provider"), model=text_in(fields, "model", "id", "name")
                ).spec
            if isinstance(value, str) and value:
                return profiles[value].spec if value in profiles else value
    return next((profile.spec for profile in profiles.values()), "") if len(profiles) == 1 else ""


def _section(file: Table, key: str) -> object:
    """A file of its own may hold its entries below a key, as a list, or directly."""
    if key in file:
        return file[key]
    direct = {name: cast("Table", value) for name, value in file.items() if isinstance(value, dict)}
    return file.get(_LISTED) or direct


def _items(values: Iterable[object], *, plain: str) -> Iterator[tuple[str, Table]]:
    """Entries written as an object keyed by id or as a list; one that is only a text says `plain`."""
    for value in values:
        if isinstance(value, dict):
            for id_, fields in cast("Table", value).items():
                yield id_, cast("Table", fields) if isinstance(fields, dict) else {plain: fields}
        elif isinstance(value, list):
            for item in cast("list[object]", value):
                fields = cast("Table", item) if isinstance(item, dict) else {"id": item}
                id_ = text_in(fields, "id", "name")
                if id_:
                    yield id_, fields


def _without(fields: Table, *known: str) -> Table:
    return {key: value for key, value in fields.items() if key not in known}


def _distinct(profiles: Iterable[_Profile]) -> dict[str, _Profile]:
    found: dict[str, _Profile] = {}
    for profile in profiles:
        found.setdefault(profile.id, profile)
    return found
