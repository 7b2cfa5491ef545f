"""Where the nodes of a graph work together: one backend for all of them, with every skill that any of them needs."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

from deepagents.backends.protocol import BackendProtocol

from skillyard.agents.deepagents_sandbox import YardSandbox
from skillyard.agents.tool import told
from skillyard.delivery.manifest import MANIFEST_NAME, Manifest
from skillyard.delivery.sandbox_loader import LoadStatus
from skillyard.delivery.sandbox_place import SKILLS_FOLDER
from skillyard.errors import NotFoundError, SkillyardError
from skillyard.remote.client import YardClient

Load: TypeAlias = Callable[[Sequence[str], Any], Awaitable[Mapping[str, LoadStatus]]]
"""Loads skills into a backend, such as `SkillSandboxLoader.load_skills_to_sandbox` for some user, or `preload`."""
_UNTOLD: Final = LoadStatus(loaded=False, reason="Nobody told what became of it.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """A backend that is ready, and what became of each skill that was to be in it."""

    backend: BackendProtocol
    loaded: Mapping[str, LoadStatus] = field(default_factory=dict[str, LoadStatus])


class Workshop(Protocol):
    """Makes the backend of a graph, once, with skills in it."""

    async def open(self, skills: Sequence[str]) -> Opened:
        """Make it; a skill that cannot be loaded keeps neither the others nor the graph."""
        ...

    async def close(self, backend: BackendProtocol) -> None:
        """Take it away; what is gone is taken away already."""
        ...


class YardWorkshop:
    """A sandbox of a yard. The yard puts the skills into it, with all that they require, and keeps them up to date."""

    def __init__(
        self,
        yard: YardClient,
        *,
        agent: str = "",
        learn: bool = False,
        **options: Any,  # noqa: ANN401 -- those of `SandboxClient.create`
    ) -> None:
        self._yard = yard
        self._agent = agent
        self._learn = learn
        self._options = options

    async def open(self, skills: Sequence[str]) -> Opened:
        return await asyncio.to_thread(self._open, skills)

    async def close(self, backend: BackendProtocol) -> None:
        if isinstance(backend, YardSandbox):
            await asyncio.to_thread(backend.close)

    def _open(self, skills: Sequence[str]) -> Opened:
        named: dict[str, str] = {}
        loaded: dict[str, LoadStatus] = {}
        for skill in dict.fromkeys(skills):
            try:
                named[skill] = self._yard.skill(skill.partition("@")[0])["full_name"]
            except SkillyardError as error:
                loaded[skill] = LoadStatus(loaded=False, reason=told(error))
        wanted = [_shipped(skill, full_name) for skill, full_name in named.items()]
        sandbox = YardSandbox.create(self._yard, skills=wanted, agent=self._agent, learn=self._learn, **self._options)
        try:
            return Opened(backend=sandbox, loaded=loaded | self._statuses(sandbox.id, named))
        except BaseException:
            sandbox.close()
            raise

    def _statuses(self, sandbox_id: str, named: Mapping[str, str]) -> dict[str, LoadStatus]:
        try:
            manifest = self._yard.sandboxes.download(sandbox_id, f"{SKILLS_FOLDER}/{MANIFEST_NAME}")
        except NotFoundError:
            manifest = None
        there = {entry.origin.skill: (name, entry.digest) for name, entry in Manifest.read(manifest).entries.items()}
        statuses: dict[str, LoadStatus] = {}
        for skill, full_name in named.items():
            if full_name in there:
                folder, digest = there[full_name]
                statuses[skill] = LoadStatus(loaded=True, folder=folder, digest=digest)
            else:
                statuses[skill] = self._loaded_alone(sandbox_id, _shipped(skill, full_name))
        return statuses

    def _loaded_alone(self, sandbox_id: str, skill: str) -> LoadStatus:
        """What was not delivered with the others, tried by itself: that tells why."""
        (status,) = self._yard.sandboxes.load_skills(sandbox_id, [skill])
        folder = (status["path"] or "").rpartition("/")[2]
        return LoadStatus(
            loaded=status["loaded"], reason=status["reason"], folder=folder, digest=status["digest"] or ""
        )


def _shipped(skill: str, full_name: str) -> str:
    """A skill by its full name, in the version that is asked for, if any is."""
    _, at, version = skill.partition("@")
    return f"{full_name}{at}{version}"


class BackendWorkshop:
    """Any backend of deepagents. `create` makes it, `load` puts skills into it, `close` takes it away."""

    def __init__(
        self,
        create: Callable[[], BackendProtocol | Awaitable[BackendProtocol]],
        load: Load,
        close: Callable[[BackendProtocol], Awaitable[None] | None] | None = None,
    ) -> None:
        self._create = create
        self._load = load
        self._close = close

    async def open(self, skills: Sequence[str]) -> Opened:
        made = self._create()
        backend = await made if inspect.isawaitable(made) else made
        wanted = list(dict.fromkeys(skills))
        try:
            loaded = await self._load(wanted, backend)
        except Exception as error:  # noqa: BLE001 -- whatever keeps skills away, the graph works without them
            reason = told(error) if isinstance(error, SkillyardError) else f"{type(error).__name__}: {error}"
            loaded = dict.fromkeys(wanted, LoadStatus(loaded=False, reason=reason))
        return Opened(backend=backend, loaded={skill: loaded.get(skill, _UNTOLD) for skill in wanted})

    async def close(self, backend: BackendProtocol) -> None:
        ending = self._close(backend) if self._close is not None else None
        if inspect.isawaitable(ending):
            await ending
