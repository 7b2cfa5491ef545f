"""The settings in force, where each came from, and one error for every way they can be wrong."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from pydantic import ValidationError
from pydantic_settings import PydanticBaseSettingsSource

from skillyard.config.settings import ENV_PREFIX, Settings, VariableSource, file_sources
from skillyard.errors import InputError

DEFAULT_ORIGIN = "default"


def load_settings(flags: Mapping[str, object] | None = None) -> Settings:
    """The settings: flag > `SKILLYARD_*` > `./skillyard.toml` > user file > default."""
    given = _given(flags)
    try:
        return Settings(**given)  # pyright: ignore[reportArgumentType] -- checked by the model
    except ValidationError as error:
        raise _input_error(error, setting_origins(flags)) from error


def setting_origins(flags: Mapping[str, object] | None = None) -> dict[str, str]:
    """For every setting the place its value comes from: a flag, a variable, a file or `default`."""
    origins = {key: f"flag --{key.replace('_', '-')}" for key in _given(flags)}
    variables = VariableSource(Settings)
    for key in variables():
        origins.setdefault(key, f"env {variables.variable(key)}")
    for source in file_sources(Settings):
        for key in source():
            origins.setdefault(key, str(source.path))
    return {key: origins.get(key, DEFAULT_ORIGIN) for key in Settings.model_fields}


def parse_value(key: str, text: str) -> object:
    """What the text typed for a setting means, checked by the setting's own rule, ready for a file."""
    try:
        value = getattr(_Alone(**{key: text}), key)  # pyright: ignore[reportArgumentType]
    except ValidationError as error:
        raise _input_error(error, {key: "value"}) from error
    return plain(value)


def plain(value: object) -> object:
    """A setting's value as JSON and TOML know it."""
    if isinstance(value, tuple):
        return [plain(item) for item in cast("tuple[object, ...]", value)]
    return str(value) if isinstance(value, Path) else value


class _Alone(Settings):
    """One setting checked without looking at any file or variable."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: object,  # noqa: ARG003 -- the signature is pydantic-settings'
        init_settings: PydanticBaseSettingsSource,
        *_others: object,
        **_more: object,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)


def _given(flags: Mapping[str, object] | None) -> dict[str, object]:
    return {key: value for key, value in (flags or {}).items() if value is not None}


def _input_error(error: ValidationError, origins: Mapping[str, str]) -> InputError:
    first = error.errors(include_url=False)[0]
    key = str(first["loc"][0]) if first["loc"] else ""
    rule = first["msg"][:1].lower() + first["msg"][1:]
    return InputError(
        f"The setting {key!r} is wrong ({origins.get(key, DEFAULT_ORIGIN)}): {rule}, got {first['input']!r}.",
        hint=f"Set it right with `skillyard config set {key} VALUE`, or unset {ENV_PREFIX}{key.upper()}.",
        details={"field": key, "value": str(first["input"]), "origin": origins.get(key, DEFAULT_ORIGIN)},
    )
