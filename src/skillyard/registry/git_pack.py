"""A git repository of one commit, made of files without git: the same files give the same bytes."""

import hashlib
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from skillyard.skill.bundle import BundleFile

_COMMIT: Final = 1
_TREE: Final = 2
_BLOB: Final = 3
_NAMES: Final = {_COMMIT: b"commit", _TREE: b"tree", _BLOB: b"blob"}
_PLAIN: Final = b"100644"
_EXECUTABLE: Final = b"100755"
_FOLDER: Final = b"40000"
_LEVEL: Final = 6
# No clock: the commit follows from its files alone.
_SIGNATURE: Final = b"Skillyard <skillyard@localhost> 0 +0000"
_MESSAGE: Final = b"The skills as they are shipped\n"

_Folder: TypeAlias = "dict[str, BundleFile | _Folder]"


@dataclass(frozen=True, kw_only=True, slots=True)
class Repository:
    """One commit and everything in it."""

    commit: str
    pack: bytes


def repository_of(files: Iterable[BundleFile]) -> Repository:
    """The repository whose only commit holds these files."""
    top: _Folder = {}
    for file in files:
        *parents, name = file.path.split("/")
        folder = top
        for parent in parents:
            inner = folder.setdefault(parent, {})
            assert not isinstance(inner, BundleFile)  # noqa: S101 -- a bundle has no file where it has a folder
            folder = inner
        folder[name] = file
    objects: dict[bytes, bytes] = {}
    tree = _add_folder(objects, top)
    text = b"tree %s\nauthor %s\ncommitter %s\n\n%s" % (tree.hex().encode(), _SIGNATURE, _SIGNATURE, _MESSAGE)
    commit = _add(objects, _COMMIT, text)
    body = b"PACK" + struct.pack(">II", 2, len(objects)) + b"".join(objects.values())
    return Repository(commit=commit.hex(), pack=body + _sha1(body))


def _add_folder(objects: dict[bytes, bytes], folder: _Folder) -> bytes:
    lines: list[tuple[bytes, bytes]] = []
    for name, item in folder.items():
        raw = name.encode()
        if isinstance(item, BundleFile):
            mode = _EXECUTABLE if item.executable else _PLAIN
            lines.append((raw, b"%s %s\0%s" % (mode, raw, _add(objects, _BLOB, item.data))))
        else:
            # Git sorts a folder as if its name ended with a slash.
            lines.append((raw + b"/", b"%s %s\0%s" % (_FOLDER, raw, _add_folder(objects, item))))
    return _add(objects, _TREE, b"".join(line for _, line in sorted(lines)))


def _add(objects: dict[bytes, bytes], kind: int, data: bytes) -> bytes:
    name = _sha1(b"%s %d\0%s" % (_NAMES[kind], len(data), data))
    if name not in objects:
        objects[name] = _entry_header(kind, len(data)) + zlib.compress(data, _LEVEL)
    return name


def _entry_header(kind: int, size: int) -> bytes:
    """Kind and size, as a pack has them: four bits of the size, then seven in each byte that follows."""
    byte, size = (kind << 4) | (size & 0x0F), size >> 4
    header = bytearray()
    while size:
        header.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    header.append(byte)
    return bytes(header)


def _sha1(data: bytes) -> bytes:
    return hashlib.sha1(data, usedforsecurity=False).digest()
