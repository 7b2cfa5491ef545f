"""A computer-use server for tests: real tools over streamable HTTP, whose sessions are folders of this machine."""

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError


class Computer:
    """The sessions, each with a folder."""

    def __init__(self, root: Path, shape: str) -> None:
        self.root = root
        self.shape = shape

    def create_session(self, ttl: int = 600) -> Any:
        session_id = f"session-{uuid.uuid4().hex[:8]}"
        (self.root / session_id).mkdir()
        return {"text": f"Created. Session ID: {session_id} (ttl {ttl})", "json": {"session_id": session_id}}[
            self.shape
        ]

    def create_file(self, session_id: str, path: str, content: str) -> str:
        file = self._folder(session_id) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        return "ok"

    async def run_shell(self, session_id: str, command: str) -> str:
        folder = self._folder(session_id)
        process = await asyncio.create_subprocess_exec(
            *("sh", "-c", command),
            cwd=folder,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": str(folder)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        stdout, stderr = (data.decode() for data in await process.communicate())
        if self.shape == "text":
            return stdout + stderr
        return json.dumps({"stdout": stdout, "stderr": stderr, "exit_code": process.returncode})

    def delete_file(self, session_id: str, path: str) -> str:
        (self._folder(session_id) / path).unlink()
        return "ok"

    def delete_session(self, session_id: str) -> str:
        folder = self._folder(session_id)
        end_processes(folder)
        shutil.rmtree(folder, ignore_errors=True)
        return "ok"

    def _folder(self, session_id: str) -> Path:
        folder = self.root / Path(session_id).name
        if not folder.is_dir():
            raise ToolError(f"session {session_id} not found")
        return folder


def end_processes(folder: Path) -> None:
    """End whatever works in a folder, as the end of a machine would."""
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            if str((process / "cwd").readlink()).startswith(str(folder)):
                os.kill(int(process.name), signal.SIGKILL)


@contextlib.contextmanager
def computer_use_server(root: Path, *options: str) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """A server in a process of its own that keeps its sessions below a folder: its address, and the process."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        line = [sys.executable, __file__, str(listening.fileno()), str(root), *options]
        process = subprocess.Popen(line, pass_fds=[listening.fileno()])
    try:
        yield address, process
    finally:
        process.terminate()
        process.wait()
        end_processes(root)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("socket", type=int)
    parser.add_argument("root", type=Path)
    parser.add_argument("--prefix", default="")
    parser.add_argument("--shape", default="json", choices=["json", "text"])
    parser.add_argument("--without", default="")
    arguments = parser.parse_args()
    computer = Computer(arguments.root, arguments.shape)
    server = MCPServer("computer-use", log_level="ERROR")
    for name in ("create_session", "create_file", "run_shell", "delete_file", "delete_session"):
        if name != arguments.without:
            server.tool(name=arguments.prefix + name)(getattr(computer, name))
    listening = socket.socket(fileno=arguments.socket)
    config = uvicorn.Config(server.streamable_http_app(), log_level="warning", timeout_graceful_shutdown=1)
    asyncio.run(uvicorn.Server(config).serve(sockets=[listening]))


if __name__ == "__main__":
    main()
