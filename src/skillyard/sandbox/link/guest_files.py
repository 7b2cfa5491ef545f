"""The guest as files: a folder to show inside a sandbox, or one archive to send there, and how it is started."""

import importlib.util
import io
import json
import marshal
import zipfile
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Final

from skillyard.sandbox.place import Limits

_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)
_KNOWN_BY_HASH: Final = (1).to_bytes(4, "little")
_FLAGS: Final = ("-I", "-S", "-X", "utf8")
_WITHOUT_REFERENCES: Final = 2
"""The version of the format whose bytes depend on the code alone, and not on who else holds parts of it."""


def guest_folder() -> Path:
    """The folder that Python can run; nothing else is needed inside."""
    return Path(__file__).parent.parent / "guest"


@cache
def guest_zip() -> bytes:
    """The same as one archive that Python can run; the quicker when it is the Python that runs here."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(guest_folder().glob("*.py")):
            source = path.read_bytes()
            for name, data in ((path.name, source), (f"{path.name}c", _compiled(path.name, source))):
                archive.writestr(zipfile.ZipInfo(name, _LONG_AGO), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _compiled(name: str, source: bytes) -> bytes:
    """A module as Python keeps it, known by its hash; another version of Python ignores it."""
    code = compile(source, f"guest/{name}", "exec", dont_inherit=True)
    header = importlib.util.MAGIC_NUMBER + _KNOWN_BY_HASH + importlib.util.source_hash(source)
    return header + marshal.dumps(code, _WITHOUT_REFERENCES)


def guest_argv(
    python: str,
    guest: str,
    *,
    workspace: str,
    limits: Limits,
    fd: int | None = None,
    proxy_port: int | None = None,
    unset: tuple[str, ...] = (),
) -> list[str]:
    """The command that starts the guest at a path.

    It speaks on the socket `fd`, or on its stdin and stdout. `unset` names limits that it is not to set for what
    runs inside, because something better bounds them. With a `proxy_port` (0: any that is free), connections made
    to it inside come out at the session's `proxy`.
    """
    argv = [python, *_FLAGS, guest, *guest_arguments(workspace, limits, proxy_port=proxy_port, unset=unset)]
    return argv if fd is None else [*argv, "--fd", str(fd)]


def guest_arguments(
    workspace: str, limits: Limits, *, proxy_port: int | None = None, unset: tuple[str, ...] = ()
) -> list[str]:
    """What the guest is told, for those who start it in their own way."""
    values = {name: value for name, value in asdict(limits).items() if name not in unset}
    arguments = ["--workspace", workspace, "--limits", json.dumps(values)]
    return arguments if proxy_port is None else [*arguments, "--proxy-port", str(proxy_port)]
