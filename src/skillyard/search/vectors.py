"""The vectors of documents: kept for each text once, and compared with that of a query."""

import sqlite3
import threading
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from skillyard.files import make_file, make_folder
from skillyard.search.documents import MAX_SUMMARY, Document
from skillyard.search.embeddings import MAX_TEXT, Embedder, import_numpy

if TYPE_CHECKING:
    from numpy import bool_, float32, intp
    from numpy.typing import NDArray

_SAVE_EVERY: Final = 512
"""After so many new vectors they are kept, so that an interruption costs no more than that."""
_MOST_VALUES: Final = 500
_BUSY_SECONDS: Final = 10.0


class VectorStore:
    """Vectors by embedder and text in one file. It is a cache: without it, or with a damaged one, texts are embedded
    again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def get(self, embedder: str, digests: Collection[bytes]) -> dict[bytes, bytes]:
        """Those of the vectors that are kept."""
        found: dict[bytes, bytes] = {}
        wanted = iter(sorted(digests))
        with self._lock, suppress(sqlite3.Error, OSError), self._opened() as connection:
            while some := list(islice(wanted, _MOST_VALUES)):
                marks = ", ".join("?" * len(some))
                query = f"SELECT digest, vector FROM vectors WHERE embedder = ? AND digest IN ({marks})"  # noqa: S608
                found.update(connection.execute(query, (embedder, *some)))
        return found

    def put(self, embedder: str, vectors: Mapping[bytes, bytes]) -> None:
        """Keep vectors, if the disk lets us."""
        rows = [(embedder, digest, vector) for digest, vector in vectors.items()]
        with self._lock, suppress(sqlite3.Error, OSError), self._opened() as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    @contextmanager
    def _opened(self) -> Generator[sqlite3.Connection]:
        make_folder(self._path.parent)
        make_file(self._path)
        try:
            connection = self._connected()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            self._path.unlink(missing_ok=True)
            connection = self._connected()
        try:
            yield connection
        finally:
            connection.close()

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS)
        try:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors (embedder TEXT, digest BLOB, vector BLOB NOT NULL,"
                " PRIMARY KEY (embedder, digest)) WITHOUT ROWID"
            )
        except BaseException:
            connection.close()
            raise
        return connection


class Shown(NamedTuple):
    """What is shown of a document."""

    key: str
    name: str
    description: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Nearness:
    """How near documents are to a query, of those that whoever asks may see."""

    cosines: Mapping[str, float]
    """By key: of those that were asked about, and of the nearest."""
    mean: float
    """Of all."""
    nearest: tuple[Shown, ...]
    """The nearest first."""


class VectorIndex:
    """The documents that an embedder can read, with their vectors and who may find them. It never changes."""

    def __init__(self, rows: "Sequence[Row]", matrix: "NDArray[float32]") -> None:
        self.rows = rows
        self.matrix = matrix
        self._numpy: Any = import_numpy()
        self._place = {row.shown.key: place for place, row in enumerate(rows)}
        self._seen_by = self._places(row.seen_by for row in rows)
        self._labels = self._places(row.labels for row in rows)

    @classmethod
    def of(cls, documents: Iterable[Document], embedder: Embedder, store: VectorStore) -> "VectorIndex":
        """An index of just these documents. Only texts that the store does not know are embedded."""
        readable = {document.key: document for document in documents if embedder.reads(_text(document))}
        rows = list(map(_row, readable.values()))
        texts = {row.digest: _text(document) for row, document in zip(rows, readable.values(), strict=True)}
        return cls(rows, _matrix(rows, texts, embedder, store))

    def changed(
        self, documents: Sequence[Document], gone: Collection[str], embedder: Embedder, store: VectorStore
    ) -> "VectorIndex":
        """The index with these documents in place of those with the same keys, and without those gone."""
        replaced = {*gone, *(document.key for document in documents)}
        kept = [place for place, row in enumerate(self.rows) if row.shown.key not in replaced]
        added = VectorIndex.of(documents, embedder, store)
        matrices = [matrix for matrix in (self.matrix[kept], added.matrix) if len(matrix)]
        matrix = self._numpy.concatenate(matrices) if matrices else self.matrix[:0]
        return VectorIndex([*(self.rows[place] for place in kept), *added.rows], matrix)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return self.matrix.shape[1]

    def near(
        self,
        query: "NDArray[float32]",
        *,
        among: Collection[str],
        seen_by: Collection[str] | None = None,
        labels: Collection[str] = (),
        limit: int,
    ) -> Nearness:
        """How near the documents are to a query's vector: those among these keys, and the nearest.

        With `seen_by` only documents that one of these may see take part, and of `labels` each must be there.
        """
        numpy = self._numpy
        allowed = self._allowed(seen_by, labels)
        if not allowed.any():
            return Nearness(cosines={}, mean=0.0, nearest=())
        cosines = self.matrix @ (query / (float(numpy.linalg.norm(query)) or 1.0))
        mean = float(cosines[allowed].mean())
        cosines = numpy.where(allowed, cosines, -numpy.inf)
        first: list[int] = numpy.argsort(-cosines, kind="stable")[: min(limit, int(allowed.sum()))].tolist()
        wanted = {self._place[key] for key in among if key in self._place}
        return Nearness(
            cosines={
                self.rows[place].shown.key: float(cosines[place]) for place in {*first, *wanted} if allowed[place]
            },
            mean=mean,
            nearest=tuple(self.rows[place].shown for place in first),
        )

    def _allowed(self, seen_by: Collection[str] | None, labels: Collection[str]) -> "NDArray[bool_]":
        allowed = self._numpy.full(len(self.rows), seen_by is None)
        for key in seen_by or ():
            allowed |= self._with(self._seen_by, key)
        for label in labels:
            allowed &= self._with(self._labels, label)
        return allowed

    def _with(self, places: "Mapping[str, NDArray[intp]]", key: str) -> "NDArray[bool_]":
        found = self._numpy.zeros(len(self.rows), dtype=bool)
        if key in places:
            found[places[key]] = True
        return found

    def _places(self, keys: Iterable[Collection[str]]) -> "dict[str, NDArray[intp]]":
        found: dict[str, list[int]] = {}
        for place, of_one in enumerate(keys):
            for key in of_one:
                found.setdefault(key, []).append(place)
        return {key: self._numpy.array(places) for key, places in found.items()}


class Row(NamedTuple):
    """What is kept of a document beside its vector."""

    shown: Shown
    digest: bytes
    seen_by: tuple[str, ...]
    labels: tuple[str, ...]


def _row(document: Document) -> Row:
    shown = Shown(document.key, document.name, document.description[:MAX_SUMMARY])
    digest = sha256(_text(document).encode(errors="surrogatepass")).digest()
    return Row(shown, digest, document.seen_by, document.labels)


def _text(document: Document) -> str:
    """What is embedded of a document: what it says of itself."""
    return f"{document.name.replace('-', ' ').replace('_', ' ')}. {document.description}"[:MAX_TEXT]


def _matrix(
    rows: Sequence[Row], texts: Mapping[bytes, str], embedder: Embedder, store: VectorStore
) -> "NDArray[float32]":
    numpy = import_numpy()
    known = store.get(embedder.name, texts.keys())
    missing = iter([digest for digest in texts if digest not in known])
    while some := list(islice(missing, _SAVE_EVERY)):
        vectors = numpy.asarray(embedder.embed([_encodable(texts[digest]) for digest in some]), dtype="<f4")
        new = {digest: vector.tobytes() for digest, vector in zip(some, vectors, strict=True)}
        store.put(embedder.name, new)
        known.update(new)
    if not rows:
        return numpy.zeros((0, 0), dtype=numpy.float32)
    matrix = numpy.frombuffer(b"".join(known[row.digest] for row in rows), dtype="<f4")
    matrix = matrix.reshape(len(rows), -1).astype(numpy.float32)
    lengths = numpy.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / numpy.where(lengths, lengths, 1)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
