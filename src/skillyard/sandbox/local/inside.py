"""What every sandbox on this machine finds inside: the system's programs, a small `/etc`, and an environment."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SYSTEM: Final = "/usr"
MERGED: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Folders of programs beside it, or links into it."""
CONFIGURATION: Final = (
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/chromium",
    "/etc/chromium.d",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/os-release",
    "/etc/pki/tls/certs",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
)
"""What programs look up that tells nothing about the people of the machine."""
USER: Final = "sandbox"
INNER_UID: Final = 1000
PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_SYSTEM_PYTHON: Final = Path("/usr/bin/python3")


@dataclass(frozen=True, kw_only=True)
class Python:
    """A Python that can be run inside."""

    executable: Path
    prefix: Path | None
    """What has to be brought in for it; None for the system's own."""

    @classmethod
    def of_server(cls) -> "Python":
        """The one that the server runs on, so that compiled packages beside it work inside too."""
        prefix = Path(sys.base_prefix).resolve()
        executable = Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()
        return cls(executable=executable, prefix=None if prefix.is_relative_to(SYSTEM) else prefix)

    @classmethod
    def of_system(cls) -> "Python | None":
        """The one that belongs to root and can be read by everyone; not every system has it."""
        return cls(executable=_SYSTEM_PYTHON, prefix=None) if os.access(_SYSTEM_PYTHON, os.X_OK) else None


def small_etc(uid: int) -> Mapping[str, str]:
    """Contents of those files in `/etc` that tell who is who; there is nobody else, and no other machine."""
    return {
        "/etc/passwd": f"{USER}:x:{uid}:{uid}::/workspace:/bin/sh\nnobody:x:65534:65534::/:/usr/sbin/nologin\n",
        "/etc/group": f"{USER}:x:{uid}:\nnogroup:x:65534:\n",
        "/etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
        "/etc/hostname": "sandbox\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
        "/etc/resolv.conf": "",
    }


def environment(workspace: str, temporary: str, more: Mapping[str, str]) -> dict[str, str]:
    """The variables inside: nothing of the server's, what the sandbox was given last."""
    return {
        "PATH": PATH,
        "HOME": workspace,
        "WORKSPACE": workspace,
        "PWD": workspace,
        "TMPDIR": temporary,
        "USER": USER,
        "LOGNAME": USER,
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        **more,
    }
