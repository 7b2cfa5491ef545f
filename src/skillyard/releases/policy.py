"""What releases are held to; the settings of a yard say it."""

from dataclasses import dataclass
from datetime import timedelta

from skillyard.config.sections import Releases


@dataclass(frozen=True, kw_only=True, slots=True)
class ReleasePolicy:
    """When a canary is for all, when a release is taken back, and when it has served its time."""

    canary_percent: int = 20
    """The share of sandboxes that get a canary."""
    minimum_sample: int = 10
    """Runs of a release, and of the one that it is held against, before anything is decided."""
    window: timedelta = timedelta(hours=24)
    """How long a canary is watched before it is for all."""
    window_runs: int = 200
    """Runs that make up for the rest of that time."""
    error: float = 0.05
    """How often, at most, a release that is as good as stable is taken back, however often it is looked at."""
    margin: float = 0.1
    """By how much a canary may pass less often than stable and still be for all."""
    floor: float = 0.8
    """The rate that a canary is held against where nothing is stable."""
    latency_factor: float = 1.5
    """How much longer than the slowest runs of stable a run may take before it counts as slow."""
    auto_promote: bool = True
    auto_rollback: bool = True
    active_cap: int = 200
    """Learned skills that one person may have in use; 0 for any number."""
    unused_days: int = 30
    """Days without a run after which a release is proposed for retirement."""


def policy_of(settings: Releases) -> ReleasePolicy:
    """The policy that the settings of a yard ask for."""
    return ReleasePolicy(
        canary_percent=settings.canary_percent,
        minimum_sample=settings.minimum_sample,
        window=timedelta(hours=settings.window_hours),
        window_runs=settings.window_runs,
        error=round(1 - settings.confidence, 9),
        margin=settings.margin,
        floor=settings.floor,
        latency_factor=settings.latency_factor,
        auto_promote=settings.auto_promote,
        auto_rollback=settings.auto_rollback,
        active_cap=settings.active_cap,
        unused_days=settings.unused_days,
    )
