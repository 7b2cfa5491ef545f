"""A process that gives control groups back when their server died without doing so."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_SHELL: Final = "/bin/sh"
_WAIT_AND_REMOVE: Final = """
cat > /dev/null
name=$1
shift
tries=0
while [ $tries -lt 50 ]; do
    left=
    for folder in "$@"; do
        for group in "$folder"/"$name"*; do
            [ -d "$group" ] || continue
            echo 1 > "$group/cgroup.kill" || kill -9 $(cat "$group/cgroup.procs")
            rmdir "$group" || left=1
        done
    done
    [ -n "$left" ] || exit 0
    tries=$((tries + 1))
    sleep 0.1
done
"""
"""A shell, as it takes next to no memory while it waits; its input ends when the server does, however that ends."""


class Janitor:
    """Stands by as long as the server lives, in its own session, so that no signal to the server reaches it."""

    def __init__(self, folders: Sequence[Path], prefix: str) -> None:
        reading, self._writing = os.pipe()
        null = os.open(os.devnull, os.O_RDWR)
        try:
            self._pid = os.posix_spawn(
                _SHELL,
                [_SHELL, "-c", _WAIT_AND_REMOVE, "skillyard-janitor", prefix, *map(str, folders)],
                {"PATH": os.defpath},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, reading, 0),
                    (os.POSIX_SPAWN_DUP2, null, 1),
                    (os.POSIX_SPAWN_DUP2, null, 2),
                ],
                setsid=True,
                setsigdef=[signal.SIGPIPE],
            )
        except BaseException:
            os.close(self._writing)
            raise
        finally:
            os.close(reading)
            os.close(null)

    def dismiss(self) -> None:
        """Nothing is left to do."""
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._writing)
