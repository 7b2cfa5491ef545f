"""Failures as the clients of the control plane read them: `{"error": {code, message, request_id, details}}`."""

from typing import Final

from skillyard.errors import (
    CapabilityError,
    ConflictError,
    ElsewhereError,
    FileMissingError,
    InputError,
    InvalidKeyError,
    InvalidPathError,
    KeyReusedError,
    LimitError,
    NotAllowedError,
    NotFoundError,
    QuotaError,
    SandboxEndlessError,
    SandboxExpiredError,
    SandboxFaultError,
    SkillyardError,
    TimedOutError,
    TooManyRequestsError,
    UnauthenticatedError,
    UnavailableError,
    UsageError,
)

PREFIX: Final = "/v1/"
_FILES: Final = "/filesystem/"
VALIDATION: Final = "validation_error"
CODES: Final[tuple[tuple[type[SkillyardError], int, str], ...]] = (
    (UnauthenticatedError, 401, "unauthorized"),
    (NotAllowedError, 403, "forbidden"),
    (FileMissingError, 404, "file_not_found"),
    (NotFoundError, 404, "not_found"),
    (InvalidPathError, 400, "invalid_path"),
    (CapabilityError, 400, "capability_not_supported"),
    (KeyReusedError, 409, "conflict"),
    (InvalidKeyError, 409, "conflict"),
    (LimitError, 413, "limit_exceeded"),
    (InputError, 400, VALIDATION),
    (UsageError, 400, VALIDATION),
    (SandboxExpiredError, 409, "sandbox_expired"),
    (SandboxEndlessError, 409, "sandbox_ttl_infinite"),
    (ConflictError, 409, "conflict"),
    (QuotaError, 429, "quota_exceeded"),
    (TooManyRequestsError, 429, "quota_exceeded"),
    (SandboxFaultError, 502, "ship_error"),
    (ElsewhereError, 503, "elsewhere"),
    (UnavailableError, 503, "session_not_ready"),
    (TimedOutError, 504, "timeout"),
)
"""What each error is here, the first that fits."""
_INTERNAL: Final = (500, "internal_error")


def speaks_yard(path: str) -> bool:
    """Whether those who ask there read errors of this shape."""
    return path.startswith(PREFIX)


def of_path(error: SkillyardError, target: str) -> SkillyardError:
    """What is refused before any route is asked, as an invalid path where it was to name a file."""
    field = error.details.get("field")
    if field == "query" and _FILES in target:
        field = "path"
    if error.details.get("reason") != "null_byte" or field not in {"path", "cwd"}:
        return error
    return InvalidPathError(error.message, hint=error.hint, details={**error.details, "field": field})


def yard_status(error: SkillyardError) -> int:
    return _meaning(error)[0]


def yard_body(error: SkillyardError, request_id: str) -> dict[str, object]:
    public = error.as_public_dict()
    return {
        "error": {
            "code": _meaning(error)[1],
            "message": public["message"],
            "request_id": request_id,
            "details": public["details"],
            "hint": public["hint"],
        }
    }


def _meaning(error: SkillyardError) -> tuple[int, str]:
    return next(((status, code) for kind, status, code in CODES if isinstance(error, kind)), _INTERNAL)
