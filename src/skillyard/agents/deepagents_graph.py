"""Deep agents whose nodes share one backend: made once, with every node's skills in it, and taken away at the end."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from skillyard.agents.extra import missing_extra

try:
    import deepagents
except ModuleNotFoundError as error:
    raise missing_extra(error) from error
from deepagents import SubAgent
from deepagents.backends import CompositeBackend
from deepagents.backends.protocol import BackendProtocol
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from skillyard.agents.deepagents_sandbox import ARTIFACTS
from skillyard.agents.deepagents_skills import FreshSkillsMiddleware
from skillyard.agents.workshops import Opened, Workshop
from skillyard.delivery.sandbox_loader import LoadStatus
from skillyard.errors import UsageError
from skillyard.search.catalog import BUDGET

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class AgentNode:
    """One agent of a graph."""

    name: str
    description: str = ""
    """What the first node is told that this one is for."""
    system_prompt: str = ""
    skills: tuple[str, ...] = ()
    """Skills by name or id, such as `team/pdf@stable`; it is shown these and no others."""
    tools: tuple[BaseTool | Callable[..., Any] | dict[str, Any], ...] = ()
    model: str | BaseChatModel | None = None
    """The model of the graph unless given."""


class DeepAgentsGraphBuilder:
    """Builds a deep agent: the first node answers, and gives work to the others.

    The backend is made with the first `build`, and every skill that some node needs is put into it then, once. A skill
    that cannot be loaded is logged and in `loaded`, and stops nothing. `cleanup_backend` may be called any number of
    times; `async with` does both.
    """

    def __init__(
        self,
        nodes: Sequence[AgentNode],
        *,
        model: str | BaseChatModel,
        workshop: Workshop,
        budget: int = BUDGET,
        **options: Any,  # noqa: ANN401 -- those of `create_deep_agent`
    ) -> None:
        if not nodes:
            raise UsageError("A graph needs at least one node.", hint="Give the agent that answers as the first one.")
        self._nodes = tuple(nodes)
        self._model = model
        self._workshop = workshop
        self._budget = budget
        self._options = options
        self._turn = asyncio.Lock()
        self._opened: Opened | None = None

    @property
    def backend(self) -> BackendProtocol | None:
        """What all nodes share, while it is there."""
        return self._opened.backend if self._opened else None

    @property
    def loaded(self) -> Mapping[str, LoadStatus]:
        """What became of each skill."""
        return self._opened.loaded if self._opened else {}

    async def build(self) -> Runnable[Any, Any]:
        """The agent. Built again, it has the same backend, and nothing is loaded again."""
        opened = await self._open()
        # Asked outside of the workspace, a sandbox may answer, but lets nobody write.
        backend = CompositeBackend(default=opened.backend, routes={}, artifacts_root=ARTIFACTS)
        first, *others = self._nodes
        return cast("Any", deepagents).create_deep_agent(
            model=first.model or self._model,
            tools=list(first.tools),
            system_prompt=first.system_prompt or None,
            middleware=self._skills_of(first, backend),
            subagents=[self._subagent(node, backend) for node in others],
            backend=backend,
            name=first.name,
            **self._options,
        )

    async def cleanup_backend(self) -> None:
        """Take the backend away. Once it is gone, nothing happens; where that failed, calling it again tries again."""
        async with self._turn:
            if self._opened is not None:
                await self._workshop.close(self._opened.backend)
                self._opened = None

    async def __aenter__(self) -> Runnable[Any, Any]:
        try:
            return await self.build()
        except BaseException:
            await self.cleanup_backend()
            raise

    async def __aexit__(self, *_: object) -> None:
        await self.cleanup_backend()

    async def _open(self) -> Opened:
        async with self._turn:
            if self._opened is None:
                skills = dict.fromkeys(skill for node in self._nodes for skill in node.skills)
                self._opened = await self._workshop.open(list(skills))
                for skill, status in self._opened.loaded.items():
                    if not status:
                        _log.warning("The skill %s is not there for the agent: %s", skill, status.reason)
            return self._opened

    def _subagent(self, node: AgentNode, backend: BackendProtocol) -> SubAgent:
        return SubAgent(
            name=node.name,
            description=node.description or node.name,
            system_prompt=node.system_prompt,
            tools=list(node.tools),
            model=node.model or self._model,
            middleware=self._skills_of(node, backend),
        )

    def _skills_of(self, node: AgentNode, backend: BackendProtocol) -> list[Any]:
        folders = [self.loaded[skill].folder for skill in node.skills if self.loaded[skill]]
        return [FreshSkillsMiddleware(backend=backend, only=folders, budget=self._budget)] if folders else []
