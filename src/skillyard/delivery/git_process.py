"""Git as a subprocess that asks nothing, runs no hook and stops at limits of time and space."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skillyard.errors import LimitError, UnavailableError
from skillyard.skill.limits import MIB

MAX_REPOSITORY_BYTES: Final = 512 * MIB
POLL_SECONDS: Final = 0.2

# The user's own settings stay in force (proxies, certificates, credential helpers), but not over these.
_SETTINGS: Final = (
    "protocol.ext.allow=never",
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "core.askPass=",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
_KEPT_VARIABLES: Final = frozenset(
    {
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_SSL_CAINFO",
        "GIT_SSL_CAPATH",
    }
)


_ADVICE: Final = frozenset({"Please make sure you have the correct access rights", "and the repository exists."})


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    status: int
    output: bytes
    errors: str
    """The last lines git wrote about what went wrong."""


def run_git(
    arguments: Sequence[str], *, folder: Path, deadline: float, protocols: str = "", given: bytes = b""
) -> Finished:
    """Run git in a temporary folder. `protocols` are those it may speak (`https:ssh`); none by default.

    Its output goes to files in that folder, so that one watch bounds everything it writes.
    """
    if shutil.which("git") is None:
        raise UnavailableError("git is not installed, or not on PATH.", hint=_install_hint())
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    with tempfile.TemporaryDirectory(prefix="run-", dir=folder) as name:
        run = Path(name)
        (run / "in").write_bytes(given)
        with (
            (run / "in").open("rb") as stdin,
            (run / "out").open("wb") as out,
            (run / "err").open("wb") as err,
        ):
            process = subprocess.Popen(
                ["git", *settings, *arguments],
                cwd=folder,
                env=_environment(protocols),
                stdin=stdin,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            try:
                _watch(process, folder, deadline)
            except BaseException:
                _end(process)
                raise
        return Finished(
            status=process.returncode,
            output=(run / "out").read_bytes(),
            errors=_last_words((run / "err").read_text(encoding="utf-8", errors="replace")),
        )


def _environment(protocols: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or key in _KEPT_VARIABLES}
    kept.setdefault("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")
    return kept | {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": protocols,
        "SSH_ASKPASS": "",
        "LC_ALL": "C",
    }


def _watch(process: subprocess.Popen[bytes], folder: Path, deadline: float) -> None:
    while process.returncode is None:
        try:
            process.wait(timeout=POLL_SECONDS)
        except subprocess.TimeoutExpired:
            if time.monotonic() > deadline:
                raise UnavailableError(
                    "git took too long and was stopped.",
                    hint="Try again, or give an archive of the skill instead.",
                ) from None
        if _size(folder) > MAX_REPOSITORY_BYTES:
            raise LimitError(
                f"The repository is larger than the limit of {MAX_REPOSITORY_BYTES} bytes.",
                hint="Ask its authors for an archive of the skill.",
                details={"limit": MAX_REPOSITORY_BYTES},
            )


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        if sys.platform == "win32":
            process.kill()
        else:
            # Its helpers (transport, unpacking) are in the same session and must not go on alone.
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _size(folder: Path) -> int:
    total = 0
    for directory, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(directory) / name).lstat().st_size
            except FileNotFoundError:  # git renames its temporary files meanwhile
                continue
    return total


def _last_words(errors: str) -> str:
    """What git said last, without the advice that it gives whatever the reason was."""
    lines = [line.strip() for line in errors.splitlines()]
    told = [line for line in lines if line and line not in _ADVICE]
    return "; ".join(line.removeprefix("fatal: ").rstrip(".") for line in told[-4:]) or "no message"


def _install_hint() -> str:
    if sys.platform == "darwin":
        return "Install it with: brew install git"
    if sys.platform == "win32":
        return "Install it with: winget install Git.Git"
    return "Install it with: sudo apt install git (or your system's package manager)"
