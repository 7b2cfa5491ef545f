"""Asking a yard over HTTP, and its errors as our own."""

import json
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Self

import httpx

from skillyard import errors
from skillyard.errors import (
    BusyError,
    ConflictError,
    InProgressError,
    InputError,
    NotAllowedError,
    QuotaError,
    SkillyardError,
    TooManyRequestsError,
    UnauthenticatedError,
    UnavailableError,
    UsageError,
)

API: Final = "/api/v1"
_SECONDS: Final = 30.0
_MAX_WAITS: Final = 5
_MAX_WAIT: Final = 60.0
"""Seconds that are waited at most, each time a yard says that we ask too often."""
_LOST: Final = (httpx.ReadError, httpx.WriteError, httpx.CloseError, httpx.RemoteProtocolError)
"""The connection ended before the answer: nobody knows what was done."""
_PAUSES: Final = (0.2, 1.0)
"""Seconds before each time that a request is sent again after the connection was lost."""
_LATER: Final = frozenset({TooManyRequestsError.code, InProgressError.code, BusyError.code})
_OTHER_NAMES: Final = {
    "unauthorized": UnauthenticatedError.code,
    "forbidden": NotAllowedError.code,
    "validation_error": InputError.code,
    "internal_error": SkillyardError.code,
}
"""Errors that are called otherwise under `/v1`."""
_MAYBE_LATER: Final = frozenset({QuotaError.code, ConflictError.code})
"""What it means there to ask too often, or too early; only then it is said when to ask again."""
_CHANGES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_TOKEN_HINT: Final = "Set SKILLYARD_TOKEN to a token of that server, or give it with --token."  # noqa: S105 -- advice


