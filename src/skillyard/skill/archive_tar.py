"""Reading tar archives, plain or gzipped, that nobody vouches for.

The standard `tarfile` follows chains of headers by recursion, trusts the sizes in them and, in many
releases, can be kept busy for minutes by a small file. Here every header is read once, in order, and what it
can ask for is bounded: bytes unpacked, entries, bytes of long names.
"""

import io
import re
import stat
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple

from skillyard.skill.archive_intake import ArchiveRefusedError, Intake, entry_path, ratio_limit, refused
from skillyard.skill.bundle import BundleFile, bundle_too_large
from skillyard.skill.limits import KIB, MAX_BUNDLE_BYTES, MIB
from skillyard.skill.paths import printable

GZIP_MAGIC: Final = b"\x1f\x8b"

_BLOCK: Final = 512
_CHUNK: Final = 64 * KIB
_MAX_STREAM: Final = 2 * MAX_BUNDLE_BYTES
"""What may come out of gzip: the files, their headers, and what is left out."""
_MAX_EXTENSION: Final = 64 * KIB
_MAX_EXTENSIONS: Final = 4 * MIB
"""For long names and other attributes, of one entry and of all."""

_OCTAL: Final = re.compile(rb"[0-7]*")
_DECIMAL: Final = re.compile(rb"[0-9]{1,18}")
_PAX_RECORD: Final = re.compile(rb"([0-9]{1,6}) ([^=\n]{1,256})=")
_POSIX_MAGIC: Final = b"ustar\0"
_BASE_256: Final = b"\x80"

_FILES: Final = frozenset({b"0", b"\0", b"7"})
_FOLDER: Final = b"5"
_LINKS: Final = frozenset({b"1", b"2"})
_SPECIAL: Final = frozenset({b"3", b"4", b"6"})
_GNU_LONG_NAME: Final = b"L"
_GNU_LONG_LINK: Final = b"K"
_PAX: Final = b"x"
_PAX_GLOBAL: Final = b"g"
_EXTENSIONS: Final = frozenset({_GNU_LONG_NAME, _GNU_LONG_LINK, _PAX, _PAX_GLOBAL})


class _Header(NamedTuple):
    name: bytes
    size: int
    mode: int
    kind: bytes


def is_tar(data: bytes) -> bool:
    """Whether the bytes start with a tar header."""
    try:
        return any(data[:_BLOCK]) and _header(data[:_BLOCK]) is not None
    except ArchiveRefusedError:
        return False


def read_tar(data: bytes, intake: Intake) -> None:
    """Takes the files out of a tar archive that is plain or gzipped."""
    stream = _Stream(_gunzipped(data) if data.startswith(GZIP_MAGIC) else _slices(data))
    for entry in _entries(stream, intake):
        _take(entry, stream, intake)
    stream.expect_end()


def _entries(stream: "_Stream", intake: Intake) -> Iterator[_Header]:
    """The header of each file, folder or link, with what the headers before it said about it."""
    attributes: dict[bytes, bytes] = {}
    spent = 0
    while (header := _header(stream.read(_BLOCK))) is not None:
        intake.count_entry()
        if header.kind not in _EXTENSIONS:
            yield _extended(header, attributes)
            attributes = {}
            continue
        spent += header.size
        if header.size > _MAX_EXTENSION or spent > _MAX_EXTENSIONS:
            raise refused("archive-forged", "The tar archive has names or attributes of an absurd length.")
        attributes |= _attributes(header.kind, stream.read_padded(header.size))


def _take(entry: _Header, stream: "_Stream", intake: Intake) -> None:
    path = entry_path(entry.name.decode(errors="surrogateescape"))
    is_folder = entry.kind == _FOLDER or (entry.kind in _FILES and entry.name.endswith(b"/"))
    is_file = entry.kind in _FILES and not is_folder
    if not (is_folder or is_file or entry.kind in _LINKS | _SPECIAL):
        raise refused("archive-unsupported", f"The entry '{printable(path)}' is neither file nor folder nor link.")
    if intake.leaves_out(path):
        stream.skip_padded(entry.size if is_file else 0)
    elif is_file:
        intake.admit(path, entry.size)
        content = stream.read_padded(entry.size)
        intake.files.append(BundleFile(path, content, bool(entry.mode & stat.S_IXUSR)))
    elif is_folder:
        intake.add_folder(path, entry.size)
    elif entry.kind in _LINKS:
        intake.report("link", path, "is a link")
    else:
        intake.report("special-file", path, "is no plain file")


