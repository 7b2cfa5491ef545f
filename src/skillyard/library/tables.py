"""Settings files in TOML, JSON or JSON with comments: read as tables, replaced whole."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, cast

from skillyard.config.files import parse_toml
from skillyard.errors import InputError, LimitError, UnavailableError
from skillyard.files import replace_file
from skillyard.library.jsonc import MAX_BYTES, parse_jsonc

Table = dict[str, object]

_ABSENT: Final = object()


def read_table(path: Path) -> Table:
    """The settings in a file; a file that is not there has none."""
    value = read_value(path)
    if value is _ABSENT:
        return {}
    if not isinstance(value, dict):
        raise InputError(
            f"{path} holds {_kind(value)}, not a table of settings.",
            hint="Put the settings between { and }.",
            details={"file": str(path)},
        )
    return cast("Table", value)


def read_value(path: Path) -> object:
    """Whatever is in a file, or something that is neither a table nor a list when it is not there."""
    text = _read_text(path)
    if text is None:
        return _ABSENT
    return parse_toml(text, path) if path.suffix == ".toml" else parse_jsonc(text, file=str(path))


def table_in(table: Table, key: str) -> Table:
    """The table under a key; anything else there counts as nothing."""
    value = table.get(key)
    return cast("Table", value) if isinstance(value, dict) else {}


def list_in(table: Table, key: str) -> Sequence[object]:
    """The list under a key; anything else there counts as nothing."""
    value = table.get(key)
    return cast("list[object]", value) if isinstance(value, list) else ()


def text_in(table: Table, *keys: str) -> str:
    """The first of the keys that holds a text."""
    return next((value for key in keys if isinstance(value := table.get(key), str)), "")


def replace_text(path: Path, text: str) -> None:
    """Write a settings file whole; a link stays a link."""
    replace_file(path.resolve(), text.encode())


def _read_text(path: Path) -> str | None:
    # A pipe or a device in place of a settings file must not hold the reader up.
    if not path.is_file():
        return None
    try:
        data = path.read_bytes() if path.stat().st_size <= MAX_BYTES else None
    except OSError as error:
        raise UnavailableError(
            f"{path} cannot be read: {error.strerror}.",
            hint=f"Check it: ls -l {path}",
            details={"file": str(path)},
        ) from error
    if data is None:
        raise LimitError(
            f"{path} is larger than {MAX_BYTES:,} bytes.",
            hint="Make the file smaller.",
            details={"file": str(path), "limit": MAX_BYTES},
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text: byte {error.start} cannot be read.",
            hint=f"Save {path} as UTF-8.",
            details={"file": str(path)},
        ) from error


def _kind(value: object) -> str:
    if isinstance(value, list):
        return "a list"
    return "nothing" if value is None else f"the value {value!r}"
