"""The toolsets that need a yard, for one client: what they share, and which module each is in."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from skillyard.agents.source import SkillSource
from skillyard.agents.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillyard.agents.yard_source import YardSource
    from skillyard.remote.client import YardClient


class YardToolsets:
    """The tools of a yard, with the rights of one client of it."""

    def __init__(
        self,
        yard: "Callable[[], YardClient]",
        *,
        source: SkillSource | None = None,
        session: str = "",
        agent: str = "",
        local: Path | None = None,
        settle: "Callable[[], None] | None" = None,
    ) -> None:
        """`source` is what the client loads skills from, `local` a folder of the machine that it works on, if any.

        `settle` waits until what it loaded from there is counted.
        """
        self._yard = yard
        self._source = source
        self._session = session
        self._agent = agent
        self._local = local
        self._settle = settle

    def tools(self, name: str) -> list[Tool]:
        """Those of one toolset; each is imported when somebody wants it."""
        return getattr(self, name)()

    def registry(self) -> list[Tool]:
        from skillyard.agents.toolsets.registry import registry_tools  # noqa: PLC0415 -- few clients want it

        return registry_tools(self._yard(), self._skills, session=self._session, agent=self._agent)

    def sandbox(self) -> list[Tool]:
        from skillyard.agents.toolsets.sandbox import sandbox_tools  # noqa: PLC0415 -- as above
        from skillyard.agents.yard_source import YardSource  # noqa: PLC0415 -- as above

        folders = None if isinstance(self._source, YardSource) else self._source
        return sandbox_tools(self._yard(), local=self._local, source=folders)

    def releases(self) -> list[Tool]:
        from skillyard.agents.toolsets.releases import releases_tools  # noqa: PLC0415 -- as above

        return releases_tools(self._yard(), session=self._session, agent=self._agent, settle=self._counted)

    def learning(self) -> list[Tool]:
        from skillyard.agents.toolsets.knowledge import knowledge_tools  # noqa: PLC0415 -- as above
        from skillyard.agents.toolsets.learning import learning_tools  # noqa: PLC0415

        return [*knowledge_tools(self._yard().learning), *learning_tools(self._yard())]

    def _counted(self) -> None:
        """Wait until all that was loaded is counted: from where the client loads, and by tools of the yard."""
        if self._settle is not None:
            self._settle()
        self._skills.close()

    @cached_property
    def _skills(self) -> "YardSource":
        """The skills of the yard: where the client loads from them already, by the same source."""
        from skillyard.agents.yard_source import YardSource  # noqa: PLC0415 -- as above

        return self._source if isinstance(self._source, YardSource) else YardSource(self._yard())
