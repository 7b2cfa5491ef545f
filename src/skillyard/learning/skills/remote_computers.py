"""Computers at a computer-use server that is reached over MCP."""

import base64
import logging
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from shlex import quote
from typing import Final

from skillyard.cancellation import to_the_end
from skillyard.errors import SkillyardError, UnavailableError
from skillyard.identity.principals import Principal
from skillyard.learning.skills.base64_text import normalize_and_decode_base64
from skillyard.learning.skills.computers import TTL, Computer, Ran
from skillyard.sandbox.computer_use.tools import Tools, session_id_in

_SECONDS: Final = 30.0
"""For an answer, beside what a command itself may take."""
_SHOWN: Final = 500
_ANSWER: Final = re.compile(r"SKILLYARD:(-?\d+):([\w-]*):END")
_RUN: Final = (
    "import base64,subprocess,sys;"
    "p=subprocess.run(['sh','-c',sys.argv[1]],stdin=subprocess.DEVNULL,stdout=-1,stderr=-2);"
    "print('SKILLYARD:%d:%s:END'%(p.returncode,base64.urlsafe_b64encode(p.stdout).decode().rstrip('=')))"
)
"""Tells output from what a server says around it, whatever that is."""
_log = logging.getLogger(__name__)


class RemoteComputers:
    """Sessions of the server at `COMPUTER_USE_MCP_URL`. Who they are for is not told to it."""

    def __init__(self, url: str) -> None:
        self._url = url

    @asynccontextmanager
    async def session(self, principal: Principal) -> AsyncGenerator[Computer]:
        del principal
        tools = Tools(self._url, seconds=_SECONDS)
        await tools.open()
        try:
            said = await tools.call("create_session", ttl=TTL)
            session = session_id_in(said)
            if session is None:
                raise UnavailableError(f"The server made a session and did not say which: {said[:_SHOWN]}")
            try:
                yield await _Remote.at(tools, session)
            finally:
                await to_the_end(_end(tools, session))
        finally:
            await to_the_end(tools.close())


class _Remote(Computer):
    def __init__(self, tools: Tools, session: str, folder: str) -> None:
        self._tools = tools
        self._session = session
        self._folder = folder

    @classmethod
    async def at(cls, tools: Tools, session: str) -> "_Remote":
        """The session, with a folder for our files: the machine behind it may be one that others use too."""
        made = await cls(tools, session, "").run_shell("mktemp -d")
        folder = made.output.strip()
        if made.exit_code or not folder.startswith("/"):
            raise UnavailableError(f"The session has no room for files: {made.output[:_SHOWN]}")
        return cls(tools, session, folder)

    async def create_file(self, path: str, data: bytes, *, executable: bool = False) -> None:
        target = f"{self._folder}/{path}"
        try:
            text = data.decode()
        except UnicodeDecodeError:
            await self._create(f"{target}.b64", base64.b64encode(data).decode())
            await self._require(f"base64 -d {quote(f'{path}.b64')} > {quote(path)} && rm {quote(f'{path}.b64')}")
        else:
            await self._create(target, text)
        if executable:
            await self._require(f"chmod +x {quote(path)}")

    async def run_shell(self, command: str, *, seconds: float = 60.0) -> Ran:
        inside = f"cd {quote(self._folder)} && {{ {command}\n}}" if self._folder else command
        said = await self._tools.call(
            "run_shell",
            session=self._session,
            command=f"python3 -I -S -c {quote(_RUN)} {quote(inside)}",
            seconds=_SECONDS + seconds,
        )
        found = _ANSWER.search(said)
        if found is None:
            raise UnavailableError(f"A command at the computer-use server failed: {said[:_SHOWN]}")
        output = normalize_and_decode_base64(found[2]).decode("utf-8", "replace")
        return Ran(exit_code=int(found[1]), output=output)

    async def delete_file(self, path: str) -> None:
        await self._tools.call("delete_file", session=self._session, path=f"{self._folder}/{path}")

    async def _create(self, path: str, text: str) -> None:
        await self._tools.call("create_file", session=self._session, path=path, content=text)

    async def _require(self, command: str) -> None:
        ran = await self.run_shell(command)
        if ran.exit_code:
            raise UnavailableError(f"{command[:100]!r} failed at the computer-use server: {ran.output[:_SHOWN]}")


async def _end(tools: Tools, session: str) -> None:
    try:
        await tools.call("delete_session", session=session)
    except SkillyardError as error:  # its time ends it
        _log.warning("The session %s could not be deleted: %s", session, error.message)
