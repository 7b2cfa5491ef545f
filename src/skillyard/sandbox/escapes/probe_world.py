"""What escape attempts are after: planted files, servers and processes, so that getting hold of one harms nothing."""

import asyncio
import contextlib
import ctypes
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from skillyard.sandbox.place import MIB, Limits

LIMITS: Final = Limits(
    memory_bytes=96 * MIB,
    processes=40,
    file_bytes=16 * MIB,
    disk_bytes=16 * MIB,
    tmp_bytes=16 * MIB,
)
"""Small, so that going beyond them costs little."""

_UNTOUCHED: Final = b"as it was"
_ISOLATED: Final = ("/etc/shadow", "/usr", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys")
_DEVICES: Final = (
    "/dev/mem",
    "/dev/kmsg",
    "/dev/fuse",
    "/dev/kvm",
    "/dev/net/tun",
    "/dev/vda",
    "/dev/sda",
    "/dev/nvme0n1",
)
_METADATA: Final = ("169.254.169.254", 80)
_IPC_CREAT, _IPC_RMID = 0o1000, 0
_PRIVATE: Final = 0o600
_ENDING_SECONDS: Final = 0.2
_VICTIMS: Final = (
    "write_file",
    "write_by_link",
    "truncate_file",
    "change_mode",
    "change_mode_by_link",
    "change_times",
    "change_attributes",
    "hard_link",
)
_SLEEPERS: Final = ("signal_process", "signal_group", "limit_process", "slow_process")
_PLACES: Final = ("/var/tmp", "/tmp")  # noqa: S108 -- the first is not what sandboxes have their own of


@dataclass(frozen=True, kw_only=True)
class World:
    """One set of things to find; each attempt that changes something has its own."""

    folder: Path
    secret: str
    marker: str
    sleepers: "Mapping[str, subprocess.Popen[bytes]]"
    servers: Mapping[str, Any]
    heard: list[bytes]

    def told(self, attempts: list[str], *, sandboxed: bool, patience: float) -> dict[str, Any]:
        """What attempts are told; outside of a sandbox, those on the machine itself go for something planted.

        `patience` is for how many seconds those that fill the disk wait to be ended.
        """
        shadow, system, pattern, sysrq, settings = _ISOLATED
        if not sandboxed:
            shadow, system, settings = (str(self.folder / name) for name in ("secret", ".", "settings"))
            pattern = sysrq = str(self.folder / "settings" / "value")
        return {
            "attempts": attempts,
            "secret_file": str(self.folder / "secret"),
            "home": str(self.folder),
            "victims": {name: str(self.folder / name) for name in _VICTIMS},
            "shadow": shadow,
            "system_folder": system,
            "core_pattern": pattern,
            "sysrq": sysrq,
            "settings": settings,
            "devices": _DEVICES,
            "metadata": _METADATA if sandboxed else ("127.0.0.1", self.servers["tcp"]),
            "marker": self.marker,
            "sleepers": {name: sleeper.pid for name, sleeper in self.sleepers.items()},
            "processes": LIMITS.processes,
            "memory": LIMITS.memory_bytes,
            "file_bytes": LIMITS.file_bytes,
            "disk": LIMITS.disk_bytes,
            "temporary": LIMITS.tmp_bytes,
            "patience": patience,
            **self.servers,
        }

    def felt(self, name: str) -> bool:
        """Whether what is planted for an attempt was changed."""
        if name in _VICTIMS:
            victim = self.folder / name
            state = victim.stat()
            return victim.read_bytes() != _UNTOUCHED or state.st_mode & 0o777 != _PRIVATE or state.st_mtime == 1
        if name in _SLEEPERS:
            try:
                self.sleepers[name].wait(_ENDING_SECONDS)
            except subprocess.TimeoutExpired:
                return False
            return True
        return bool(self.heard)


@contextlib.asynccontextmanager
async def planted() -> AsyncGenerator[World]:
    """Things to find, for as long as they are looked for."""
    folder = Path(tempfile.mkdtemp(prefix="skillyard-probe-", dir=next(filter(os.path.isdir, _PLACES), None)))
    secret, marker = secrets.token_hex(16), f"marker-{secrets.token_hex(8)}"
    (folder / "settings").mkdir()
    files = {"secret": secret.encode(), secret: b"", "settings/value": b"", **dict.fromkeys(_VICTIMS, _UNTOUCHED)}
    for name, content in files.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(_PRIVATE)
    heard: list[bytes] = []
    sleepers = {name: _sleeper(marker, secret) for name in _SLEEPERS}
    try:
        async with contextlib.AsyncExitStack() as stack:
            servers = await _servers(stack, folder, secret, heard)
            yield World(folder=folder, secret=secret, marker=marker, sleepers=sleepers, servers=servers, heard=heard)
    finally:
        for sleeper in sleepers.values():
            sleeper.kill()
            sleeper.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _sleeper(marker: str, secret: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [marker, "600"],
        executable=shutil.which("sleep", path=os.defpath),
        env={"PROBE": marker, "PROBE_SECRET": secret},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


async def _servers(stack: contextlib.AsyncExitStack, folder: Path, secret: str, heard: list[bytes]) -> dict[str, Any]:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(secret.encode())
        writer.close()

    class Answers(asyncio.DatagramProtocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = transport

        def datagram_received(self, data: bytes, addr: tuple[str, int] | None) -> None:  # type: ignore[override]
            if addr is None:
                heard.append(data)
            else:
                cast("asyncio.DatagramTransport", self.transport).sendto(secret.encode(), addr)

    loop = asyncio.get_running_loop()
    abstract = f"skillyard-{secrets.token_hex(8)}"
    named = socket.socket(socket.AF_UNIX)
    named.bind(f"\0{abstract}")
    tcp = await asyncio.start_server(greet, "127.0.0.1", 0)
    for server in (
        tcp,
        await asyncio.start_unix_server(greet, folder / "stream"),
        await asyncio.start_unix_server(greet, sock=named),
    ):
        stack.callback(server.close)
    os.chmod(folder / "stream", 0o777)  # noqa: S103, PTH101 -- only the sandbox shall keep it closed
    udp, _ = await loop.create_datagram_endpoint(Answers, ("127.0.0.1", 0))
    datagrams, _ = await loop.create_datagram_endpoint(Answers, str(folder / "datagram"), family=socket.AF_UNIX)
    stack.callback(udp.close)
    stack.callback(datagrams.close)
    return {
        "tcp": tcp.sockets[0].getsockname()[1],
        "udp": udp.get_extra_info("sockname")[1],
        "unix": str(folder / "stream"),
        "abstract": abstract,
        "datagram": str(folder / "datagram"),
        "key": _shared_memory(stack),
    }


def _shared_memory(stack: contextlib.AsyncExitStack) -> int:
    key = secrets.randbelow(2**30) + 1
    library = ctypes.CDLL(None)
    segment = library.shmget(key, ctypes.c_size_t(4096), _IPC_CREAT | 0o600)
    if segment >= 0:
        stack.callback(library.shmctl, segment, _IPC_RMID, None)
    return key
