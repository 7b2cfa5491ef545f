"""`skillyard` in processes of their own, which begin with everything imported.

Starting Python and importing a yard takes longer than most of what tests ask of one. So a server of forks imports it
once; each command is a process forked from there, with the arguments, variables, folder and streams that it is given,
its own process id and signals. How the interpreter itself starts `skillyard` is tested where that is the point.
"""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import reduction
from typing import Any

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["tests.warm_modules"])


class Command(subprocess.Popen):
    """`skillyard` with these words; in all else what `subprocess.Popen` is."""

    def __init__(self, words: Sequence[object], **given: Any) -> None:
        super().__init__(["skillyard", *map(str, words)], **given)

    def _execute_child(self, args, *given) -> None:
        cwd, env = given[4], given[5]
        pipes = given[9:15]
        child = [number if end == -1 else end for number, end in enumerate((pipes[0], pipes[3], pipes[5]))]
        start = _Start(words=args[1:], cwd=os.fspath(cwd or os.getcwd()), env=dict(env or os.environ), streams=child)  # noqa: PTH109
        self._process = _forks.Process(target=_run, args=(start,), daemon=True)
        self._process.start()
        self.pid = self._process.pid
        self._child_created = True
        self._close_pipe_fds(*pipes)

    def _internal_poll(self, *_: object, **__: object) -> int | None:
        if self.returncode is None:
            self.returncode = self._process.exitcode
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self.returncode is None:
            self._process.join(timeout)
            if self._internal_poll() is None:
                raise subprocess.TimeoutExpired(self.args, timeout)
        return self.returncode


def run(words: Sequence[object], *, check: bool = False, timeout: float | None = None, **given: Any):
    """Like `subprocess.run`, with both outputs captured."""
    with Command(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **given) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except:
            process.kill()
            raise
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


class _Start:
    """What a process begins with; the streams are sent along."""

    def __init__(self, *, words: Sequence[str], cwd: str, env: Mapping[str, str], streams: Sequence[int]) -> None:
        self.words, self.cwd, self.env, self.streams = words, cwd, env, streams

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "streams": [reduction.DupFd(stream) for stream in self.streams]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, streams=[stream.detach() for stream in state["streams"]])


def _run(start: _Start) -> None:
    for number, stream in enumerate(start.streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(start.env)
    os.chdir(start.cwd)
    sys.argv = ["skillyard", *start.words]

    from skillyard.cli.main import main

    sys.exit(main())
