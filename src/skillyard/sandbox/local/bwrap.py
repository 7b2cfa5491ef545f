"""Sandboxes by bubblewrap: namespaces of their own, a filter of system calls, and no rights to begin with."""

import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final

from skillyard.errors import CapabilityError, UnavailableError
from skillyard.sandbox.capabilities import BOUNDARY, Ability, Capabilities
from skillyard.sandbox.link.guest_files import guest_argv, guest_zip
from skillyard.sandbox.local.browser_parts import BrowserParts
from skillyard.sandbox.local.bwrap_options import GUEST, Bind, Contents, bwrap_options
from skillyard.sandbox.local.cgroups import Cgroups
from skillyard.sandbox.local.inside import INNER_UID, PATH, Python, environment, small_etc
from skillyard.sandbox.local.launch import STAGE, Descriptors, Launch, Stage, launch
from skillyard.sandbox.local.local_backend import LocalBackend, MakeProxy, Surroundings
from skillyard.sandbox.local.seccomp import NAMESPACED, assemble
from skillyard.sandbox.local.syscalls import this_architecture
from skillyard.sandbox.local.uids import Users
from skillyard.sandbox.place import WORKSPACE, Limits, Mount, Place

_OLDEST: Final = (0, 8)
_COUNTS_BY_NAMESPACE: Final = (5, 14)
"""Since this kernel, processes of a user are counted for each user namespace."""
_INSTALL: Final = "apt-get install bubblewrap"
_RESTRICTED: Final = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_SWITCHED_OFF: Final = Path("/proc/sys/kernel/unprivileged_userns_clone")
_MOST: Final = Path("/proc/sys/user/max_user_namespaces")
_TOOLS: Final = "/opt/skillyard/bin"
"""Where Python is found first, so that a command has the same as the context that lasts."""
_OWN: Final = (WORKSPACE, "/proc", "/dev", "/sys", "/etc", "/usr", "/opt/skillyard", "/tmp", "/run")  # noqa: S108
"""Where nothing can be mounted: these are what makes a sandbox."""


@dataclass(frozen=True, kw_only=True)
class _Program:
    """bubblewrap on this machine, or why it cannot be used."""

    path: str
    reason: str = ""
    fix: str = ""


class BwrapBackend(LocalBackend):
    """Processes in namespaces of their own, as a user without rights: what they do not see, they cannot touch."""

    name = "bwrap"

    def __init__(
        self,
        folder: Path,
        *,
        users: Users,
        cgroups: Cgroups,
        proxy: MakeProxy,
        browser: BrowserParts | None = None,
    ) -> None:
        super().__init__(folder, users=users, cgroups=cgroups, proxy=proxy)
        self._browser = browser
        self._python = Python.of_server()
        self._capabilities: Capabilities | None = None

    async def capabilities(self) -> Capabilities:
        if self._capabilities is not None:
            return self._capabilities
        program = _find()
        reason, fix = program.reason, program.fix
        if not reason and (complaint := await self._try(program.path)):
            reason, fix = _explained(complaint)
        if reason:  # not kept: it may be otherwise when it is asked for again
            return Capabilities(backend=self.name, available=False, reason=reason, fix=fix)
        self._capabilities = self._offered()
        return self._capabilities

    def _offered(self) -> Capabilities:
        abilities = {Ability.PYTHON, Ability.SHELL, Ability.FILESYSTEM, Ability.NETWORK, Ability.SNAPSHOT}
        if self._browser is not None:
            abilities.add(Ability.BROWSER)
        return Capabilities(
            backend=self.name,
            available=True,
            abilities=frozenset(abilities),
            enforced=BOUNDARY | self._bounds(),
            reason=" ".join(self._not_bounded().values()),
        )

    async def _try(self, bwrap: str) -> str:
        """Start nothing in an empty sandbox: what keeps it from starting, if anything does."""
        with Descriptors() as descriptors:
            contents = Contents(
                workspace="/usr/bin",
                files={},
                environment={},
                limits=Limits(),
                seccomp=descriptors.add(_filter()),
            )
            options = descriptors.add(_joined(bwrap_options(contents)))
            uid = None if self._users.uids is None else self._users.uids.start
            stage = None if uid is None else Stage(binds=())
            attempt = Launch(argv=(bwrap, "--args", str(options), "--", "true"), environment={}, uid=uid, stage=stage)
            launched = await launch(attempt, None, descriptors.numbers)
        code = await launched.wait()
        complaint = await launched.complaints()
        await launched.end()
        return complaint or f"exit code {code}" if code else ""

    def _launch(self, surroundings: Surroundings) -> Launch:
        program = _find()
        if program.reason:
            raise UnavailableError(program.reason, hint=program.fix)
        place, descriptors = surroundings.place, surroundings.descriptors
        wanted = [
            Bind(source=str(surroundings.workspace.path), target=WORKSPACE, writable=True),
            *self._binds(place),
        ]
        uid = surroundings.workspace.uid
        stage: Stage | None = None
        if uid is not None:
            # The user of the sandbox cannot cross the folders above these, so they are brought to where it can.
            stage = Stage(binds=tuple((bind.source, str(n), bind.writable) for n, bind in enumerate(wanted)))
            wanted = [
                Bind(source=f"{STAGE}/{n}", target=bind.target, writable=bind.writable) for n, bind in enumerate(wanted)
            ]
        workspace, *binds = wanted
        contents = Contents(
            workspace=workspace.source,
            binds=binds,
            files={
                path: descriptors.add(text.encode() if isinstance(text, str) else text)
                for path, text in {**small_etc(INNER_UID), GUEST: guest_zip()}.items()
            },
            links={f"{_TOOLS}/{name}": str(self._python.executable) for name in ("python", "python3")},
            environment=environment(
                WORKSPACE,
                "/tmp",  # noqa: S108 -- inside
                {"PATH": f"{_TOOLS}:{PATH}"} | surroundings.environment | self._browser_variables(),
            ),
            limits=place.limits,
            seccomp=descriptors.add(_filter()),
        )
        options = descriptors.add(_joined(bwrap_options(contents)))
        guest = guest_argv(
            str(self._python.executable),
            GUEST,
            workspace=WORKSPACE,
            limits=surroundings.limits,
            unset=surroundings.unset,
            proxy_port=0 if surroundings.proxied else None,
        )
        return Launch(
            argv=(program.path, "--args", str(options), "--", *guest),
            environment={},
            uid=uid,
            cgroups=surroundings.cgroups,
            rlimits={"CORE": 0},
            stage=stage,
        )

    def _binds(self, place: Place) -> Iterator[Bind]:
        if self._python.prefix is not None:
            yield Bind(source=str(self._python.prefix), target=str(self._python.prefix))
        if self._browser is not None:
            for source, target in self._browser.binds:
                yield Bind(source=str(source), target=target)
        for mount in place.mounts:
            yield Bind(source=str(mount.source.resolve()), target=_checked(mount), writable=mount.writable)

    def _browser_variables(self) -> dict[str, str]:
        return {} if self._browser is None else dict(self._browser.variables)

    def _counted_alone(self) -> bool:
        return self._users.uids is not None or _kernel() >= _COUNTS_BY_NAMESPACE


