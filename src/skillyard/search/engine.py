"""The search engine's index: its fields, how documents get in, and how far it has followed its source."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import tantivy

from skillyard.search.documents import MAX_BODY, MAX_SHOWN, MAX_SUMMARY, Document
from skillyard.search.tokens import ANALYZER, analyzer, encodable, prepared, split_names

FORMAT: Final = 1
"""Raised whenever fields or tokens change: an index of another format is built anew."""
MARK: Final = "\x00mark"
"""The key of the one document that is no skill: it says how far the index has followed its source."""
AUDIENCE: Final = "audience"
"""The field with the number of the one audience that may see a document."""
SEVERAL: Final = 0
"""Stands there when there is not just one."""
BUILDERS: Final = 2
"""Threads that build a large index."""
_HEAP: Final = 250_000_000
"""Bytes of memory that each may take before it writes a segment: the fewer of them, the quicker is every search."""


def new_index(path: str | None = None) -> tantivy.Index:
    """An index in a folder, in which there may be one already, or in memory."""
    index = tantivy.Index(_schema(), path)
    index.register_tokenizer(ANALYZER, analyzer())
    return index


def writer(index: tantivy.Index, *, threads: int = 1) -> tantivy.IndexWriter:
    """The one writer of an index; `ValueError` when another process has it."""
    return index.writer(_HEAP * threads, threads)


def add(writer: tantivy.IndexWriter, documents: Iterable[Document]) -> None:
    """Add documents to an index that has none of their keys, which is much quicker than to replace them."""
    for document in documents:
        writer.add_document(_engine_document(document))


def put(writer: tantivy.IndexWriter, documents: Iterable[Document]) -> None:
    """Add documents, each in place of one with the same key."""
    for document in documents:
        writer.delete_documents_by_term("key", encodable(document.key))
        writer.add_document(_engine_document(document))


def drop(writer: tantivy.IndexWriter, keys: Iterable[str]) -> None:
    for key in keys:
        writer.delete_documents_by_term("key", encodable(key))


def set_mark(writer: tantivy.IndexWriter, mark: str) -> None:
    drop(writer, [MARK])
    document = tantivy.Document()
    document.add_text("key", MARK)
    document.add_bytes("shown", mark.encode())
    writer.add_document(document)


def mark_of(index: tantivy.Index) -> str:
    """How far the index has followed its source; empty when it never did."""
    searcher = index.searcher()
    query = tantivy.Query.term_query(index.schema, "key", MARK, "basic")
    for _, address in searcher.search(query, 1, count=False).hits:
        return bytes(searcher.doc(address)["shown"][0]).decode()
    return ""


class Kept(NamedTuple):
    """What the index keeps of a document, to show it."""

    key: str
    name: str
    description: str
    body: str


def kept(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> Kept:
    return Kept(*json.loads(bytes(searcher.doc(address)["shown"][0])))


def reckoned(searcher: tantivy.Searcher, schema: tantivy.Schema) -> int:
    """How many documents the engine's scores reckon with: also those that were dropped and are not yet merged away."""
    for _, address in searcher.search(tantivy.Query.all_query(), 1, count=False).hits:
        query = tantivy.Query.term_query(schema, "key", searcher.doc(address)["key"][0], "basic")
        explained = json.loads(query.explain(searcher, address).to_json())
        return next(int(part["value"]) for part in _parts(explained) if part["description"].startswith("N,"))
    return 0


def finds_all(searcher: tantivy.Searcher, schema: tantivy.Schema, query: tantivy.Query) -> bool:
    """Whether there is no document that a query does not find."""
    mark = tantivy.Query.term_query(schema, "key", MARK, "basic")
    others = tantivy.Query.all_query().and_must_not_match(query, mark)
    return not searcher.search(others, 1, count=False).hits


def _parts(explained: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield explained
    for part in explained.get("details", ()):
        yield from _parts(part)


def number_of(key: str) -> int:
    """A key or a name as a number, which the engine compares and reads much quicker than text."""
    return int.from_bytes(hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=8).digest())


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for field in ("key", "exact", "seen_by", "label"):
        builder.add_text_field(field, stored=field == "key", tokenizer_name="raw", index_option="basic")
    for field in ("whole", "summary", "name"):
        builder.add_text_field(field, tokenizer_name=ANALYZER, index_option="freq")
    builder.add_unsigned_field("number", indexed=True, fast=True)
    for field in ("namesake", "length", AUDIENCE):
        builder.add_unsigned_field(field, fast=True)
    builder.add_bytes_field("shown", stored=True)
    return builder.build()


def _engine_document(document: Document) -> tantivy.Document:
    name = prepared(split_names(document.name[:MAX_SUMMARY]))
    described = f"{document.description} {' '.join(document.tags)}"
    summary = f"{name} {prepared(split_names(described[:MAX_SUMMARY]))}"
    made = tantivy.Document()
    whole = f"{summary} {prepared(document.body[:MAX_BODY])}"
    texts = [
        ("key", document.key),
        ("exact", document.name.casefold()),
        ("name", name),
        ("summary", summary),
        ("whole", whole),
        *(("seen_by", key) for key in document.seen_by),
        *(("label", label) for label in document.labels),
    ]
    for field, text in texts:
        made.add_text(field, encodable(text))
    made.add_unsigned("number", number_of(document.key))
    made.add_unsigned("namesake", number_of(document.name.casefold()))
    made.add_unsigned(AUDIENCE, number_of(document.seen_by[0]) if len(document.seen_by) == 1 else SEVERAL)
    made.add_unsigned("length", len(document.description) + len(document.body))
    shown = Kept(document.key, document.name, document.description[:MAX_SUMMARY], document.body[:MAX_SHOWN])
    made.add_bytes("shown", json.dumps(shown).encode())
    return made
