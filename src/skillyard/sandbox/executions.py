"""Executions as values: one run of python, a shell or the browser, and what people say beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from skillyard.errors import LimitError
from skillyard.redact import redact, storable
from skillyard.sandbox.models import ExecutionNoteRow, ExecutionRow

MAX_CODE: Final = 1024 * 1024
"""Characters of what is run."""
MAX_KEPT: Final = 256 * 1024
"""Characters of output, or of an error, that are kept of one run."""
MAX_NOTE: Final = 16 * 1024
PENDING: Final = "pending"
"""Of a run from which is to be learned: nobody did so yet."""


class ExecType(StrEnum):
    PYTHON = "python"
    SHELL = "shell"
    BROWSER = "browser"
    BROWSER_BATCH = "browser_batch"


@dataclass(frozen=True, kw_only=True)
class Said:
    """What someone says about a run; None leaves what is there."""

    description: str | None = None
    tags: str | None = None
    """Separated by commas."""
    notes: str | None = None

    def __post_init__(self) -> None:
        for name, text in (("description", self.description), ("tags", self.tags), ("notes", self.notes)):
            if text is not None and len(text) > MAX_NOTE:
                raise LimitError(
                    f"{name} has {len(text):,} characters; at most {MAX_NOTE:,} are kept.",
                    hint="Shorten it.",
                    details={"field": name, "value": len(text), "limit": MAX_NOTE},
                )

    @property
    def anything(self) -> bool:
        return not (self.description is None and self.tags is None and self.notes is None)


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run that is over, as it is to be kept."""

    exec_type: ExecType
    code: str
    success: bool
    ending: str
    exit_code: int | None
    seconds: float
    output: str
    error: str | None
    truncated: bool = False
    learn: bool = False
    said: Said = field(default_factory=Said)
    trace: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Execution:
    """One recorded run, and what is said beside it."""

    id: str
    sandbox_id: str
    session_id: str | None
    exec_type: ExecType
    code: str
    success: bool
    ending: str
    exit_code: int | None
    milliseconds: int
    output: str
    error: str | None
    truncated: bool
    network: tuple[str, ...]
    skills: tuple[Mapping[str, Any], ...]
    """The skills that were there: `name`, `digest` and, of a release, `release_id`."""
    trace_ref: str | None
    learn: bool
    created_at: datetime
    description: str | None = None
    tags: str | None = None
    notes: str | None = None
    learn_status: str | None = None
    learn_error: str | None = None
    learn_processed_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Which executions are asked for."""

    exec_type: ExecType | None = None
    success_only: bool = False
    tags: Sequence[str] = ()
    """One of them must be there."""
    has_notes: bool = False
    has_description: bool = False
    limit: int = 100
    offset: int = 0


@dataclass(frozen=True, kw_only=True)
class ExecutionPage:
    entries: Sequence[Execution] = field(default_factory=tuple[Execution, ...])
    total: int = 0


def execution_of(row: ExecutionRow, note: ExecutionNoteRow | None) -> Execution:
    beside: dict[str, Any] = {}
    if note is not None:
        names = ("description", "tags", "notes", "learn_status", "learn_error", "learn_processed_at")
        beside = {name: getattr(note, name) for name in names}
    return Execution(
        id=row.id,
        sandbox_id=row.sandbox_id,
        session_id=row.session_id,
        exec_type=ExecType(row.exec_type),
        code=row.code,
        success=row.success,
        ending=row.ending,
        exit_code=row.exit_code,
        milliseconds=row.milliseconds,
        output=row.output,
        error=row.error,
        truncated=row.truncated,
        network=tuple(row.network),
        skills=tuple(row.skills),
        trace_ref=trace_ref(row.trace_id),
        learn=row.learn,
        created_at=row.created_at,
        **beside,
    )


def trace_ref(trace_id: str | None) -> str | None:
    return None if trace_id is None else f"blob:{trace_id}"


def tags_in(text: str | None) -> list[str]:
    """The tags in a text that separates them by commas."""
    return [tag.strip() for tag in (text or "").split(",") if tag.strip()]


def tidy_tags(text: str | None) -> str | None:
    """Tags as they are told: each once, in order; None if there is none."""
    return ",".join(sorted(set(tags_in(text)))) or None


def tag_list(text: str | None) -> str:
    """As they are kept to be found: each between commas."""
    return "".join(f",{tag}" for tag in tags_in(text)) + ","


def kept(text: str) -> str:
    """What is kept of an output: no secrets that can be recognised, and of much the beginning and the end."""
    clean = redact(storable(text))
    if len(clean) <= MAX_KEPT:
        return clean
    half = MAX_KEPT // 2
    left_out = len(clean) - 2 * half
    return f"{clean[:half]}\n[… {left_out:,} characters are left out here …]\n{clean[-half:]}"


def require_code(code: str, field_name: str) -> None:
    if len(code) > MAX_CODE:
        raise LimitError(
            f"{field_name} has {len(code):,} characters; at most {MAX_CODE:,} are run at once.",
            hint="Write it to a file in the workspace, and run that.",
            details={"field": field_name, "value": len(code), "limit": MAX_CODE},
        )
