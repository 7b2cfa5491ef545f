"""One file of a bundle, made readable whatever its name, encoding and hidden characters."""

import codecs
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from pathlib import PurePosixPath
from typing import Final

from skillyard.skill.bundle import BundleFile
from skillyard.skill.markdown import Span, comments, fenced_blocks
from skillyard.skill.scan.invisible import INVISIBLE

_MARKDOWN: Final = frozenset({".md", ".markdown", ".mdx"})
_DOCUMENTS: Final = frozenset({".txt", ".rst", ".adoc", ".org"})
_ENCODINGS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MOST_HIDDEN: Final = 20_000
"""With more hidden characters a file is refused anyway; taking them all out could take all memory."""
_SNIFFED: Final = 8192
"""How far a zero byte is looked for to call a file binary, as git does."""


class Form(Enum):
    """Who reads a file: a person or an agent, an interpreter, or neither."""

    MARKDOWN = auto()
    DOCUMENT = auto()
    CODE = auto()
    BINARY = auto()


@dataclass(frozen=True, kw_only=True)
class Page:
    """A file as the rules see it: UTF-8, nothing invisible, and a lower-case twin of equal length."""

    path: str
    data: bytes
    """The bytes as they are in the bundle."""
    utf8: bytes
    """The same as UTF-8, hidden characters still in."""
    form: Form

    @cached_property
    def text(self) -> bytes:
        """Without hidden characters, so that they cannot split a word the rules look for."""
        return self.utf8 if self.utf8.isascii() else INVISIBLE.sub(b"", self.utf8, count=_MOST_HIDDEN)

    @cached_property
    def lower(self) -> bytes:
        return self.text.lower()

    @property
    def is_document(self) -> bool:
        return self.form in {Form.MARKDOWN, Form.DOCUMENT}

    @cached_property
    def blocks(self) -> tuple[Span, ...]:
        return fenced_blocks(self.text) if self.form is Form.MARKDOWN else ()

    @cached_property
    def comments(self) -> tuple[Span, ...]:
        return comments(self.text, self.blocks) if self.form is Form.MARKDOWN else ()


def read_page(file: BundleFile) -> Page:
    utf8 = _as_utf8(file.data)
    return Page(path=file.path, data=file.data, utf8=utf8, form=_form(file.path, utf8))


def _as_utf8(data: bytes) -> bytes:
    for mark, encoding in _ENCODINGS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace").encode(errors="replace")
    return data


def _form(path: str, utf8: bytes) -> Form:
    name = PurePosixPath(path)
    suffix = name.suffix.lower()
    if utf8.startswith(b"#!"):
        return Form.CODE
    if suffix in _MARKDOWN:
        return Form.MARKDOWN
    if b"\0" in utf8[:_SNIFFED]:
        return Form.BINARY
    is_title = not suffix and name.name.isupper()
    return Form.DOCUMENT if suffix in _DOCUMENTS or is_title else Form.CODE
