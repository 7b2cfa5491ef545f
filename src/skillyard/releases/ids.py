"""Names for what this room keeps: a short word that says what it is, and 12 hexadecimal digits."""

import hashlib
import os
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["sc", "se", "sr", "blob", "run", "bench", "mine"]
"""Candidates, evaluations, releases, payloads, runs, benchmarks and requests to mine."""


def new_id(kind: Kind) -> str:
    return f"{kind}-{os.urandom(6).hex()}"


def told_run_id(release_id: str, *parts: str) -> str:
    """The id of a run that was told: always the same for the same, so that it is kept once."""
    return f"run-{hashlib.sha256(chr(0).join((release_id, *parts)).encode()).hexdigest()[:12]}"


def run_id(evaluation_id: str, number: int) -> str:
    """The id of one run of an evaluation: always the same, so that it is kept once however often it is written."""
    return f"run-{hashlib.sha256(f'{evaluation_id}:{number}'.encode()).hexdigest()[:12]}"
