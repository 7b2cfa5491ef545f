"""The on-disk index of a root: what each skill file said, keyed by its stat, so that it need not be read again.

It is a cache in columns, quick to load whole: a header line, the stamps as 64-bit numbers, then each column of
texts joined by NUL. Anything odd about the file (torn, older format, another root) means it is not used.
"""

import json
import os
import zlib
from array import array
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Final, NamedTuple, cast

from skillyard.skill.models import Finding, Severity

FORMAT: Final = 1


@dataclass(kw_only=True, slots=True)
class Rows:
    """One row per skill, in the order of the walk."""

    paths: str
    """Of the skill files, relative to the root, joined by NUL: compared whole, hardly ever one by one."""
    names: list[str]
    descriptions: list[str]
    """Empty for a skill that cannot be listed."""
    findings: list[str]
    """JSON, or empty when there is nothing to say."""
    stamps: "array[int]"


def index_file(index_dir: Path, root: str) -> Path:
    return index_dir / f"{sha256(os.fsencode(root)).hexdigest()[:32]}.index"


def load_rows(file: Path, root: str) -> Rows | None:
    """The rows kept for a root, or None when there are none that can be trusted."""
    try:
        data = file.read_bytes()
        start = data.index(b"\n") + 1
        header = _read_header(data[:start], root)
        payload = memoryview(data)[start:]
        if zlib.crc32(payload) != header.crc:
            return None
        stamps, *columns = (bytes(payload[begin:end]) for begin, end in pairwise(accumulate(header.sizes, initial=0)))
        paths, names, descriptions, findings = (column.decode("utf-8", "surrogatepass") for column in columns)
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return Rows(
        paths=paths,
        names=names.split("\0"),
        descriptions=descriptions.split("\0"),
        findings=findings.split("\0"),
        stamps=array("q", stamps),
    )


def save_rows(file: Path, root: str, rows: Rows) -> None:
    """Keep the rows for the next look; a root without skills needs no index, and a full disk is no error."""
    if not rows.paths:
        file.unlink(missing_ok=True)
        return
    texts = (rows.paths, *map("\0".join, (rows.names, rows.descriptions, rows.findings)))
    columns = (rows.stamps.tobytes(), *(text.encode("utf-8", "surrogatepass") for text in texts))
    payload = b"".join(columns)
    header = {"format": FORMAT, "root": root, "crc": zlib.crc32(payload), "sizes": [len(column) for column in columns]}
    beside = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(json.dumps(header).encode() + b"\n" + payload)
        beside.replace(file)
    except OSError:
        with suppress(OSError):
            beside.unlink()


def pack_findings(findings: Sequence[Finding]) -> str:
    return json.dumps([finding.as_dict() for finding in findings]) if findings else ""


def unpack_findings(text: str) -> tuple[Finding, ...]:
    if not text:
        return ()
    items = cast("list[dict[str, object]]", json.loads(text))
    return tuple(Finding(**{**item, "severity": Severity(str(item["severity"]))}) for item in items)  # pyright: ignore[reportArgumentType]


class _Header(NamedTuple):
    crc: int
    sizes: list[int]


def _read_header(line: bytes, root: str) -> _Header:
    values = json.loads(line)
    if values["format"] != FORMAT or values["root"] != root:
        raise ValueError
    return _Header(int(values["crc"]), [int(size) for size in values["sizes"]])
