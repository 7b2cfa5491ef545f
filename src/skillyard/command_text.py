"""Commands of Skillyard that are printed for a person to paste."""

import shlex
from collections.abc import Sequence

__all__ = ["command_text"]


def command_text(command: str, *names: str, options: Sequence[str] = ()) -> str:
    """A command with its names, quoted for the shell so that no name is taken for an option.

    `command` is the command's own words, such as `skill adopt`.
    """
    words = ["skillyard", *command.split()]
    if any(name.startswith("-") for name in names):
        return shlex.join([*words, *options, "--", *names])
    return shlex.join([*words, *names, *options])
