"""Commands that are run on a computer, several in one go."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Final

from skillyard.errors import UnavailableError
from skillyard.learning.skills.computers import Computer
from skillyard.skill.bundle import Bundle

_PROGRAM: Final = "run_commands.py"
_WORK: Final = "skill_work"
_SHOWN: Final = 500
_OVERHEAD: Final = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    argv: Sequence[str]
    cwd: str
    seconds: float = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    exit_code: int
    output: str
    timed_out: bool


async def run_all(computer: Computer, steps: Sequence[Step]) -> list[Result]:
    """What came of each."""
    if not steps:
        return []
    program = files("skillyard.learning.skills").joinpath(_PROGRAM).read_bytes()
    await computer.create_file(f"{_WORK}/{_PROGRAM}", program)
    listed = json.dumps([{**asdict(step), "argv": list(step.argv)} for step in steps])
    await computer.create_file(f"{_WORK}/commands.json", listed.encode())
    seconds = _OVERHEAD + sum(step.seconds for step in steps)
    ran = await computer.run_shell(f"python3 {_WORK}/{_PROGRAM} {_WORK}/commands.json", seconds=seconds)
    try:
        return [Result(**each) for each in json.loads(ran.output)]
    except (ValueError, TypeError):
        raise UnavailableError(f"Nothing could be run: {ran.output[:_SHOWN]}") from None


async def put_bundle(computer: Computer, bundle: Bundle, folder: str) -> None:
    """Write the files of a skill into a folder there."""
    folders = sorted({f"{folder}/{file.path}".rpartition("/")[0] for file in bundle})
    await computer.run_shell(f"mkdir -p {shlex.join(folders)}")
    for file in bundle:
        await computer.create_file(f"{folder}/{file.path}", file.data, executable=file.executable)