def _header(block: bytes) -> _Header | None:
    """What one block says, or None for the empty block that ends an archive."""
    if not any(block):
        return None
    checksum = sum(block) - sum(block[148:156]) + 8 * ord(" ")
    if len(block) != _BLOCK or checksum != _number(block[148:156]):
        raise refused("archive-damaged", "The tar archive has a damaged header.")
    name = _text(block[:100])
    prefix = _text(block[345:500]) if block.startswith(_POSIX_MAGIC, 257) else b""
    return _Header(
        name=prefix + b"/" + name if prefix else name,
        size=_number(block[124:136]),
        mode=_number(block[100:108]),
        kind=block[156:157],
    )


def _text(field: bytes) -> bytes:
    # A NUL inside the name stays and is refused with it; other readers end the name there.
    return field.rstrip(b"\0")


def _number(field: bytes) -> int:
    if field[:1] == _BASE_256:
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b"\0 ")
    if not _OCTAL.fullmatch(digits):
        raise refused("archive-damaged", "The tar archive has a header with a damaged number.")
    return int(digits or b"0", 8)


def _attributes(kind: bytes, payload: bytes) -> dict[bytes, bytes]:
    """What an extension header says about the entry after it."""
    if kind == _GNU_LONG_NAME:
        return {b"path": payload.rstrip(b"\0")}
    if kind == _GNU_LONG_LINK:
        return {}
    records = dict(_pax_records(payload))
    if any(key.startswith(b"GNU.sparse") for key in records):
        raise refused("archive-unsupported", "The tar archive has sparse files.")
    if kind == _PAX:
        return records
    if not records.keys().isdisjoint({b"path", b"size", b"linkpath"}):
        raise refused("archive-forged", "The tar archive gives all its entries one name or size.")
    return {}


def _pax_records(payload: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The records `length key=value` of a header in pax form; the length counts the whole record."""
    position = 0
    while position < len(payload):
        match = _PAX_RECORD.match(payload, position)
        end = position + int(match[1]) if match else 0
        if match is None or end <= match.end() or payload[end - 1 : end] != b"\n":
            raise refused("archive-damaged", "The tar archive has damaged attributes.")
        yield match[2], payload[match.end() : end - 1]
        position = end


def _extended(header: _Header, attributes: dict[bytes, bytes]) -> _Header:
    size = attributes.get(b"size", b"")
    if size and not _DECIMAL.fullmatch(size):
        raise refused("archive-damaged", "The tar archive has a header with a damaged number.")
    return header._replace(name=attributes.get(b"path", header.name), size=int(size) if size else header.size)


class _Stream:
    """The bytes of a tar archive, read in order."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def read(self, size: int) -> bytes:
        content = io.BytesIO()  # hands its bytes over without a copy: a file may take half the memory allowed
        for piece in self._pieces(size):
            content.write(piece)
        return content.getvalue()

    def skip(self, size: int) -> None:
        for _ in self._pieces(size):
            pass

    def read_padded(self, size: int) -> bytes:
        content = self.read(size)
        self.skip(-size % _BLOCK)
        return content

    def skip_padded(self, size: int) -> None:
        self.skip(size + -size % _BLOCK)

    def expect_end(self) -> None:
        """Reads on to the end, where gzip has its checksum; only padding may be left."""
        if any(self._rest) or any(chunk.strip(b"\0") for chunk in self._chunks):
            raise refused("archive-forged", "The tar archive has bytes after its end.")

    def _pieces(self, size: int) -> Iterator[memoryview]:
        while size:
            if not self._rest:
                self._rest = memoryview(next(self._chunks, b""))
            if not self._rest:
                raise refused("archive-damaged", "The tar archive is cut off.")
            piece = self._rest[:size]
            self._rest = self._rest[len(piece) :]
            size -= len(piece)
            yield piece


def _slices(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), _CHUNK):
        yield data[start : start + _CHUNK]


def _gunzipped(data: bytes) -> Iterator[bytes]:
    inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
    total = 0
    source = _slices(data)
    while not inflater.eof:
        packed = inflater.unconsumed_tail or next(source, b"")
        try:
            chunk = inflater.decompress(packed, _CHUNK)
        except zlib.error as error:
            raise refused("archive-damaged", "The gzip archive cannot be unpacked.") from error
        if not (chunk or packed or inflater.eof):
            raise refused("archive-damaged", "The gzip archive is cut off.")
        total += len(chunk)
        if total > ratio_limit(len(data)):
            raise refused("archive-ratio", f"The archive of {len(data)} bytes unpacks to far too many.")
        if total > _MAX_STREAM:
            raise ArchiveRefusedError(bundle_too_large())
        if chunk:
            yield chunk
    if inflater.unused_data.strip(b"\0") or any(rest.strip(b"\0") for rest in source):
        raise refused("archive-forged", "The gzip archive has bytes after its end.")
