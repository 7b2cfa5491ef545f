"""Turning texts into vectors: by a model that an endpoint serves, or by word vectors in this process.

Both are optional, and both may fail: search does without them then.
"""

import logging
import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias, cast

from skillyard.errors import UnavailableError

if TYPE_CHECKING:
    import httpx
    from numpy import float32
    from numpy.typing import NDArray

    Matrix: TypeAlias = "NDArray[float32]"
    """One row for each text."""

INSTALL: Final = "pip install 'skillyard[embeddings]'"
MAX_TEXT: Final = 4_000
"""So many characters of a text are read."""
_BATCH: Final = 64
_PAUSE: Final = 0.5
"""Seconds before the second try; each further one waits longer."""
_MAX_PAUSE: Final = 5.0
_CONNECT_SECONDS: Final = 3.0
_MAX_ANSWER: Final = 64 * 1024 * 1024
_WORTH_ANOTHER_TRY: Final = frozenset({408, 429, 500, 502, 503, 504})
_LONG: Final = 30
"""A query of so many words is a task that someone describes."""
_FOREIGN: Final = 0.1
"""A text with more than this share of letters of other scripts is not in a language written in Latin letters."""
_LETTER: Final = re.compile(r"[^\W\d_]")
_LATIN: Final = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")


class Patience(NamedTuple):
    """How long to wait for an endpoint."""

    seconds: float
    tries: int


PATIENT: Final = Patience(seconds=20.0, tries=3)
"""For embedding skills, which nobody waits for."""
HURRIED: Final = Patience(seconds=3.0, tries=1)
"""For embedding a query: whoever searches should rather do without."""


class Embedder(Protocol):
    """Whatever turns texts into vectors that lie near each other when the texts mean the same."""

    @property
    def name(self) -> str:
        """Tells its vectors from those of any other."""
        ...

    @property
    def finds(self) -> bool:
        """Whether it may bring up what words alone do not find."""
        ...

    def reads(self, text: str) -> bool:
        """Whether it knows the language of a skill."""
        ...

    def helps_with(self, query: str) -> bool:
        """Whether search is the better for it with a query like this."""
        ...

    def embed(self, texts: Sequence[str]) -> "Matrix":
        """A vector for each text; an `UnavailableError` when there are none to be had."""
        ...


class WordLlama:
    """Small English word vectors that come with their package: no network, no graphics card.

    They are an average of words, and know no other language. Measured, they put long tasks in English in a better order
    and make short queries worse, and what they alone find is no good; so they are asked for the first only.
    """

    def __init__(self) -> None:
        self.name = "wordllama/l2_supercat_256"
        self.finds = False
        self._lock = threading.Lock()
        self._model: Any = None

    def reads(self, text: str) -> bool:
        return is_latin(text)

    def helps_with(self, query: str) -> bool:
        return len(query.split()) >= _LONG and is_latin(query)

    def embed(self, texts: Sequence[str]) -> "Matrix":
        with self._lock:
            self._model = self._model or _wordllama()
        return self._model.embed([text[:MAX_TEXT] or " " for text in texts])


