"""The program that runs commands one after the other on a computer, and says what came of each, as JSON.

Sent there and run by its path: standard library only, for Python 3.8 and later, and nothing of Skillyard is there.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

KEPT = 4000
"""Characters of the output of one command, the last ones."""


def run(command: dict[str, Any]) -> dict[str, Any]:
    """One command: `{argv, cwd, seconds}`."""
    try:
        process = subprocess.Popen(
            command["argv"],
            cwd=command["cwd"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return {"exit_code": 127, "output": str(error), "timed_out": False}
    timed_out = False
    try:
        output, _ = process.communicate(timeout=command["seconds"])
    except subprocess.TimeoutExpired:
        timed_out = True
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
    return {
        "exit_code": process.returncode,
        "output": output.decode("utf-8", "replace")[-KEPT:],
        "timed_out": timed_out,
    }


if __name__ == "__main__":
    commands = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.stdout.write(json.dumps([run(command) for command in commands]))
