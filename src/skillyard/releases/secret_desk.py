"""The desk: values of secrets on their way to the job that needs them, in the memory of this process only."""

from collections.abc import Mapping


class SecretDesk:
    """Left before the job is queued, taken away when it is over."""

    def __init__(self) -> None:
        self._left: dict[str, Mapping[str, str]] = {}

    def leave(self, job_id: str, values: Mapping[str, str]) -> None:
        self._left[job_id] = dict(values)

    def look(self, job_id: str) -> Mapping[str, str]:
        """What was left for a job; nothing, where that was in another process."""
        return self._left.get(job_id, {})

    def clear(self, job_id: str) -> None:
        self._left.pop(job_id, None)
