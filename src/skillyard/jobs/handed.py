"""A job as it is handed to durable execution."""

from typing import NamedTuple

from skillyard.jobs.rows import JobState, OpenJob


class Handed(NamedTuple):
    """One attempt at a job."""

    kind: str
    job_id: str
    attempt: int

    @property
    def workflow_id(self) -> str:
        """The id of the job itself, for its first attempt: nothing is handed over twice."""
        return self.job_id if self.attempt == 1 else f"{self.job_id}.{self.attempt}"


def handed(kind: str, job: OpenJob) -> Handed:
    """The attempt that is under way, or the next one."""
    begun = job.state == JobState.RUNNING
    return Handed(kind, job.id, job.attempts if begun else job.attempts + 1)
