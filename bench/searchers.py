"""Skillyard's search and its peers, each made of a corpus and asked for the keys of the best skills."""

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import bm25s
import tantivy
from corpus import Corpus
from rapidfuzz import fuzz, process

from skillyard.search.frequencies import AllFrequencies
from skillyard.search.index_folder import IndexFolder, View
from skillyard.search.lexicon import Lexicon
from skillyard.search.question import understand

Find = Callable[[str], list[str]]
_BEST = 5
_EVERYBODY = [f"team-{number}" for number in range(50)]


def skillyard(corpus: Corpus, scratch: Path) -> Find:
    """Asked by somebody who is in every team."""
    return _seen_by(_EVERYBODY, corpus, scratch)


def skillyard_in_part(corpus: Corpus, scratch: Path) -> Find:
    """Asked by somebody from whom one team hides its skills."""
    return _seen_by(_EVERYBODY[1:], corpus, scratch)


def engine(corpus: Corpus, scratch: Path) -> Find:
    """The floor: the engine alone, asked for the words that Skillyard would choose."""
    _view(corpus, scratch)
    [meta] = scratch.rglob("meta.json")
    index = tantivy.Index.open(str(meta.parent))
    searcher, schema = index.searcher(), index.schema
    frequencies, nothing = AllFrequencies(searcher, schema), Lexicon()

    def find(query: str) -> list[str]:
        terms = understand(query, frequencies, nothing).terms
        looked_for = [
            (tantivy.Occur.Should, tantivy.Query.term_query(schema, field, term.token, "freq"))
            for term in terms
            for field in ("whole", "summary")
        ]
        hits = searcher.search(tantivy.Query.boolean_query(looked_for), _BEST, count=False).hits
        return [searcher.doc(address)["key"][0] for _, address in hits]

    return find


def fts5(corpus: Corpus, scratch: Path) -> Find:
    database = sqlite3.connect(scratch / "fts.sqlite")
    database.execute("CREATE VIRTUAL TABLE skills USING fts5 (name, description, body, key UNINDEXED)")
    rows = ((each.name, each.description, each.body, each.key) for each in corpus.documents)
    database.executemany("INSERT INTO skills VALUES (?, ?, ?, ?)", rows)
    database.commit()
    asked = "SELECT key FROM skills WHERE skills MATCH ? ORDER BY bm25(skills, 2, 2, 1) LIMIT ?"

    def find(query: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", query)))
        return [key for (key,) in database.execute(asked, (words, _BEST))]

    return find


def bm25(corpus: Corpus, scratch: Path) -> Find:
    del scratch
    texts = [f"{each.name} {each.description} {each.body}" for each in corpus.documents]
    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)

    def find(query: str) -> list[str]:
        tokens = bm25s.tokenize(query, stopwords="en", show_progress=False)
        found, _ = retriever.retrieve(tokens, k=_BEST, show_progress=False)
        return [str(number) for number in found[0]]

    return find


def fuzzy(corpus: Corpus, scratch: Path) -> Find:
    del scratch
    texts = {each.key: f"{each.name} {each.description}" for each in corpus.documents}

    def find(query: str) -> list[str]:
        return [key for _, _, key in process.extract(query, texts, scorer=fuzz.token_set_ratio, limit=_BEST)]

    return find


def _seen_by(teams: list[str], corpus: Corpus, scratch: Path) -> Find:
    view = _view(corpus, scratch)
    return lambda query: [hit.key for hit in view.search(query, seen_by=teams, limit=10).hits]


def _view(corpus: Corpus, scratch: Path) -> View:
    folder = IndexFolder(scratch)
    folder.take_pen()
    build = folder.build()
    build.add(corpus.documents)
    build.finish("")
    folder.close()
    view = folder.look()
    if view is None:
        raise RuntimeError("The index was not made.")
    view.search("read the lexicon")
    return view


SEARCHERS: list[tuple[str, Callable[[Corpus, Path], Find], int]] = [
    ("floor: the engine alone", engine, 1_000_000),
    ("skillyard", skillyard, 1_000_000),
    ("skillyard, 2% hidden", skillyard_in_part, 1_000_000),
    ("SQLite FTS5", fts5, 1_000_000),
    ("bm25s", bm25, 1_000_000),
    ("rapidfuzz", fuzzy, 10_000),
]
"""Each with the number of skills up to which one can wait for it."""
