"""A session of a computer-use server: where things are in it, and what our programs there are asked to do."""

import base64
import contextlib
import os
import re
import shlex
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from skillyard.errors import LimitError, UnavailableError
from skillyard.files import sync_folder
from skillyard.sandbox.computer_use.tools import Tools, session_id_in

PIECE: Final = 256 * 1024
"""The most that one file carries there; what servers take in one request is more."""
_PROGRAMS: Final = ("relay", "poll")
_ANSWER: Final = re.compile(r"SKILLYARD:([^\n]*?):END")
_SHOWN: Final = 500
_PLACES: Final = """
command -v python3 >/dev/null || { echo 'python3 is not there'; exit 1; }
folder=$(mktemp -d) && mkdir "$folder/in" || exit 1
workspace=/workspace
[ -d "$workspace" ] && [ -w "$workspace" ] || { workspace="$folder/workspace"; mkdir "$workspace" || exit 1; }
printf 'SKILLYARD:%s:%s:END' "$folder" "$workspace"
"""


@dataclass(frozen=True, kw_only=True)
class Remote:
    """One session: the folder of our programs there, and the workspace."""

    tools: Tools
    session: str
    folder: str
    workspace: str

    @classmethod
    async def create(cls, tools: Tools, *, ttl: int) -> "Remote":
        """A new session with our programs in it."""
        said = await tools.call("create_session", ttl=ttl)
        session = session_id_in(said)
        if session is None:
            raise UnavailableError(f"The server made a session and did not say which: {said[:_SHOWN]}")
        try:
            told = await tools.call("run_shell", session=session, command=_PLACES)
            folder, _, workspace = _answer(told).partition(":")
            remote = cls(tools=tools, session=session, folder=folder, workspace=workspace)
            for program in _PROGRAMS:
                source = Path(__file__).with_name(f"{program}.py")
                await remote.write(f"{program}.py", source.read_text(encoding="utf-8"))
        except BaseException:
            await tools.call("delete_session", session=session)
            raise
        return remote

    async def ask(self, verb: str, *arguments: object, seconds: float | None = None) -> str:
        """What the relay answers; `UnavailableError` has the words of the server when it does not."""
        return await self._run("relay", verb, self.folder, *map(str, arguments), seconds=seconds)

    async def poll(self, offset: int, wait: float, *, seconds: float) -> str:
        """What the guest said from an offset on."""
        return await self._run("poll", self.folder, str(offset), str(wait), seconds=seconds)

    async def _run(self, program: str, *arguments: str, seconds: float | None) -> str:
        command = "python3 -I -S " + shlex.join([f"{self.folder}/{program}.py", *arguments])
        return _answer(await self.tools.call("run_shell", session=self.session, command=command, seconds=seconds))

    async def write(self, name: str, content: str) -> None:
        await self.tools.call("create_file", session=self.session, path=f"{self.folder}/{name}", content=content)

    async def save(self, file: Path, *, max_bytes: int, seconds: float) -> None:
        """Keep the workspace in a file here, whole or not at all. It is not looked into."""
        size = int(await self.ask("pack", self.workspace, seconds=seconds))
        if size > max_bytes:
            raise LimitError(f"The workspace takes {size} bytes, more than the {max_bytes} that are kept.")
        with _whole(file) as target:
            while target.tell() < size:
                piece = base64.urlsafe_b64decode(await self.ask("fetch", target.tell()))
                if not piece or target.tell() + len(piece) > size:
                    raise UnavailableError("The workspace could not be fetched: the server sent something else.")
                target.write(piece)

    async def load(self, file: Path, *, seconds: float) -> None:
        """Fill the workspace with what was kept in a file."""
        pieces = 0
        with file.open("rb") as source:
            while piece := source.read(PIECE):
                await self.write(f"cargo.{pieces}", base64.urlsafe_b64encode(piece).decode())
                pieces += 1
        await self.ask("unpack", self.workspace, pieces, seconds=seconds)

    async def end(self) -> None:
        await self.tools.call("delete_session", session=self.session)


def _answer(said: str) -> str:
    found = _ANSWER.search(said)
    if found is None:
        raise UnavailableError(f"The command at the computer-use server failed: {said[:_SHOWN]}")
    return found[1]


@contextlib.contextmanager
def _whole(file: Path) -> Generator[IO[bytes]]:
    """A file that takes its place when it is written and on the disk."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, name = tempfile.mkstemp(dir=file.parent)
    try:
        with open(descriptor, "wb") as target:  # noqa: PTH123 -- a descriptor
            yield target
            target.flush()
            os.fsync(target.fileno())
        Path(name).replace(file)
        sync_folder(file.parent)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
