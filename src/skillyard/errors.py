"""Every error a person, a script or an agent can meet, and how each surface reports it."""

import logging
from collections.abc import Mapping
from typing import ClassVar

__all__ = [
    "AlreadyDoneError",
    "BudgetError",
    "BusyError",
    "CapabilityError",
    "ConflictError",
    "ElsewhereError",
    "FileMissingError",
    "InProgressError",
    "InputError",
    "InvalidKeyError",
    "InvalidPathError",
    "KeyReusedError",
    "LimitError",
    "ModelError",
    "NoModelError",
    "NotAllowedError",
    "NotFoundError",
    "QuotaError",
    "SandboxDiedError",
    "SandboxEndlessError",
    "SandboxExpiredError",
    "SandboxFaultError",
    "SandboxNotReadyError",
    "SkillyardError",
    "StoreUnavailableError",
    "TimedOutError",
    "TooManyRequestsError",
    "UnauthenticatedError",
    "UnavailableError",
    "UsageError",
]

_log = logging.getLogger(__name__)


class SkillyardError(Exception):
    """An error with a stable code, a message for people and a hint that names the fix.

    `details` carries the facts a program may want: `field`, `value`, `limit`, `findings`.
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500
    mcp_code: ClassVar[int] = -32603

    def __init__(self, message: str, *, hint: str = "", details: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: dict[str, object] = dict(details or {})

    def as_dict(self) -> dict[str, object]:
        """The error as every surface shows it: `{code, message, hint, details}`."""
        return {"code": self.code, "message": self.message, "hint": self.hint, "details": self.details}

    def as_public_dict(self) -> dict[str, object]:
        """The error as a server tells it to whoever asks."""
        return self.as_dict()


class InputError(SkillyardError):
    """What was given is wrong: the caller must change the content."""

    code = "invalid_input"
    http_status = 422
    mcp_code = -32602


class LimitError(InputError):
    """What was given is larger, deeper or more than allowed."""

    code = "limit_exceeded"
    http_status = 413


class KeyReusedError(InputError):
    """An idempotency key came again with another request."""

    code = "idempotency_mismatch"


class UsageError(SkillyardError):
    """The call itself is wrong: the caller must change the command or the parameters."""

    code = "usage"
    exit_code = 2
    http_status = 400
    mcp_code = -32602


class InvalidKeyError(UsageError):
    """An idempotency key that cannot be kept."""


class NotFoundError(SkillyardError):
    """What was asked for does not exist, or not for this caller."""

    code = "not_found"
    exit_code = 3
    http_status = 404
    mcp_code = -32602


class UnauthenticatedError(SkillyardError):
    """The server does not know who is asking."""

    code = "unauthenticated"
    exit_code = 4
    http_status = 401
    mcp_code = -32602

    def __init__(
        self,
        message: str = "This server needs a token.",
        *,
        hint: str = "Send 'Authorization: Bearer TOKEN'; to make one: skillyard registry tokens create LABEL",
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message, hint=hint, details=details)


class NotAllowedError(SkillyardError):
    """The caller may not do this: a path outside its place, a missing permission."""

    code = "not_allowed"
    exit_code = 4
    http_status = 403
    mcp_code = -32602


class ConflictError(SkillyardError):
    """The state has moved on, or something of that name is there already."""

    code = "conflict"
    exit_code = 5
    http_status = 409
    mcp_code = -32602


class AlreadyDoneError(ConflictError):
    """The request with this idempotency key was carried out; its answer is not kept."""

    code = "already_done"


class InProgressError(ConflictError):
    """The request with this idempotency key is being worked on: asking again later gives its answer."""

    code = "in_progress"


class TooManyRequestsError(SkillyardError):
    """The caller asks more often than allowed; `details["retry_after"]` says how many seconds to wait."""

    code = "rate_limited"
    http_status = 429


class UnavailableError(SkillyardError):
    """Something outside failed (a download, git, the disk): trying again may help."""

    code = "unavailable"
    http_status = 503


class BusyError(UnavailableError):
    """Too many want to change something at once; `details["retry_after"]` says how many seconds to wait."""

    code = "busy"


class StoreUnavailableError(UnavailableError):
    """The database or the store of files failed. The log gets its address and message; callers do not."""

    def as_public_dict(self) -> dict[str, object]:
        general = UnavailableError(
            "The server cannot reach its database or its store of files.",
            hint="Try again later, or tell the person who runs the server: its log says why.",
        )
        return instead_of(self, general)


def instead_of(error: SkillyardError, public: SkillyardError) -> dict[str, object]:
    """The public error for callers; the log gets the real one."""
    _log.warning("%s: %s", error.code, error.message)
    return {**public.as_dict(), "code": error.code}


class InvalidPathError(InputError):
    """A path that does not stay in the workspace of its sandbox."""

    code = "invalid_path"
    http_status = 400


class CapabilityError(UsageError):
    """The sandbox cannot do what was asked of it."""

    code = "capability_not_supported"


class SandboxDiedError(UnavailableError):
    """The sandbox went away; its files are still there, and the next call starts it again."""

    code = "session_not_ready"


class SandboxNotReadyError(UnavailableError):
    """The sandbox cannot be used now: it is held elsewhere, or no place for it could be made."""

    code = "session_not_ready"


class ElsewhereError(UnavailableError):
    """The files of a cargo are in the home of another server; here they can be neither used nor deleted."""

    code = "elsewhere"


class SandboxFaultError(SkillyardError):
    """A sandbox, or what runs it, did what it must not: this is no fault of what was asked."""

    code = "ship_error"
    http_status = 502


class SandboxExpiredError(ConflictError):
    """The time of the sandbox is over; nothing brings it back."""

    code = "sandbox_expired"


class SandboxEndlessError(ConflictError):
    """The sandbox has no end that could be moved."""

    code = "sandbox_ttl_infinite"


class FileMissingError(NotFoundError):
    """There is no such file or folder in the workspace."""

    code = "file_not_found"


class QuotaError(SkillyardError):
    """The caller has as many of something as allowed, and must give one back first."""

    code = "quota_exceeded"
    exit_code = 4
    http_status = 429
    mcp_code = -32602


class TimedOutError(SkillyardError):
    """Something in a sandbox was not done in its time."""

    code = "timeout"
    http_status = 504


class ModelError(UnavailableError):
    """A model gave no answer, or none that can be used: nothing was decided, and trying again may help."""

    code = "model_error"


class NoModelError(UnavailableError):
    """Something needs a model, and the settings name none."""

    code = "no_model"

    def __init__(self) -> None:
        super().__init__(
            "No model is set.",
            hint="Set one: skillyard config set model openai:gpt-5 (and SKILLYARD_MODEL_API_KEY), "
            "or let a connected agent do it over MCP.",
        )


class BudgetError(SkillyardError):
    """What a piece of work may cost is used up."""

    code = "budget_exceeded"
    http_status = 429
