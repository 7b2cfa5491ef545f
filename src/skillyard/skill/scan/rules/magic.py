"""What a file is by its first bytes, for the kinds that nobody can review by reading."""

from enum import Enum, auto
from typing import Final, NamedTuple


class Family(Enum):
    BYTECODE = auto()
    PROGRAM = auto()
    ARCHIVE = auto()


class Kind(NamedTuple):
    family: Family
    name: str


LOCKED_ZIP: Final = Kind(Family.ARCHIVE, "an encrypted ZIP archive")
_ZIP: Final = Kind(Family.ARCHIVE, "a ZIP archive")
_TAR: Final = Kind(Family.ARCHIVE, "a TAR archive")
_BZIP2: Final = Kind(Family.ARCHIVE, "a bzip2 file")
_MACH_O: Final = Kind(Family.PROGRAM, "a Mach-O program")
_WINDOWS: Final = Kind(Family.PROGRAM, "a Windows program")
_PYTHON: Final = Kind(Family.BYTECODE, "compiled Python")
_JAVA: Final = Kind(Family.BYTECODE, "compiled Java")

_STARTS: Final = (
    (b"\x7fELF", Kind(Family.PROGRAM, "an ELF program")),
    (b"\xfe\xed\xfa\xce", _MACH_O),
    (b"\xfe\xed\xfa\xcf", _MACH_O),
    (b"\xce\xfa\xed\xfe", _MACH_O),
    (b"\xcf\xfa\xed\xfe", _MACH_O),
    (b"\0asm", Kind(Family.BYTECODE, "WebAssembly")),
    (b"dex\n03", Kind(Family.BYTECODE, "compiled Android code")),
    (b"\x1bLua", Kind(Family.BYTECODE, "compiled Lua")),
    (b"\x1f\x8b\x08", Kind(Family.ARCHIVE, "a gzip file")),
    (b"\xfd7zXZ\0", Kind(Family.ARCHIVE, "an xz file")),
    (b"7z\xbc\xaf\x27\x1c", Kind(Family.ARCHIVE, "a 7-Zip archive")),
    (b"Rar!\x1a\x07", Kind(Family.ARCHIVE, "a RAR archive")),
    (b"\x28\xb5\x2f\xfd", Kind(Family.ARCHIVE, "a zstd file")),
    (b"MSCF\0\0\0\0", Kind(Family.ARCHIVE, "a cabinet archive")),
    (b"!<arch>\n", Kind(Family.ARCHIVE, "an ar archive")),
    (b"\xed\xab\xee\xdb", Kind(Family.ARCHIVE, "an RPM package")),
    (b"Cr24", Kind(Family.ARCHIVE, "a browser extension")),
)
_OLDEST_JAVA: Final = 43
_PYTHON_HEADER: Final = 16
_PYTHON_NUMBERS: Final = (range(3000, 4000), range(20000, 21000), range(50000, 63000))
"""Python 3 numbers its bytecode from 3000 on, Python 2 did from 20121 and later from 50428 on."""


def kind_of(data: bytes) -> Kind | None:
    for start, kind in _STARTS:
        if data.startswith(start):
            return kind
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return LOCKED_ZIP if data[6:7] and data[6] & 1 else _ZIP
    if data.startswith(b"\xca\xfe\xba\xbe"):
        # Both start alike; then a Mach-O file counts its few parts where Java writes its version.
        return _MACH_O if int.from_bytes(data[4:8]) < _OLDEST_JAVA else _JAVA
    if data.startswith(b"MZ") and data[int.from_bytes(data[60:64], "little") :].startswith(b"PE\0\0"):
        return _WINDOWS
    if data.startswith(b"BZh") and data[4:10] == b"1AY&SY":
        return _BZIP2
    if data[2:4] == b"\r\n" and len(data) > _PYTHON_HEADER and _is_python(data):
        return _PYTHON
    return _TAR if data[257:262] == b"ustar" else None


def _is_python(data: bytes) -> bool:
    number = int.from_bytes(data[:2], "little")
    return any(number in numbers for numbers in _PYTHON_NUMBERS)
