"""Scripts of a skill, tried before they are published: read by their interpreter, and asked for their help."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from skillyard.learning.skills.command_runs import Result, Step, put_bundle, run_all
from skillyard.learning.skills.computers import Computer
from skillyard.skill.bundle import Bundle, BundleFile

_MAX_SCRIPTS: Final = 20
_SCRIPTS: Final = "scripts/"
_COMPILE: Final = "import sys; compile(open(sys.argv[1], encoding='utf-8').read(), sys.argv[1], 'exec')"
_MISSING: Final = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_NO_COMMAND: Final = 127
_KILLED: Final = 128
_SHOWN: Final = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What trying something out showed."""

    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    """What was measured, for whoever decides on it later."""

    def and_(self, other: "Verdict") -> "Verdict":
        return Verdict(
            problems=self.problems + other.problems,
            warnings=self.warnings + other.warnings,
            facts=self.facts + other.facts,
        )


def scripts_of(new: Bundle, old: Bundle | None) -> list[BundleFile]:
    """The scripts that are other than before."""
    return [
        file
        for file in new
        if (file.path.startswith(_SCRIPTS) or file.executable) and (old is None or old.get(file.path) != file)
    ]


async def try_scripts(computer: Computer, bundle: Bundle, folder: str, scripts: Sequence[BundleFile]) -> Verdict:
    """Try scripts of a bundle, which is put into a folder there."""
    await put_bundle(computer, bundle, folder)
    known = [(file, interpreter) for file in scripts[:_MAX_SCRIPTS] if (interpreter := _interpreter(file))]
    steps = [step for file, interpreter in known for step in _steps(file, interpreter, folder)]
    results = await run_all(computer, steps)
    verdict = Verdict(
        warnings=tuple(
            f"{file.path}: it was not tried; nothing here runs it."
            for file in scripts
            if file not in [tried for tried, _ in known]
        )
    )
    for at, (file, _) in enumerate(known):
        verdict = verdict.and_(judged(file.path, *results[2 * at : 2 * at + 2]))
    return verdict


def judged(path: str, reading: Result, running: Result) -> Verdict:
    """What reading a script and asking it for its help say of it."""
    if reading.exit_code == _NO_COMMAND:
        return Verdict(warnings=(f"{path}: it was not tried; its interpreter is not there.",))
    if reading.exit_code:
        return Verdict(problems=(f"{path}: it cannot be read: {_last(reading)}",))
    if running.timed_out:
        return Verdict(problems=(f"{path}: it did not end when it was asked for its --help.",))
    missing = _MISSING.search(running.output)
    if missing:
        return Verdict(warnings=(f"{path}: it needs {missing[1]!r}, which is not in the sandbox; it was not tried.",))
    if "Traceback (most recent call last)" in running.output or running.exit_code < 0 or running.exit_code > _KILLED:
        return Verdict(problems=(f"{path}: it breaks when it is asked for its --help: {_last(running)}",))
    if running.exit_code:
        return Verdict(warnings=(f"{path}: asked for its --help it ends with {running.exit_code}: {_last(running)}",))
    return Verdict()


def _interpreter(file: BundleFile) -> str | None:
    first = file.data[:200].split(b"\n", 1)[0].decode("utf-8", "replace")
    suffix = PurePosixPath(file.path).suffix
    if suffix == ".py" or (first.startswith("#!") and "python" in first):
        return "python3"
    if suffix in {".sh", ".bash"} or (first.startswith("#!") and first.rstrip().endswith("sh")):
        return "bash" if "bash" in first or suffix == ".bash" else "sh"
    return None


def _steps(file: BundleFile, interpreter: str, folder: str) -> tuple[Step, Step]:
    reading = ("python3", "-c", _COMPILE) if interpreter == "python3" else (interpreter, "-n")
    return (
        Step(argv=[*reading, file.path], cwd=folder),
        Step(argv=[interpreter, file.path, "--help"], cwd=folder),
    )


def _last(result: Result) -> str:
    lines = [line for line in result.output.splitlines() if line.strip()]
    return lines[-1].strip()[:_SHOWN] if lines else f"it ended with {result.exit_code}"
