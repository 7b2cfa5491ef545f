"""Where a Docker daemon is, and raw connections to it, without a thread."""

import asyncio
import os
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from skillyard.errors import UsageError

LOCAL: Final = "unix:///var/run/docker.sock"
_PLAIN_PORT: Final = 2375
_TLS_PORT: Final = 2376


@dataclass(frozen=True, kw_only=True)
class Certificates:
    """The folder of keys by which a daemon and its client know each other, as `DOCKER_CERT_PATH` names it."""

    folder: Path
    verify: bool

    @property
    def authority(self) -> str:
        return str(self.folder / "ca.pem")

    @property
    def own(self) -> tuple[str, str]:
        return str(self.folder / "cert.pem"), str(self.folder / "key.pem")

    def context(self) -> ssl.SSLContext:
        """What a TLS connection needs; an unreadable file is an `OSError`."""
        context = ssl.create_default_context(cafile=self.authority if self.verify else None)
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        context.load_cert_chain(*self.own)
        return context


@dataclass(frozen=True, kw_only=True)
class DockerHost:
    """The address of a daemon: `unix://`, `tcp://` or `ssh://`."""

    url: str = LOCAL
    certificates: Certificates | None = None

    @classmethod
    def find(cls, url: str | None, environment: Mapping[str, str] | None = None) -> "DockerHost":
        """A given address, else that of `DOCKER_HOST`, else the local one; with the certificates of the environment."""
        variables = os.environ if environment is None else environment
        url = url or variables.get("DOCKER_HOST") or LOCAL
        folder = variables.get("DOCKER_CERT_PATH")
        verify = bool(variables.get("DOCKER_TLS_VERIFY"))
        scheme = _scheme(url)
        if scheme not in {"unix", "tcp", "http", "https", "ssh"}:
            raise UsageError(
                f"DOCKER_HOST is '{url}', which is no address of a daemon.",
                hint="Write unix:///path, tcp://host:port or ssh://user@host.",
                details={"field": "DOCKER_HOST", "value": url},
            )
        if scheme in {"unix", "ssh"} or not (folder or verify):
            return cls(url=url)
        return cls(url=url, certificates=Certificates(folder=Path(folder or "~/.docker").expanduser(), verify=verify))

    @property
    def local(self) -> bool:
        """Whether paths of this machine mean the same to the daemon."""
        return self.url.startswith("unix://")

    @property
    def by_ssh(self) -> bool:
        """Whether it must be reached through a bridge."""
        return self.url.startswith("ssh://")

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection of its own to the daemon; an `OSError` when there is none."""
        parts = urlsplit(self.url)
        if parts.scheme == "unix":
            return await asyncio.open_unix_connection(self.url.removeprefix("unix://"))
        port = parts.port or (_TLS_PORT if self.certificates else _PLAIN_PORT)
        context = self.certificates.context() if self.certificates else parts.scheme == "https"
        reader, writer = await asyncio.open_connection(parts.hostname or "localhost", port, ssl=context or None)
        raw: socket.socket = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return reader, writer


def _scheme(url: str) -> str:
    """How an address is reached; empty where it is none."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # which may be no number
    except ValueError:
        return ""
    return parts.scheme
