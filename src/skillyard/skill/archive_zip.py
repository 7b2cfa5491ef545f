"""Reading zip archives that nobody vouches for.

The standard `zipfile` makes an object of every entry before a limit can be applied, ends names at a NUL,
takes the UTF-8 names of common packers for another encoding and, in many releases, lets entries share bytes.
Here both descriptions of an entry must agree, entries must not overlap, and nothing is unpacked that was not
admitted.
"""

import stat
import struct
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple

from skillyard.skill.archive_intake import Intake, entry_path, ratio_limit, refused
from skillyard.skill.bundle import BundleFile
from skillyard.skill.limits import MIB
from skillyard.skill.paths import is_utf8, printable

_END: Final = struct.Struct("<4s4H2LH")
_END_SIGNATURE: Final = b"PK\x05\x06"
_MAX_COMMENT: Final = 0xFFFF
_MAX_DIRECTORY: Final = 4 * MIB
"""Enough for every entry that may be there; more is padding, made to be slow."""
_ZIP64_LOCATOR: Final = b"PK\x06\x07"
_ZIP64_LOCATOR_BYTES: Final = 20
_CENTRAL: Final = struct.Struct("<4s6H3L5H2L")
_CENTRAL_SIGNATURE: Final = b"PK\x01\x02"
_LOCAL: Final = struct.Struct("<4s5H3L2H")
_LOCAL_SIGNATURE: Final = b"PK\x03\x04"
_EXTRA: Final = struct.Struct("<2H")
_EXTRA_ZIP64: Final = 0x0001
_EXTRA_UNICODE_PATH: Final = 0x7075
_ZIP64_SIZES: Final = struct.Struct("<2Q")
_IN_ZIP64: Final = 0xFFFFFFFF
_STORED: Final = 0
_DEFLATED: Final = 8
_ENCRYPTED: Final = 1 << 0 | 1 << 6 | 1 << 13
_SIZES_FOLLOW: Final = 1 << 3
_PATCH: Final = 1 << 5


class _Entry(NamedTuple):
    raw_name: bytes
    path: str
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    mode: int
    offset: int

    @property
    def is_folder(self) -> bool:
        return self.raw_name.endswith(b"/") or stat.S_ISDIR(self.mode)


def read_zip(data: bytes, intake: Intake) -> None:
    start, entries = _directory(data, intake)
    spans = _spans(data, entries, start)
    admitted = [entry for entry in entries if _admits(entry, intake)]
    if sum(entry.size for entry in admitted) > ratio_limit(len(data)):
        raise refused("archive-ratio", f"The archive of {len(data)} bytes unpacks to far too many.")
    for entry in admitted:
        content = _content(data, entry, spans[entry.offset])
        intake.files.append(BundleFile(entry.path, content, bool(entry.mode & stat.S_IXUSR)))


def _directory(data: bytes, intake: Intake) -> tuple[int, list[_Entry]]:
    """Where the central directory starts, and its entries."""
    position = data.rfind(_END_SIGNATURE, max(0, len(data) - _END.size - _MAX_COMMENT))
    if position < 0 or position + _END.size > len(data):
        raise refused("archive-damaged", "The zip archive has no end record; it is cut off or damaged.")
    _, disk, first_disk, here, count, size, start, comment = _END.unpack_from(data, position)
    if data[max(0, position - _ZIP64_LOCATOR_BYTES) : position].startswith(_ZIP64_LOCATOR):
        raise refused("archive-unsupported", "The zip archive is in the form for files of over 4 GiB (zip64).")
    if position + _END.size + comment != len(data) or start + size != position:
        raise refused("archive-forged", "The zip archive's end record does not fit what is before or after it.")
    if size > _MAX_DIRECTORY:
        raise refused("archive-forged", f"The zip archive's list of entries has {size:,} bytes.")
    if disk or first_disk or here != count:
        raise refused("archive-unsupported", "The zip archive is one of several volumes.")
    entries: list[_Entry] = []
    for _ in range(count):
        intake.count_entry()
        entry, start = _central_entry(data, start, position)
        entries.append(entry)
    if start != position:
        raise refused("archive-forged", f"The zip archive lists other entries than the {count} it counts.")
    return position - size, entries


def _central_entry(data: bytes, position: int, end: int) -> tuple[_Entry, int]:
    name_at = position + _CENTRAL.size
    if name_at > end or not data.startswith(_CENTRAL_SIGNATURE, position):
        raise refused("archive-damaged", "The zip archive's list of entries is damaged.")
    _, _, _, flags, method, _, _, crc, packed, size, *lengths, _, _, attributes, offset = _CENTRAL.unpack_from(
        data, position
    )
    name_length, extra_length, comment_length = lengths
    extra_at = name_at + name_length
    next_at = extra_at + extra_length + comment_length
    if next_at > end:
        raise refused("archive-damaged", "The zip archive's list of entries is damaged.")
    raw_name = data[name_at:extra_at]
    entry = _Entry(
        raw_name=raw_name,
        path=entry_path(_decoded(raw_name, data[extra_at : extra_at + extra_length])),
        flags=flags,
        method=method,
        crc=crc,
        packed=packed,
        size=size,
        mode=attributes >> 16,
        offset=offset,
    )
    return entry, next_at


