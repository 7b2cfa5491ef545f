"""Where feedback stands on its way, what a lesson may change, and how new knowledge stands to old."""

from enum import StrEnum


class Stage(StrEnum):
    """Where one piece of feedback stands."""

    QUEUED = "queued"
    WAITING_FOR_MODEL = "waiting_for_model"
    MATCHING = "matching"
    DECIDING = "deciding"
    PROPOSED = "proposed"
    COMMITTED = "committed"
    NO_COMMIT = "no_commit"
    NEEDS_REVIEW = "needs_review"
    FAILED = "failed"
    REJECTED = "rejected"
    UNDONE = "undone"


class LessonState(StrEnum):
    """Of what one agent is to learn from one piece of feedback."""

    DECIDING = "deciding"
    PROPOSED = "proposed"
    COMMITTED = "committed"
    NO_COMMIT = "no_commit"
    NEEDS_REVIEW = "needs_review"
    FAILED = "failed"
    REJECTED = "rejected"
    UNDONE = "undone"


class Target(StrEnum):
    """What a lesson changes."""

    MEMORY = "MEMORY"
    DMN_RULE = "DMN_RULE"
    SKILL = "SKILL"


class Operation(StrEnum):
    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    NOOP = "NOOP"


class MergeMode(StrEnum):
    REPLACE = "REPLACE"
    EXTEND = "EXTEND"
    REFINE = "REFINE"


class Relation(StrEnum):
    """How new knowledge stands to what is known."""

    DUPLICATE = "DUPLICATE"
    EXTENDS = "EXTENDS"
    REFINES = "REFINES"
    CONFLICTS = "CONFLICTS"
    EXCEPTION = "EXCEPTION"
    SUPERSEDES = "SUPERSEDES"
    COMPLEMENTS = "COMPLEMENTS"
    UNRELATED = "UNRELATED"


class ProposalState(StrEnum):
    OPEN = "open"
    APPROVING = "approving"
    """Someone has approved it, and it is being carried out: nobody can decide otherwise any more."""
    APPROVED = "approved"
    REJECTED = "rejected"
    STALE = "stale"