class Connection:
    """One yard: its address, and the token that speaks for whoever asks.

    A request is sent again when the connection is lost or the yard says to wait. So that none is carried out twice,
    each that changes something has a key of its own; `in_process`, where nothing is lost, it needs none.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        transport: httpx.BaseTransport | None = None,
        in_process: bool = False,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url = _checked(url)
        self.in_process = in_process
        self._sleep = sleep
        headers = {"Authorization": f"Bearer {_checked_token(token)}"} if token else {}
        self._client = httpx.Client(base_url=self.url, headers=headers, timeout=_SECONDS, transport=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._client.close()

    def get(self, path: str, **query: Any) -> Any:  # noqa: ANN401 -- whatever the route answers with
        return self.send("GET", path, query=query)["data"]

    def pages(self, path: str, **query: Any) -> Iterator[Any]:  # noqa: ANN401 -- as above
        """Every item of a list, page by page."""
        cursor: str | None = None
        while True:
            answer = self.send("GET", path, query={**query, "cursor": cursor})
            yield from answer["data"]
            cursor = answer.get("next_cursor")
            if cursor is None:
                return

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,  # noqa: ANN401 -- any JSON
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """One request; the whole answer, or the error that the yard gave."""
        response = self.ask(method, f"{API}{path}", params=given(query), json=body, headers=headers)
        return _document(response)

    def upload(
        self,
        path: str,
        name: str,
        data: bytes,
        *,
        query: Mapping[str, Any] | None = None,
        **fields: Any,  # noqa: ANN401 -- form values
    ) -> dict[str, Any]:
        """Send a file with form fields."""
        form = {key: _text(value) for key, value in fields.items() if value is not None}
        return _document(self.ask("POST", f"{API}{path}", params=given(query), files={"file": (name, data)}, data=form))

    def download(self, path: str, **query: Any) -> bytes:  # noqa: ANN401 -- query values
        response = self.ask("GET", f"{API}{path}", params=given(query))
        if response.is_error:
            _document(response)
        return response.content

    @contextmanager
    def stream(self, method: str, path: str, **options: Any) -> Generator[httpx.Response]:  # noqa: ANN401 -- httpx's own
        """A request to a path of the server whose answer is read while it comes; it is sent once, without a key."""
        self._check_open()
        try:
            with self._client.stream(method, path, **options) as response:
                yield response
        except httpx.HTTPError as error:
            raise self._silent(error) from error

    def ask(self, method: str, path: str, **options: Any) -> httpx.Response:  # noqa: ANN401 -- httpx's own
        """One request to a path of the server, and whatever it answers."""
        if method in _CHANGES and not self.in_process:
            options["headers"] = {"Idempotency-Key": str(uuid.uuid4()), **(options.get("headers") or {})}
        for _ in range(_MAX_WAITS):
            response = self._once(method, path, **options)
            if not _is_to_wait(response):
                return response
            self._sleep(_wait_of(response))
        return self._once(method, path, **options)

    def _once(self, method: str, path: str, **options: Any) -> httpx.Response:  # noqa: ANN401 -- httpx's own
        self._check_open()
        pauses = iter(_PAUSES)
        while True:
            try:
                return self._client.request(method, path, **options)
            except httpx.HTTPError as error:
                pause = next(pauses, None) if isinstance(error, _LOST) else None
                if pause is None:
                    raise self._silent(error) from error
            self._sleep(pause)

    def _check_open(self) -> None:
        if self._client.is_closed:
            raise UnavailableError(
                f"The connection to {self.url} was closed.",
                hint="Open it again, and keep it open for as long as it is used.",
                details={"server": self.url},
            )

    def _silent(self, error: httpx.HTTPError) -> UnavailableError:
        return UnavailableError(
            f"{self.url} does not answer: {str(error) or type(error).__name__}.",
            hint="Check the address and that the server runs: skillyard serve",
            details={"server": self.url},
        )


def _is_to_wait(response: httpx.Response) -> bool:
    """Whether the yard asks to send a request again later, as it was."""
    if response.is_success:
        return False
    try:
        code = response.json()["error"]["code"]
    except (ValueError, TypeError, KeyError):
        return response.status_code == TooManyRequestsError.http_status  # by a proxy, in its own words
    return code in _LATER or (code in _MAYBE_LATER and "Retry-After" in response.headers)


def _wait_of(response: httpx.Response) -> float:
    told = response.headers.get("Retry-After", "")
    return min(float(told), _MAX_WAIT) if told.isdecimal() else 1.0


def json_of(response: httpx.Response) -> dict[str, Any]:
    """The object that a yard answered with, or the error that it gave."""
    if response.has_redirect_location:
        raise UnavailableError(
            f"{_without_query(response.url)} has moved to {response.headers['Location']}.",
            hint="A token is sent only to the address given: name the new one with --server.",
            details={"status": response.status_code, "location": response.headers["Location"]},
        )
    try:
        document = response.json()
        failure = document.get("error")
    except (json.JSONDecodeError, UnicodeDecodeError, AttributeError):
        raise UnavailableError(
            f"{_without_query(response.url)} answered with no JSON (status {response.status_code}).",
            hint="Is this the address of a Skillyard server?",
            details={"status": response.status_code},
        ) from None
    if isinstance(failure, dict):
        raise error_of(failure, response.status_code)  # pyright: ignore[reportUnknownArgumentType] -- JSON
    if response.is_error:
        raise _strange(response)
    return document


def _document(response: httpx.Response) -> dict[str, Any]:
    document = json_of(response)
    if "data" not in document:
        raise _strange(response)
    return document


def _strange(response: httpx.Response) -> UnavailableError:
    return UnavailableError(
        f"{_without_query(response.url)} answered, but not as a Skillyard server does.",
        hint="Is this the address of a Skillyard server?",
        details={"status": response.status_code},
    )


def _without_query(url: httpx.URL) -> httpx.URL:
    return url.copy_with(query=None)


def error_of(failure: Mapping[str, Any], status: int = 500) -> SkillyardError:
    """The error that a yard answered with, as if it had been raised here."""
    said = str(failure.get("code"))
    code = _OTHER_NAMES.get(said, said)
    kinds = _kinds()
    # A yard may know errors that this process does not: they keep their code, and the exit code of their status.
    kind = kinds.get(code) or type("RemoteError", (_kind_of_status(status, kinds.values()),), {"code": code})
    hint = _TOKEN_HINT if kind is UnauthenticatedError else str(failure.get("hint") or "")
    error = kind(str(failure.get("message")), hint=hint)
    error.details.update(failure.get("details") or {})
    return error


def _kinds() -> dict[str, type[SkillyardError]]:
    """The errors that every room knows, by code; those of one room alone are made in ways of their own."""
    found: list[type[SkillyardError]] = [getattr(errors, name) for name in errors.__all__]
    return {kind.code: kind for kind in found}


def _kind_of_status(status: int, kinds: Iterable[type[SkillyardError]]) -> type[SkillyardError]:
    fitting = (kind for kind in kinds if kind.http_status == status and kind.__base__ is SkillyardError)
    return next(fitting, SkillyardError)


def _checked(url: str) -> str:
    try:
        parsed = httpx.URL(url)
        good = parsed.scheme in {"http", "https"} and bool(parsed.host)
    except httpx.InvalidURL:
        good = False
    if not good:
        raise UsageError(
            f"{url!r} is no address of a server.",
            hint="Give it with its scheme: https://yard.example.org",
            details={"field": "server", "value": url},
        )
    return url.rstrip("/")


def _checked_token(token: str) -> str:
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise UsageError(
            "The token holds characters that no token has.",
            hint="Copy it again as it was shown, without blanks or line breaks.",
            details={"field": "token"},
        )
    return token


def given(query: Mapping[str, Any] | None) -> dict[str, Any]:
    """The parameters that have a value, as they are sent."""
    return {
        key: _text(value) if isinstance(value, bool) else value
        for key, value in (query or {}).items()
        if value is not None
    }


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