class Endpoint:
    """A model behind an address that answers like OpenAI's `/embeddings`."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str | None = None,
        english_only: bool = False,
        patience: Patience = PATIENT,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._url = f"{url.rstrip('/')}/embeddings"
        self._model = model
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._english_only = english_only
        self._patience = patience
        self._sleep = sleep
        self.finds = True
        self.name = f"{url.rstrip('/')} {model}"

    def __repr__(self) -> str:
        return f"Endpoint({self._url!r}, {self._model!r})"

    def reads(self, text: str) -> bool:
        return not self._english_only or is_latin(text)

    def helps_with(self, query: str) -> bool:
        return self.reads(query)

    def embed(self, texts: Sequence[str]) -> "Matrix":
        import httpx  # noqa: PLC0415 -- slow to import, and hardly ever needed

        numpy = import_numpy()
        timeout = httpx.Timeout(self._patience.seconds, connect=min(self._patience.seconds, _CONNECT_SECONDS))
        # A redirect is not followed: the key is for this address alone.
        with httpx.Client(headers=self._headers, timeout=timeout) as client:
            vectors = [vector for batch in _batches(texts) for vector in self._asked(client, batch)]
        if len({len(vector) for vector in vectors}) > 1:
            raise self._trouble("answered with vectors of different lengths")
        return numpy.array(vectors, dtype=numpy.float32)

    def _asked(self, client: "httpx.Client", texts: list[str]) -> list[list[float]]:
        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        for attempt in range(1, self._patience.tries + 1):
            response, problem = self._sent(client, body)
            if response is not None and response.is_success:
                return self._vectors(response, len(texts))
            is_hopeless = response is not None and response.status_code not in _WORTH_ANOTHER_TRY
            if is_hopeless or attempt == self._patience.tries:
                raise self._trouble(problem)
            self._sleep(_pause(response, attempt))
        raise AssertionError  # pragma: no cover -- the last try raises

    def _sent(self, client: "httpx.Client", body: object) -> "tuple[httpx.Response | None, str]":
        import httpx  # noqa: PLC0415 -- as above

        try:
            response = client.post(self._url, json=body)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return None, f"does not answer ({type(error).__name__})"
        return response, f"answered with status {response.status_code}"

    def _vectors(self, response: "httpx.Response", count: int) -> list[list[float]]:
        if len(response.content) > _MAX_ANSWER:
            raise self._trouble(f"answered with more than {_MAX_ANSWER:,} bytes")
        try:
            items = sorted(response.json()["data"], key=lambda item: item["index"])
            vectors = [[float(number) for number in item["embedding"]] for item in items]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._trouble("answered, but not with embeddings") from None
        if len(vectors) != count or not all(vectors) or not all(math.isfinite(sum(vector)) for vector in vectors):
            raise self._trouble(f"answered with something else than {count} vectors")
        return vectors

    def _trouble(self, problem: str) -> UnavailableError:
        return UnavailableError(
            f"{self._url} {problem}.",
            hint="Check the settings embeddings, embeddings_model and embeddings_api_key: skillyard doctor",
            details={"url": self._url, "model": self._model},
        )


def is_latin(text: str) -> bool:
    """Whether a text is written in Latin letters, apart from a few words."""
    if text.isascii():
        return True
    letters = cast("list[str]", _LETTER.findall(text))
    return len(letters) - sum(map(bool, map(_LATIN.match, letters))) <= _FOREIGN * len(letters)


def import_numpy() -> Any:  # noqa: ANN401 -- a module
    """The package that counts with vectors; an error that says how to have it."""
    try:
        import numpy  # noqa: PLC0415, ICN001 -- optional
    except ImportError:
        raise UnavailableError("Embeddings need numpy, which is not installed.", hint=INSTALL) from None
    return numpy


def _wordllama() -> Any:  # noqa: ANN401 -- it has no types
    import_numpy()
    # Importing it would set up logging for the whole program, unless that is done already.
    root, handler = logging.getLogger(), logging.NullHandler()
    root.addHandler(handler)
    try:
        import wordllama  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        raise UnavailableError("The package wordllama is not installed.", hint=INSTALL) from None
    finally:
        root.removeHandler(handler)
    # Its files are in the package; it looks for one of them in a folder of another name, but also in its cache.
    package = Path(wordllama.__file__).parent
    try:
        return wordllama.WordLlama.load(cache_dir=package, disable_download=True)
    except (OSError, ValueError) as error:
        raise UnavailableError(f"The vectors of wordllama cannot be read: {error}", hint=INSTALL) from None


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), _BATCH):
        # An empty text is refused by most endpoints.
        yield [text[:MAX_TEXT].strip() or "-" for text in texts[start : start + _BATCH]]


def _pause(response: "httpx.Response | None", attempt: int) -> float:
    told = response.headers.get("Retry-After", "") if response is not None else ""
    return min(float(told), _MAX_PAUSE) if told.isdecimal() else _PAUSE * attempt
