"""Sandboxes by Landlock: no namespaces are needed, the kernel closes all files and sockets but those that are named."""

import os
from pathlib import Path
from typing import Final

from skillyard.errors import CapabilityError, UnavailableError
from skillyard.sandbox.capabilities import BOUNDARY, Ability, Barrier, Capabilities
from skillyard.sandbox.link.guest_files import guest_argv, guest_folder
from skillyard.sandbox.local.cgroups import Cgroups
from skillyard.sandbox.local.inside import Python, environment
from skillyard.sandbox.local.landlock_rules import (
    LOOK,
    READ,
    SCOPES_SINCE,
    TRUNCATE_SINCE,
    Landlock,
    landlock_here,
)
from skillyard.sandbox.local.launch import STAGE, Launch, Stage, launch
from skillyard.sandbox.local.local_backend import LocalBackend, Surroundings
from skillyard.sandbox.local.seccomp import UNNAMESPACED, UNNAMESPACED_SAME_USER, assemble
from skillyard.sandbox.local.syscalls import this_architecture
from skillyard.sandbox.local.uids import Users

_TEMPORARY: Final = "/tmp"  # noqa: S108 -- covered by a folder of the sandbox's own
_SHARED: Final = "/dev/shm"  # noqa: S108 -- likewise
_NO_LANDLOCK: Final = "This kernel has no Landlock, or it is switched off."
_SWITCH_ON: Final = "Boot a kernel since 5.13 with 'landlock' in the parameter lsm="
_NO_PYTHON: Final = "There is no /usr/bin/python3 that sandboxes could run."
_BLIND: Final = "It sees no processes, not even its own: what a command leaves running ends with the sandbox."
_ABILITIES: Final = frozenset({Ability.PYTHON, Ability.SHELL, Ability.FILESYSTEM, Ability.SNAPSHOT})


class LandlockBackend(LocalBackend):
    """Processes that may open their workspace and read the system, and have no sockets.

    Run by root, each sandbox is a user of its own in a view of its own, as far as that goes without user namespaces.
    Run by anybody else, it is that user: what Landlock does not know about is closed by the filter of system calls.
    """

    name = "landlock"

    def __init__(
        self,
        folder: Path,
        *,
        users: Users,
        cgroups: Cgroups,
        landlock: Landlock | None = None,
    ) -> None:
        super().__init__(folder, users=users, cgroups=cgroups, proxy=lambda _: None)
        self._landlock = landlock or landlock_here()
        self._capabilities: Capabilities | None = None

    async def capabilities(self) -> Capabilities:
        if self._capabilities is not None:
            return self._capabilities
        found = await self._look()
        if found.available:  # what is missing may be there when it is asked for again
            self._capabilities = found
        return found

    async def _look(self) -> Capabilities:
        if not self._landlock.version:
            return self._absent(_NO_LANDLOCK, _SWITCH_ON)
        if Python.of_system() is None:
            return self._absent(_NO_PYTHON, "apt-get install python3")
        if complaint := await self._try():
            return self._absent(
                f"A process cannot be confined: {complaint}.", "Run the server as an ordinary user, who needs no more."
            )
        missing = self._missing()
        return Capabilities(
            backend=self.name,
            available=True,
            abilities=_ABILITIES,
            enforced=(BOUNDARY | self._bounds()) - missing.keys(),
            reason=" ".join([*missing.values(), *([] if self._users.uids else [_BLIND])]),
            fix="Use a kernel since 6.12." if missing.keys() & BOUNDARY else "",
        )

    def _absent(self, reason: str, fix: str) -> Capabilities:
        return Capabilities(backend=self.name, available=False, reason=reason, fix=fix)

    def _missing(self) -> dict[Barrier, str]:
        """What is not contained here, and why."""
        missing: dict[Barrier, str] = {}
        version = self._landlock.version
        if version < TRUNCATE_SINCE:
            missing[Barrier.FILES] = f"Landlock {version} of this kernel lets files outside be truncated."
        if version < SCOPES_SINCE and self._users.uids is None:
            missing[Barrier.PROCESSES] = f"Landlock {version} of this kernel lets processes outside be signalled."
        return missing | self._not_bounded()

    async def _try(self) -> str:
        attempt = Launch(
            argv=("/usr/bin/true",),
            environment={},
            uid=None if self._users.uids is None else self._users.uids.start,
            stage=None if self._users.uids is None else Stage(binds=(), alone=True),
            landlock=self._landlock.rules({}),
            seccomp=self._filter().hex(),
            supervised=True,
            brokered=() if self._users.uids else (os.devnull,),
        )
        launched = await launch(attempt, None)
        code = await launched.wait()
        complaint = await launched.complaints()
        await launched.end()
        return complaint or f"exit code {code}" if code else ""

    def _filter(self) -> bytes:
        rules = UNNAMESPACED_SAME_USER if self._users.uids is None else UNNAMESPACED
        return assemble(rules, this_architecture())

    def _counted_alone(self) -> bool:
        return self._users.uids is not None

    def _launch(self, surroundings: Surroundings) -> Launch:
        python = Python.of_system()
        place = surroundings.place
        if python is None:
            raise UnavailableError(_NO_PYTHON, hint="apt-get install python3")
        if place.mounts or place.network.allow:
            wanted = "Folders of the host cannot be shown" if place.mounts else "No address can be reached"
            raise CapabilityError(
                f"{wanted} in a sandbox by Landlock: it has no view of its own.", hint="Ask for the backend 'bwrap'."
            )
        uid = surroundings.workspace.uid
        if uid is None:
            workspace, guest = str(surroundings.workspace.path), str(guest_folder())
            temporary, stage = str(surroundings.runtime.temporary()), None
            opened = {workspace: self._landlock.work, guest: READ, temporary: self._landlock.work}
        else:
            workspace, guest, temporary = f"{STAGE}/workspace", f"{STAGE}/guest", _TEMPORARY
            stage = Stage(
                binds=(
                    (str(surroundings.workspace.path), "workspace", True),
                    (str(guest_folder()), "guest", False),
                ),
                tmpfs=((_TEMPORARY, place.limits.tmp_bytes), (_SHARED, place.limits.tmp_bytes)),
                alone=True,
            )
            work = self._landlock.work
            opened = {workspace: work, guest: READ, temporary: work, _SHARED: work, "/proc": LOOK}
        return Launch(
            argv=tuple(
                guest_argv(
                    str(python.executable),
                    guest,
                    workspace=workspace,
                    limits=surroundings.limits,
                    unset=surroundings.unset,
                )
            ),
            environment=environment(workspace, temporary, surroundings.environment),
            cwd=workspace,
            uid=uid,
            cgroups=surroundings.cgroups,
            rlimits={"CORE": 0},
            stage=stage,
            landlock=self._landlock.rules(opened),
            seccomp=self._filter().hex(),
            supervised=True,
            brokered=() if self._users.uids else (workspace, temporary),
        )
