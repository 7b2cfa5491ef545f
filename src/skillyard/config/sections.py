"""Settings that belong together and are set as one table."""

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

_GIB: Final = 2**30


class SkillInjection(BaseModel):
    """What is put into sandboxes when they start."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = True
    max_skills: int = Field(default=50, ge=0, le=1000)
    include_stages: tuple[Literal["stable", "canary"], ...] = ("stable", "canary")


class SandboxCeilings(BaseModel):
    """The most that any sandbox may have, by limit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    memory_bytes: int = Field(default=4 * _GIB, ge=1, le=64 * _GIB)
    processes: int = Field(default=1024, ge=1, le=4096)
    open_files: int = Field(default=8192, ge=1, le=65_536)
    file_bytes: int = Field(default=8 * _GIB, ge=1, le=64 * _GIB)
    disk_bytes: int = Field(default=8 * _GIB, ge=2**20, le=64 * _GIB)
    tmp_bytes: int = Field(default=_GIB, ge=1, le=16 * _GIB)
    cpu_seconds: int = Field(default=3600, ge=1, le=86_400)
    output_bytes: int = Field(default=2**24, ge=1, le=2**26)


class Releases(BaseModel):
    """What learned skills in use are held to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    canary_percent: int = Field(default=20, ge=0, le=100)
    """The share of sandboxes that get a canary."""
    minimum_sample: int = Field(default=10, ge=1, le=1_000_000)
    """Runs before anything is decided."""
    window_hours: float = Field(default=24, ge=0, le=8760)
    """How long a canary is watched before it is for all."""
    window_runs: int = Field(default=200, ge=1, le=1_000_000)
    """Runs that make up for the rest of that time."""
    confidence: float = Field(default=0.95, ge=0.5, le=0.999999)
    """How seldom a release that is as good as stable is taken back: at most once in twenty, if 0.95."""
    margin: float = Field(default=0.1, gt=0, lt=0.5)
    """By how much a canary may pass less often than stable and still be for all."""
    floor: float = Field(default=0.8, gt=0.5, lt=1)
    """The rate that a canary is held against where nothing is stable."""
    latency_factor: float = Field(default=1.5, ge=1, le=1000)
    """How much longer than the slowest runs of stable a run may take before it counts as slow."""
    auto_promote: bool = True
    auto_rollback: bool = True
    active_cap: int = Field(default=200, ge=0)
    """Learned skills that one person may have in use; 0 sets no limit."""
    unused_days: int = Field(default=30, ge=1, le=3650)
    """Days without a run after which a release is proposed for retirement."""
    watch_seconds: int = Field(default=60, ge=1, le=86_400)
    """Between two looks at the releases in use."""
    quiet_seconds: int = Field(default=30, ge=0, le=86_400)
    """How long nothing is run in a sandbox before its runs with `learn` are looked through."""


class Learning(BaseModel):
    """What learning from feedback may do by itself, and what one lesson may cost."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    memory: Literal["auto", "review"] = "auto"
    rules: Literal["auto", "review"] = "auto"
    skills: Literal["auto", "review", "canary"] = "auto"
    """`canary`: a new version is tried by some first, and is for all when those did well with it."""
    other_reviewer: bool = False
    """Whether who approves must be someone else than who gave the feedback."""
    max_calls: int = Field(default=30, ge=1, le=1000)
    max_tokens: int = Field(default=200_000, ge=1000, le=100_000_000)
    max_seconds: int = Field(default=600, ge=1, le=86_400)
