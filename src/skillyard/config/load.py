"""The settings in force, where each came from, and one error for every way they can be wrong."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, cast, get_args, get_origin

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_settings import PydanticBaseSettingsSource

from skillyard.config.settings import Settings, VariableSource, file_sources
from skillyard.errors import InputError, UsageError

DEFAULT_ORIGIN: Final = "default"
_FLAG: Final = "flag "
_VARIABLE: Final = "env "
_TYPED: Final = "value"
SECRETS: Final = frozenset(key for key, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation))
_HIDDEN: Final = "***"
_RULES: Final = {
    "roots": "folders, separated like PATH",
    "home": "a folder",
    "document_root": "a folder",
    "environments": "a folder",
    "chromium": "a program",
    "admin_token": "a text of at least 16 characters",
    "sandbox_uids": "a range of users such as 700000-765535",
    "sandbox_ceilings": "a table of limits of sandboxes, such as memory_bytes",
    "skill_injection": "a table of enabled, max_skills and include_stages",
    "releases": "a table of canary_percent, minimum_sample, window_hours and others",
    "learning": "a table of memory, rules, skills, other_reviewer, max_calls, max_tokens and max_seconds",
}
"""What settings take that are neither numbers nor one of a few words."""
_PASSWORD: Final = re.compile(r"(://[^:/@]*:)[^@]*@")


def load_settings(flags: Mapping[str, object] | None = None) -> Settings:
    """The settings: flag > `SKILLYARD_*` > `./skillyard.toml` > user file > default."""
    given = _given(flags)
    try:
        return Settings(**given)  # pyright: ignore[reportArgumentType] -- checked by the model
    except ValidationError as error:
        raise _input_error(error, setting_origins(flags)) from error


def setting_origins(flags: Mapping[str, object] | None = None) -> dict[str, str]:
    """For every setting the place its value comes from: a flag, a variable, a file or `default`."""
    origins = {key: f"{_FLAG}--{key.replace('_', '-')}" for key in _given(flags)}
    variables = VariableSource(Settings)
    for key in variables():
        origins.setdefault(key, f"{_VARIABLE}{variables.variable(key)}")
    for source in file_sources(Settings):
        for key in source():
            origins.setdefault(key, str(source.path))
    return {key: origins.get(key, DEFAULT_ORIGIN) for key in Settings.model_fields}


def parse_value(key: str, text: str) -> object:
    """What the text typed for a setting means, checked by the setting's own rule, ready for a file."""
    try:
        value = getattr(_Alone(**{key: text}), key)  # pyright: ignore[reportArgumentType]
    except ValidationError as error:
        raise _input_error(error, {key: _TYPED}) from error
    return plain(value)


def shown(key: str, value: object) -> object:
    """A setting's value as it may be shown: without the secrets in it."""
    if isinstance(value, SecretStr):
        return _HIDDEN
    if key == "database_url" and isinstance(value, str):
        return _PASSWORD.sub(rf"\1{_HIDDEN}@", value)
    return plain(value)


def plain(value: object) -> object:
    """A setting's value as JSON and TOML know it."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, tuple):
        return [plain(item) for item in cast("tuple[object, ...]", value)]
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
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


def _input_error(error: ValidationError, origins: Mapping[str, str]) -> InputError | UsageError:
    first = error.errors(include_url=False)[0]
    key = str(first["loc"][0]) if first["loc"] else ""
    origin = origins.get(key, DEFAULT_ORIGIN)
    rule, given = _rule(key), shown(key, _secret_or(key, first["input"]))
    details = {"field": key, "value": str(given), "origin": origin}
    if origin.startswith(_FLAG):
        flag = origin.removeprefix(_FLAG)
        return UsageError(f"{flag} takes {rule}, not {given!r}.", hint=f"Give {flag} {rule}.", details=details)
    where = "" if origin == _TYPED else f" ({origin})"
    hint = f"Set it right: skillyard config set {key} VALUE"
    if origin.startswith(_VARIABLE):
        variable = origin.removeprefix(_VARIABLE)
        hint = f"Set it to {rule}, or take it away: unset {variable}"
    return InputError(f"The setting {key!r}{where} takes {rule}, not {given!r}.", hint=hint, details=details)


def _secret_or(key: str, given: object) -> object:
    """What was given, but hidden where it is a secret: also a wrong one is nobody's to see."""
    return SecretStr(str(given)) if key in SECRETS else given


def _rule(key: str) -> str:
    """What a setting takes, in words."""
    field = Settings.model_fields.get(key)
    if field is not None and get_origin(field.annotation) is Literal:
        return " or ".join(map(str, get_args(field.annotation)))
    if field is None or field.annotation is not int:
        return _RULES.get(key, "a text that is not empty")
    least, most = (
        next((getattr(rule, bound) for rule in field.metadata if hasattr(rule, bound)), None) for bound in ("ge", "le")
    )
    return f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"