def _find() -> _Program:
    if sys.platform != "linux":
        reason = "bubblewrap needs Linux."
        return _Program(path="", reason=reason, fix="Run sandboxes on a Docker host: set SKILLYARD_DOCKER_HOST.")
    path = shutil.which("bwrap")
    if path is None:
        return _Program(path="", reason="bubblewrap is not installed.", fix=_INSTALL)
    version = _version(path)
    if version < _OLDEST:
        found, needed = (".".join(map(str, numbers)) for numbers in (version, _OLDEST))
        return _Program(path=path, reason=f"bubblewrap {found} is too old: {needed} is needed.", fix=_INSTALL)
    return _Program(path=path)


@cache
def _version(path: str) -> tuple[int, ...]:
    said = subprocess.run([path, "--version"], capture_output=True, check=False, text=True).stdout
    found = re.search(r"(\d+)\.(\d+)", said)
    return tuple(map(int, found.groups())) if found else (0,)


def _kernel() -> tuple[int, ...]:
    found = re.match(r"(\d+)\.(\d+)", platform.release())
    return tuple(map(int, found.groups())) if found else (0,)


@cache
def _filter() -> bytes:
    return assemble(NAMESPACED, this_architecture())


def _explained(complaint: str) -> tuple[str, str]:
    """Why bubblewrap does not start here, and what to do about it."""
    if _read(_RESTRICTED) == "1":
        return (
            "AppArmor of this system denies user namespaces to programs without a profile.",
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        )
    if _read(_SWITCHED_OFF) == "0":
        return "User namespaces are switched off.", "sysctl -w kernel.unprivileged_userns_clone=1"
    if _read(_MOST) == "0":
        return "User namespaces are switched off.", "sysctl -w user.max_user_namespaces=10000"
    return (
        f"bubblewrap does not start: {complaint}.",
        "In a container: start that with --security-opt seccomp=unconfined --security-opt systempaths=unconfined",
    )


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _joined(options: Sequence[str]) -> bytes:
    """As bubblewrap reads options from a descriptor, where no list of processes shows them."""
    return b"".join(option.encode() + b"\0" for option in options)


def _checked(mount: Mount) -> str:
    target = PurePosixPath(mount.target)
    if not target.is_absolute() or ".." in target.parts or len(target.parts) == 1:
        raise CapabilityError(f"A mount needs an absolute path inside, not {mount.target!r}.")
    taken = next((own for own in _OWN if target.is_relative_to(own)), None)
    if taken is not None:
        raise CapabilityError(
            f"Nothing can be mounted at {mount.target!r}: {taken} is the sandbox's own.",
            hint="Mount it elsewhere, such as at /data, or put the files into the workspace.",
        )
    return str(target)
