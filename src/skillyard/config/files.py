"""Reading and editing configuration files: TOML, comments kept, every mistake named."""

import difflib
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from skillyard.errors import InputError, NotFoundError

SPELLINGS: Final = {"activeEnvironment": "active_environment"}
"""Other spellings of a key that files may use."""

PATH_KEYS: Final = frozenset({"home", "document_root", "roots"})


def read_config_file(path: Path, *, keys: Iterable[str]) -> dict[str, Any]:
    """The settings in a file, by their own names, relative paths made relative to the file's folder."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text: byte {error.start} cannot be read.",
            hint=f"Save {path} as UTF-8.",
            details={"file": str(path)},
        ) from error
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(
            f"{path} is not valid TOML: {error}",
            hint=f"Correct that line of {path}; strings need quotes.",
            details={"file": str(path)},
        ) from error
    values: dict[str, Any] = {}
    for written, value in table.items():
        key = known_key(written, keys=keys, file=path)
        if key in values:
            raise InputError(
                f"{path} sets {key!r} twice, once as {written!r}.",
                hint=f"Keep one of the two lines in {path}.",
                details={"file": str(path), "field": key},
            )
        values[key] = _beside(path.parent, value) if key in PATH_KEYS else value
    return values


def known_key(written: str, *, keys: Iterable[str], file: Path | None = None) -> str:
    """The setting that a key means; an unknown one is an error that names the nearest."""
    names = list(keys)
    key = SPELLINGS.get(written, written)
    if key in names:
        return key
    near = difflib.get_close_matches(key, names, n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]!r}?" if near else f"The settings are: {', '.join(sorted(names))}."
    if file is None:
        raise NotFoundError(f"There is no setting {written!r}.", hint=hint, details={"field": written})
    raise InputError(
        f"{file} has an unknown setting {written!r}.",
        hint=hint,
        details={"file": str(file), "field": written, "nearest": near[0] if near else ""},
    )


def write_key(path: Path, key: str, value: object | None) -> None:
    """Put one setting into a file, or take it out when `value` is None; everything else stays as it is."""
    import tomlkit  # noqa: PLC0415 -- only editing needs it
    from tomlkit.exceptions import ParseError  # noqa: PLC0415

    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        if value is None:
            return
        document = tomlkit.document()
    except (ParseError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} cannot be edited: {error}",
            hint=f"Correct {path} first, then run the command again.",
            details={"file": str(path)},
        ) from error
    spelling = next((word for word, name in SPELLINGS.items() if name == key and word in document), key)
    if value is not None:
        document[spelling] = value
    elif spelling in document:
        del document[spelling]
    from skillyard.files import replace_file  # noqa: PLC0415 -- only editing needs it

    replace_file(path.resolve(), tomlkit.dumps(document).encode())


def _beside(folder: Path, value: Any) -> Any:  # noqa: ANN401 -- wrong types are reported by the model
    if isinstance(value, str):
        return value if value.startswith("~") else str(folder / value)
    if isinstance(value, list):
        return [_beside(folder, item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value
