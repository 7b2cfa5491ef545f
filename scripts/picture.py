"""Draws docs/images/audit.svg from what `skillyard demo` prints on a terminal."""

import fcntl
import io
import os
import pty
import re
import signal
import struct
import sys
import termios
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH = 118
PICTURE = Path(__file__).parent.parent / "docs/images/audit.svg"


END = "\n\n$ "
"""What follows the audit: the first command that the demonstration runs."""


def on_a_terminal(command: list[str]) -> str:
    """What a command prints when it talks to a terminal of our width, up to the end of the audit."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS=str(WIDTH))
        os.environ.pop("NO_COLOR", None)
        os.execv(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 60, WIDTH, 0, 0))
    printed = b""
    try:
        while END.replace("\n", "\r\n").encode() not in re.sub(rb"\x1b\[[0-9;]*m", b"", printed):
            printed += os.read(terminal, 65536)
        os.kill(child, signal.SIGINT)
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass  # the terminal is gone once the command has ended
    os.waitpid(child, 0)
    return printed.decode().replace("\r\n", "\n")


def main() -> None:
    printed = on_a_terminal([f"{Path(sys.executable).parent}/skillyard", "demo"])
    first = re.search(r"\n\n(?:\x1b\[[0-9;]*m)*\$ ", printed)
    audit = printed[: first.start() if first else None].partition("\n\n")[2]
    console = Console(record=True, width=WIDTH, file=io.StringIO(), color_system="truecolor")
    console.print(Text.from_ansi(audit))
    svg = console.export_svg(title="skillyard")
    PICTURE.parent.mkdir(exist_ok=True)
    # The fonts of the template would be fetched from elsewhere; the reader's own will do.
    PICTURE.write_text(re.sub(r"@font-face\s*{[^}]*}", "", svg), encoding="utf-8")


if __name__ == "__main__":
    main()
