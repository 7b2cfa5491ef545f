"""The embeddings that the settings name: vectors kept beside an index, and whether they can be had."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from skillyard.app.checks import Check, Status, ok
from skillyard.errors import InputError, UnavailableError
from skillyard.search.documents import Document
from skillyard.search.embeddings import HURRIED, PATIENT, Embedder, Endpoint, Patience, WordLlama
from skillyard.search.fusion import RETRY_AFTER, FusedSearch, Queries, Searchable
from skillyard.search.vectors import VectorIndex, VectorStore

if TYPE_CHECKING:
    from skillyard.config.settings import Settings

WORDLLAMA: Final = "wordllama"
_PROBE: Final = "Fill in a PDF form."
_log = logging.getLogger(__name__)


class Embeddings:
    """The vectors of the documents of one index. Without them search goes on by words alone.

    `hurried` is the same embedder for queries, which give up sooner.
    """

    def __init__(
        self,
        embedder: Embedder,
        store: VectorStore,
        *,
        weight: float,
        hurried: Embedder | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._embedder = embedder
        self._store = store
        self._weight = weight
        self._clock = clock
        self._queries = Queries(hurried or embedder, clock=clock)
        self._lock = threading.Lock()
        self._wanted: dict[str, Document] = {}
        self._present: dict[str, Document] = {}
        self._vectors: VectorIndex | None = None
        self._quiet_until = float("-inf")

    @property
    def is_behind(self) -> bool:
        """Whether there are documents that could not be embedded yet."""
        return self._present != self._wanted

    def follow(self, documents: Mapping[str, Document]) -> None:
        """Have the vectors of just these documents. Only texts that are new are embedded."""
        with self._lock:
            self._wanted = {key: _lightened(document) for key, document in documents.items()}
            self._catch_up()

    def change(self, documents: Sequence[Document], gone: Collection[str] = ()) -> None:
        """Take these documents in, in place of those with the same keys, and leave out those gone."""
        with self._lock:
            kept = {key: document for key, document in self._wanted.items() if key not in gone}
            self._wanted = {**kept, **{document.key: _lightened(document) for document in documents}}
            self._catch_up()

    def _catch_up(self) -> None:
        wanted, present = self._wanted, self._present
        changed = [document for key, document in wanted.items() if present.get(key) != document]
        gone = present.keys() - wanted.keys()
        if not changed and not gone:
            return
        vectors = self._vectors or VectorIndex.of((), self._embedder, self._store)
        try:
            if self._clock() < self._quiet_until:
                raise UnavailableError("it failed a moment ago.")
            self._vectors = vectors.changed(changed, gone, self._embedder, self._store)
            self._present = wanted
        except UnavailableError as error:
            # What changed is left out rather than shown to those who saw it before.
            left_out = {*gone, *(document.key for document in changed)}
            self._vectors = vectors.changed([], left_out, self._embedder, self._store)
            self._present = {key: document for key, document in present.items() if key not in left_out}
            if self._clock() >= self._quiet_until:
                _log.warning("Skills cannot be embedded: %s", error.message)
                self._quiet_until = self._clock() + RETRY_AFTER

    def over(self, words: Searchable) -> Searchable:
        """Search by words with the help of the vectors there are."""
        vectors = self._vectors
        return FusedSearch(words, vectors, self._queries, weight=self._weight) if vectors else words


def _lightened(document: Document) -> Document:
    """A document without what is not embedded, so that a change of that is none."""
    return replace(document, body="", tags=())


def open_embeddings(settings: "Settings") -> Embeddings | None:
    """What the settings name; None when they name nothing, which is the default."""
    embedder = _embedder(settings)
    if embedder is None:
        return None
    store = VectorStore(settings.home / "search" / "vectors.sqlite")
    hurried = _embedder(settings, HURRIED) if isinstance(embedder, Endpoint) else None
    return Embeddings(embedder, store, weight=settings.embeddings_weight / 100, hurried=hurried)


def examine_embeddings(settings: "Settings") -> Iterator[Check]:
    """Whether the embeddings work, if the settings name any. That they do not is no failure: search does without."""
    name = "embeddings"
    try:
        embedder = _embedder(settings, HURRIED)
        if embedder is not None:
            width = embedder.embed([_PROBE]).shape[1]
            yield ok(name, f"{embedder.name}: vectors of {width} numbers")
    except (InputError, UnavailableError) as error:
        message = f"{error.message} Search goes on without embeddings."
        yield Check(name=name, status=Status.WARNING, message=message, fix=error.hint)


def _embedder(settings: "Settings", patience: Patience = PATIENT) -> Embedder | None:
    named = settings.embeddings
    if named is None:
        return None
    if named == WORDLLAMA:
        return WordLlama()
    try:
        address = urlsplit(named)
        is_address = address.scheme in {"http", "https"} and bool(address.hostname)
    except ValueError:
        is_address = False
    if not is_address:
        raise InputError(
            f"The setting 'embeddings' is {named!r}, which is neither {WORDLLAMA!r} nor an address.",
            hint=f"skillyard config set embeddings {WORDLLAMA}",
            details={"field": "embeddings", "value": named},
        )
    if settings.embeddings_model is None:
        raise InputError(
            "The setting 'embeddings_model' is missing: an address alone does not say which model.",
            hint="skillyard config set embeddings_model NAME",
            details={"field": "embeddings_model"},
        )
    key = settings.embeddings_api_key
    return Endpoint(
        named,
        settings.embeddings_model,
        key=key.get_secret_value() if key else None,
        english_only=settings.embeddings_languages == "english",
        patience=patience,
    )
