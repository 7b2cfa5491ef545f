"""Reading and editing configuration files: TOML, comments kept, every mistake named."""

import difflib
import json
import os
import re
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

from skillyard.config.paths import default_home, is_inside, user_config_file
from skillyard.errors import InputError, NotAllowedError, NotFoundError, SkillyardError

SPELLINGS: Final = {"activeEnvironment": "active_environment"}
"""Other spellings of a key that files may use."""

MAX_BYTES: Final = 256 * 1024
"""Of a configuration file."""

MAX_KEY_DEPTH: Final = 64
_DEEP_KEY: Final = re.compile(
    rf"""(?<![\w.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MAX_KEY_DEPTH}}}"""
)
"""A dotted key that the parser would take quadratic time for."""

PATH_KEYS: Final = frozenset({"home", "document_root", "roots", "environments", "chromium"})
PROJECT_KEYS: Final = ("active_environment", "max_depth", "prompt_budget", "roots")
"""What a project's file may set. It comes with a clone, so it may neither write, read nor open anything outside."""


def read_config_file(path: Path, *, keys: Iterable[str]) -> dict[str, Any]:
    """The settings in a file, by their own names, relative paths made relative to the file's folder."""
    text = _read_text(path)
    if text is None:
        return {}
    values: dict[str, Any] = {}
    for written, value in parse_toml(text, path).items():
        key = known_key(written, keys=keys, file=path)
        if key in values:
            raise InputError(
                f"{path} sets {key!r} twice, once as {written!r}.",
                hint=f"Keep one of the two lines in {path}.",
                details={"file": str(path), "field": key},
            )
        if key == "roots" and isinstance(value, str):
            value = split_roots(value)  # noqa: PLW2901 -- each of them is relative to the file
        values[key] = _beside(path.parent, value) if key in PATH_KEYS else value
    return values


def home_folder() -> Path:
    """The setting `home` alone."""
    return folder_setting("home") or default_home()


def folder_setting(key: str) -> Path | None:
    """One setting that names a folder; loading all settings would take longer than loading many skills."""
    # Loading all settings reports a value that cannot be used.
    with suppress(SkillyardError, OSError, RuntimeError):
        named = os.environ.get(f"SKILLYARD_{key.upper()}")
        if not named:
            file = user_config_file()
            named = _beside(file.parent, parse_toml(_read_text(file) or "", file).get(key))
        if named:
            return Path(str(named)).expanduser().absolute()
    return None


def _read_text(path: Path) -> str | None:
    # A pipe or a device in place of the file must not hold the reader up.
    if not path.is_file():
        return None
    if path.stat().st_size > MAX_BYTES:
        raise InputError(
            f"{path} has {path.stat().st_size:,} bytes; at most {MAX_BYTES:,} are read.",
            hint=f"Shorten {path}.",
            details={"file": str(path), "limit": MAX_BYTES},
        )
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text: byte {error.start} cannot be read.",
            hint=f"Save {path} as UTF-8.",
            details={"file": str(path)},
        ) from error


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """The table in a TOML file; what is wrong with it is an error that names the file."""
    try:
        if _DEEP_KEY.search(text):
            raise ValueError(f"a key has more than {MAX_KEY_DEPTH} parts")
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path} is not valid TOML: {error}",
            hint=f"Correct that line of {path}; strings need quotes.",
            details={"file": str(path)},
        ) from error


def read_project_file(path: Path, *, keys: Iterable[str]) -> dict[str, Any]:
    """The settings in a project's file, which strangers may have written: only what a project may decide."""
    values = read_config_file(path, keys=keys)
    for key, value in values.items():
        check_project_value(path, key, value)
    return values


def check_project_value(path: Path, key: str, value: object) -> None:
    """Refuse what a project's file may not set: other keys, and roots outside the project's folder."""
    if key not in PROJECT_KEYS:
        raise NotAllowedError(
            f"{path} sets {key!r}, which a project may not decide.",
            hint=f"Take it out of {path}; to set it for yourself: skillyard config set {key} VALUE",
            details={"file": str(path), "field": key, "allowed": list(PROJECT_KEYS)},
        )
    for root in split_roots(value) if key == "roots" else ():  # what is no text, the model refuses
        if isinstance(root, str) and not is_inside(path.parent, Path(root).expanduser()):
            raise NotAllowedError(
                f"{path} sets 'roots' to {root!r}, which is outside the project.",
                hint=f"Name folders below {path.parent} only; for others: skillyard config set roots {root}",
                details={"file": str(path), "field": key, "value": root},
            )


def portable(path: Path, key: str, value: object) -> object:
    """A checked value as a project's file should hold it: roots relative to the file, true in every clone."""
    if key != "roots":
        return value
    return [os.path.relpath(str(root), path.parent) for root in split_roots(value)]


def split_roots(value: object) -> list[object]:
    """The folders in a value of `roots`: a list, as such or in JSON, or one text separated like `PATH`."""
    if isinstance(value, str):
        return _json_list(value) or [part for part in value.split(os.pathsep) if part]
    return list(cast("Iterable[object]", value)) if isinstance(value, list | tuple) else [value]


def _json_list(text: str) -> list[object]:
    # A folder's own name may start with a bracket: what is no JSON is no list.
    try:
        value = json.loads(text) if text.lstrip().startswith("[") else None
    except (ValueError, RecursionError):
        return []
    return cast("list[object]", value) if isinstance(value, list) else []


def known_key(written: str, *, keys: Iterable[str], file: Path | None = None) -> str:
    """The setting that a key means; an unknown one is an error that names the nearest."""
    names = list(keys)
    key = SPELLINGS.get(written, written)
    if key in names:
        return key
    near = difflib.get_close_matches(key, names, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"The settings are: {', '.join(sorted(names))}."
    if file is None:
        raise NotFoundError(f"There is no setting {written!r}.", hint=hint, details={"field": written})
    raise InputError(
        f"{file} has an unknown setting {written!r}.",
        hint=hint,
        details={"file": str(file), "field": written, "nearest": near[0] if near else ""},
    )


def write_key(path: Path, key: str, value: object | None) -> bool:
    """Put one setting into a file, or take it out when `value` is None; everything else stays as it is.

    Tells whether there was anything to write.
    """
    import tomlkit  # noqa: PLC0415 -- only editing needs it

    text = _read_text(path) or ""
    parse_toml(text, path)  # says what is wrong in plainer words than the editing parser
    document = tomlkit.parse(text)
    spelling = next((word for word, name in SPELLINGS.items() if name == key and word in document), key)
    if value is not None:
        document[spelling] = value
    elif spelling in document:
        del document[spelling]
    else:
        return False
    from skillyard.files import replace_file  # noqa: PLC0415 -- only editing needs it

    replace_file(path.resolve(), tomlkit.dumps(document).encode())
    return True


def _beside(folder: Path, value: Any) -> Any:  # noqa: ANN401 -- wrong types are reported by the model
    if isinstance(value, str):
        return value if value.startswith("~") else str(folder / value)
    if isinstance(value, list):
        return [_beside(folder, item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value
