"""What became of runs that are to be learned from; `sandbox.executions.PENDING` comes before."""

from typing import Final

PROCESSED: Final = "processed"
FAILED: Final = "failed"
