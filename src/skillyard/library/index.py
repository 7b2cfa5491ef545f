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
from operator import ne
from pathlib import Path
from typing import Final, NamedTuple, cast

from skillyard.files import make_folder
from skillyard.library.walk import STAMP_FIELDS
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

    def stamp(self, at: int) -> "array[int]":
        return self.stamps[at * STAMP_FIELDS : (at + 1) * STAMP_FIELDS]

    def unsettle(self, at: int) -> None:
        """Forget a row's stamp, so that its file is read again at the next look."""
        self.stamps[at * STAMP_FIELDS] = 0


def carry_over(kept: Rows | None, *, paths: list[str], stamps: "array[int]") -> tuple[Rows, list[int]]:
    """Rows for these paths, filled from those kept where the stamps are equal, and which are still to be filled."""
    count = len(paths)
    joined = "\0".join(paths)
    if kept is not None and kept.paths == joined:
        columns = (kept.names.copy(), kept.descriptions.copy(), kept.findings.copy())
        fields = range(STAMP_FIELDS)
        differences = [map(ne, stamps[field::STAMP_FIELDS], kept.stamps[field::STAMP_FIELDS]) for field in fields]
        stale = [at for at, differs in enumerate(zip(*differences, strict=True)) if True in differs]
    else:
        columns = ([""] * count, [""] * count, [""] * count)
        stale = list(range(count)) if kept is None else _fill(columns, kept, paths, stamps)
    names, descriptions, findings = columns
    rows = Rows(paths=joined, names=names, descriptions=descriptions, findings=findings, stamps=stamps)
    return rows, stale


def _fill(
    columns: tuple[list[str], list[str], list[str]], kept: Rows, paths: list[str], stamps: "array[int]"
) -> list[int]:
    stale: list[int] = []
    position = {path: at for at, path in enumerate(kept.paths.split("\0"))}
    for at, path in enumerate(paths):
        old = position.get(path, -1)
        if old < 0 or kept.stamp(old) != stamps[at * STAMP_FIELDS : (at + 1) * STAMP_FIELDS]:
            stale.append(at)
            continue
        for column, source in zip(columns, (kept.names, kept.descriptions, kept.findings), strict=True):
            column[at] = source[old]
    return stale


def index_dir(home: Path) -> Path:
    """Where in the home the indexes of folders are kept."""
    return home / "index"


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
        stamps, *columns = (payload[begin:end] for begin, end in pairwise(accumulate(header.sizes, initial=0)))
        paths, names, descriptions, findings = (str(column, "utf-8", "surrogatepass") for column in columns)
        numbers = array("q")
        numbers.frombytes(stamps)
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
    rows = Rows(
        paths=paths,
        names=names.split("\0"),
        descriptions=descriptions.split("\0"),
        findings=findings.split("\0"),
        stamps=numbers,
    )
    count = paths.count("\0") + 1
    whole = len(rows.names) == len(rows.descriptions) == len(rows.findings) == count
    return rows if whole and len(numbers) == STAMP_FIELDS * count else None


def save_rows(file: Path, root: str, rows: Rows) -> None:
    """Keep the rows for the next look; a root without skills needs no index, and a full disk is no error."""
    if not rows.paths:
        with suppress(OSError):
            file.unlink(missing_ok=True)
        return
    texts = (rows.paths, *map("\0".join, (rows.names, rows.descriptions, rows.findings)))
    columns = (rows.stamps.tobytes(), *(text.encode("utf-8", "surrogatepass") for text in texts))
    payload = b"".join(columns)
    header = {"format": FORMAT, "root": root, "crc": zlib.crc32(payload), "sizes": [len(column) for column in columns]}
    beside = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        make_folder(file.parent)
        beside.write_bytes(json.dumps(header).encode() + b"\n" + payload)
        beside.replace(file)
    except OSError:
        with suppress(OSError):
            beside.unlink()


def pack_findings(findings: Sequence[Finding]) -> str:
    return json.dumps([finding.as_dict() for finding in findings]) if findings else ""


def unpack_findings(text: str) -> tuple[Finding, ...]:
    """What is wrong with a skill that cannot be listed; never nothing, even when the index lost it."""
    try:
        items = cast("list[dict[str, object]]", json.loads(text))
        findings = tuple(Finding(**{**item, "severity": Severity(str(item["severity"]))}) for item in items)  # pyright: ignore[reportArgumentType]
    except (ValueError, TypeError, KeyError, RecursionError):
        findings = ()
    return findings if findings and all(map(_is_sound, findings)) else (_LOST,)


def _is_sound(finding: Finding) -> bool:
    texts = (finding.code, finding.message, finding.fix, finding.field, finding.file)
    return all(isinstance(text, str) for text in texts) and isinstance(finding.line, int)  # pyright: ignore[reportUnnecessaryIsInstance] -- anyone may have written the index


_LOST: Final = Finding(
    code="unreadable",
    severity=Severity.ERROR,
    message="It cannot be used; what is wrong with it was lost.",
    fix="`skillyard validate` on its folder says what is wrong.",
)


class _Header(NamedTuple):
    crc: int
    sizes: list[int]


def _read_header(line: bytes, root: str) -> _Header:
    values = json.loads(line)
    if values["format"] != FORMAT or values["root"] != root:
        raise ValueError
    return _Header(int(values["crc"]), [int(size) for size in values["sizes"]])
