"""Runs counted by how they ended."""

from typing import NamedTuple


class Tally(NamedTuple):
    """How many runs there were, and how many of them passed."""

    passes: int
    runs: int

    @property
    def failures(self) -> int:
        return self.runs - self.passes

    @property
    def rate(self) -> float:
        """The share that passed; 0 where nothing ran."""
        return self.passes / self.runs if self.runs else 0.0

    def __str__(self) -> str:
        return f"{self.passes} of {self.runs}"