def _decoded(raw_name: bytes, extra: bytes) -> str:
    """The name as text: packers write UTF-8, with or without saying so, in the name or in a second one."""
    name = raw_name.decode(errors="surrogateescape")
    field = next((value for kind, value in _extras(extra) if kind == _EXTRA_UNICODE_PATH), b"")
    # The second name comes after a version byte and a checksum of the first.
    checksum, second = int.from_bytes(field[1:5], "little"), field[5:]
    if not second or second == raw_name:
        return name
    if is_utf8(name) or checksum != zlib.crc32(raw_name):
        raise refused("archive-forged", f"The entry '{printable(name)}' has a second, different name.")
    return second.decode(errors="surrogateescape")


def _extras(extra: bytes) -> Iterator[tuple[int, bytes]]:
    position = 0
    while position + _EXTRA.size <= len(extra):
        kind, length = _EXTRA.unpack_from(extra, position)
        position += _EXTRA.size
        yield kind, extra[position : position + length]
        position += length


def _spans(data: bytes, entries: list[_Entry], end: int) -> dict[int, int]:
    """Where the bytes of each entry start, by the entry's offset; no two entries may share any."""
    starts: dict[int, int] = {}
    free_from = 0
    for entry in sorted(entries, key=lambda entry: entry.offset):
        name = printable(entry.path)
        if entry.offset < free_from:
            raise refused("archive-forged", f"The entry '{name}' shares bytes with another.")
        start = _local_end(data, entry, end)
        free_from = start + entry.packed
        if free_from > end:
            raise refused("archive-forged", f"The entry '{name}' claims more bytes than there are.")
        starts[entry.offset] = start
    return starts


def _local_end(data: bytes, entry: _Entry, end: int) -> int:
    """The end of the header before an entry's bytes, once it is found to agree with the central directory."""
    name = printable(entry.path)
    name_at = entry.offset + _LOCAL.size
    if name_at > end or not data.startswith(_LOCAL_SIGNATURE, entry.offset):
        raise refused("archive-forged", f"The entry '{name}' is not where the archive says.")
    _, _, flags, method, _, _, crc, packed, size, name_length, extra_length = _LOCAL.unpack_from(data, entry.offset)
    extra_at = name_at + name_length
    if _IN_ZIP64 in {packed, size}:
        packed, size = _zip64_sizes(data[extra_at : extra_at + extra_length], packed, size)
    # A packer that writes to a pipe knows checksum and sizes only afterwards and leaves zeros here.
    unsaid = {0} if flags & _SIZES_FOLLOW else set[int]()
    if (
        data[name_at:extra_at] != entry.raw_name
        or method != entry.method
        or (flags ^ entry.flags) & (_ENCRYPTED | _PATCH)
        or crc not in unsaid | {entry.crc}
        or packed not in unsaid | {entry.packed}
        or size not in unsaid | {entry.size}
    ):
        raise refused("archive-forged", f"The two descriptions of the entry '{name}' differ.")
    return extra_at + extra_length


def _zip64_sizes(extra: bytes, packed: int, size: int) -> tuple[int, int]:
    for kind, value in _extras(extra):
        if kind == _EXTRA_ZIP64 and len(value) >= _ZIP64_SIZES.size:
            size, packed = _ZIP64_SIZES.unpack_from(value)
    return packed, size


def _admits(entry: _Entry, intake: Intake) -> bool:
    kind = stat.S_IFMT(entry.mode)
    if intake.leaves_out(entry.path):
        return False
    if entry.is_folder:
        intake.add_folder(entry.path, entry.size)
    elif kind == stat.S_IFLNK:
        intake.report("link", entry.path, "is a link")
    elif kind not in {0, stat.S_IFREG}:
        intake.report("special-file", entry.path, "is no plain file")
    elif entry.flags & _ENCRYPTED:
        intake.report("archive-encrypted", entry.path, "is encrypted")
    elif entry.method not in {_STORED, _DEFLATED} or entry.flags & _PATCH:
        intake.report("archive-unsupported", entry.path, f"is packed by method {entry.method}, not by deflate")
    else:
        intake.admit(entry.path, entry.size)
        return True
    return False


def _content(data: bytes, entry: _Entry, start: int) -> bytes:
    packed = memoryview(data)[start : start + entry.packed]
    name = printable(entry.path)
    if entry.method == _STORED:
        content = bytes(packed)
        whole = len(content) == entry.size
    else:
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            content = inflater.decompress(packed, entry.size + 1)
        except zlib.error as error:
            raise refused("archive-damaged", f"The entry '{name}' cannot be unpacked.") from error
        whole = len(content) == entry.size and inflater.eof and not inflater.unused_data
    if not whole:
        raise refused("archive-forged", f"The entry '{name}' is not of the size the archive says.")
    if zlib.crc32(content) != entry.crc:
        raise refused("archive-damaged", f"The entry '{name}' does not match its checksum.")
    return content
