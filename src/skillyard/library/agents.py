"""The coding agents people use, and the folders each of them really reads skills from.

Facts, not wishes: every row follows the agent's own documentation or source. `docs/agents.md` says what was
checked for each; where an agent's behaviour is not documented the field says so (`None`), and nothing is
claimed about it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from skillyard.errors import NotFoundError
from skillyard.skill.names import nearest_name

BASES: Final = {
    "$CLAUDE_CONFIG_DIR": ".claude",
    "$CODEX_HOME": ".codex",
    "$XDG_CONFIG_HOME": ".config",
    "~": "",
}
"""What the first part of a place stands for below the home folder when no such variable is set."""


class Scope(StrEnum):
    """Whose skills a folder holds."""

    PROJECT = "project"
    USER = "user"
    ENVIRONMENT = "environment"
    EXTRA = "extra"
    BUILTIN = "builtin"


class SwitchKind(StrEnum):
    """The settings file in which an agent keeps which skills are off."""

    CLAUDE = "claude"
    CODEX = "codex"
    DISABLED_LIST = "disabled-list"


class Place(NamedTuple):
    """A folder an agent reads: relative to a project, or below the home folder or a variable."""

    scope: Scope
    path: str
    own: bool = False
    """Whether it is this agent's own folder, where a skill meant for it is installed."""


class Budget(NamedTuple):
    """How much of its prompt an agent gives to the list of skills."""

    characters: int
    variable: str = ""
    """An environment variable that changes it."""
    entry: int | None = None
    """The characters of one description that are shown."""
    with_path: bool = False
    """Whether each line also carries the path of the skill."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Agent:
    """An agent and what it reads."""

    id: str
    label: str
    places: tuple[Place, ...]
    """In the agent's own order: the first place that has a skill wins."""
    signs: tuple[str, ...]
    """Paths that exist where the agent is installed."""
    aliases: tuple[str, ...] = ()
    climbs: bool = False
    """Whether project folders are read in every folder from the working one up to the repository's top."""
    depth: int | None = None
    """How many folders below a place a `SKILL.md` may be; None where that is not documented."""
    shows_all: bool = False
    """Whether skills of the same name from several places are all shown, and none is shadowed."""
    name_is_folder: bool = False
    """Whether a skill whose `name` differs from its folder is left out."""
    max_description: int | None = None
    """The length above which a skill is left out."""
    strict_yaml: bool = False
    """Whether a skill is left out whose frontmatter is YAML only once its values are quoted."""
    follows_links: bool = False
    """Whether links to folders are followed wherever they lead; False where that is not documented."""
    budget: Budget | None = None
    switch: SwitchKind | None = None
    settings: tuple[Place, ...] = ()
    """The files of its own switch, weakest first."""


def _own(path: str, scope: Scope = Scope.PROJECT) -> Place:
    return Place(scope, path, own=True)


def _project(*paths: str) -> tuple[Place, ...]:
    return tuple(Place(Scope.PROJECT, path) for path in paths)


def _user(*paths: str) -> tuple[Place, ...]:
    return tuple(Place(Scope.USER, path) for path in paths)


def _own_and_shared(project: str, user: str) -> tuple[Place, ...]:
    """The agent's own folders, each before the one that agents share."""
    return (_own(project), *_project(".agents/skills"), _own(user, Scope.USER), *_user("~/.agents/skills"))


def _plain(id: str, label: str, folder: str, *aliases: str) -> Agent:  # noqa: A002 -- the field's name
    return Agent(
        id=id,
        label=label,
        aliases=aliases,
        signs=(f"~/{folder}",),
        places=(_own(f"{folder}/skills"), _own(f"~/{folder}/skills", Scope.USER)),
    )


AGENTS: Final = (
    Agent(
        id="claude-code",
        label="Claude Code",
        aliases=("claude",),
        signs=("$CLAUDE_CONFIG_DIR",),
        places=(_own("$CLAUDE_CONFIG_DIR/skills", Scope.USER), _own(".claude/skills")),
        climbs=True,
        depth=1,
        budget=Budget(8_000, variable="SLASH_COMMAND_TOOL_CHAR_BUDGET", entry=1_536),
        switch=SwitchKind.CLAUDE,
        settings=(
            *_user("$CLAUDE_CONFIG_DIR/settings.json"),
            *_project(".claude/settings.json", ".claude/settings.local.json"),
        ),
    ),
    Agent(
        id="codex",
        label="Codex",
        aliases=("openai-codex", "codex-cli"),
        signs=("$CODEX_HOME",),
        places=(
            _own(".agents/skills"),
            *_project(".codex/skills"),
            _own("~/.agents/skills", Scope.USER),
            *_user("$CODEX_HOME/skills"),
        ),
        climbs=True,
        depth=6,
        shows_all=True,
        max_description=1_024,
        strict_yaml=True,
        follows_links=True,
        budget=Budget(8_000, with_path=True),
        switch=SwitchKind.CODEX,
        settings=_user("$CODEX_HOME/config.toml"),
    ),
    Agent(
        id="cursor",
        label="Cursor",
        signs=("~/.cursor",),
        places=(
            _own(".cursor/skills"),
            *_project(".agents/skills", ".claude/skills", ".codex/skills"),
            _own("~/.cursor/skills", Scope.USER),
            *_user("~/.agents/skills", "~/.claude/skills", "~/.codex/skills"),
        ),
    ),
    Agent(
        id="gemini-cli",
        label="Gemini CLI",
        aliases=("gemini",),
        signs=("~/.gemini",),
        places=(
            *_project(".agents/skills"),
            _own(".gemini/skills"),
            *_user("~/.agents/skills"),
            _own("~/.gemini/skills", Scope.USER),
        ),
        depth=1,
        switch=SwitchKind.DISABLED_LIST,
        settings=(*_user("~/.gemini/settings.json"), *_project(".gemini/settings.json")),
    ),
    Agent(
        id="github-copilot",
        label="GitHub Copilot",
        aliases=("copilot", "vscode"),
        signs=("~/.copilot",),
        places=(
            _own(".github/skills"),
            *_project(".claude/skills", ".agents/skills"),
            _own("~/.copilot/skills", Scope.USER),
            *_user("~/.agents/skills"),
        ),
    ),
    Agent(
        id="opencode",
        label="OpenCode",
        signs=("$XDG_CONFIG_HOME/opencode",),
        places=(
            _own(".opencode/skills"),
            _own("$XDG_CONFIG_HOME/opencode/skills", Scope.USER),
            *_project(".claude/skills"),
            *_user("~/.claude/skills"),
            *_project(".agents/skills"),
            *_user("~/.agents/skills"),
        ),
        climbs=True,
    ),
    Agent(
        id="amp",
        label="Amp",
        signs=("$XDG_CONFIG_HOME/amp",),
        places=(
            *_user("$XDG_CONFIG_HOME/agents/skills"),
            _own("$XDG_CONFIG_HOME/amp/skills", Scope.USER),
            _own(".agents/skills"),
            *_project(".claude/skills"),
            *_user("~/.claude/skills"),
        ),
    ),
    Agent(
        id="goose",
        label="Goose",
        signs=("$XDG_CONFIG_HOME/goose",),
        places=(
            *_project(".agents/skills"),
            _own(".goose/skills"),
            *_project(".claude/skills"),
            *_user("~/.agents/skills"),
            _own("$XDG_CONFIG_HOME/goose/skills", Scope.USER),
            *_user("$XDG_CONFIG_HOME/agents/skills", "~/.claude/skills"),
        ),
    ),
    Agent(
        id="windsurf",
        label="Windsurf",
        signs=("~/.codeium/windsurf",),
        places=_own_and_shared(".windsurf/skills", "~/.codeium/windsurf/skills"),
    ),
    Agent(
        id="roo",
        label="Roo Code",
        aliases=("roo-code",),
        signs=("~/.roo",),
        places=_own_and_shared(".roo/skills", "~/.roo/skills"),
        depth=1,
        name_is_folder=True,
        max_description=1_024,
    ),
    _plain("kiro", "Kiro", ".kiro", "kiro-cli"),
    Agent(
        id="cline",
        label="Cline",
        signs=("~/.cline",),
        places=(
            _own("~/.cline/skills", Scope.USER),
            *_user("~/.agents/skills"),
            _own(".cline/skills"),
            *_project(".clinerules/skills", ".claude/skills", ".agents/skills"),
        ),
        depth=1,
        name_is_folder=True,
    ),
    Agent(
        id="qwen-code",
        label="Qwen Code",
        aliases=("qwen",),
        signs=("~/.qwen",),
        places=_own_and_shared(".qwen/skills", "~/.qwen/skills"),
        depth=1,
        switch=SwitchKind.DISABLED_LIST,
        settings=(*_user("~/.qwen/settings.json"), *_project(".qwen/settings.json")),
    ),
    Agent(
        id="droid",
        label="Factory Droid",
        aliases=("factory", "factory-droid"),
        signs=("~/.factory",),
        places=(
            _own(".factory/skills"),
            *_project(".agents/skills", ".agent/skills"),
            _own("~/.factory/skills", Scope.USER),
            *_user("~/.agents/skills"),
        ),
        depth=1,
    ),
    Agent(
        id="junie",
        label="Junie",
        signs=("~/.junie",),
        places=(
            _own(".junie/skills"),
            *_project(".agents/skills"),
            _own("~/.junie/skills", Scope.USER),
        ),
    ),
    Agent(
        id="antigravity",
        label="Antigravity",
        signs=("~/.gemini/antigravity",),
        places=(
            _own(".agents/skills"),
            *_project(".agent/skills"),
            _own("~/.gemini/antigravity/skills", Scope.USER),
            *_user("~/.gemini/config/skills"),
        ),
    ),
    Agent(
        id="openclaw",
        label="OpenClaw",
        signs=("~/.openclaw",),
        places=(
            *_user("~/.openclaw/workspace/skills", "~/.openclaw/workspace/.agents/skills", "~/.agents/skills"),
            _own("~/.openclaw/skills", Scope.USER),
        ),
    ),
    Agent(
        id="augment",
        label="Augment",
        signs=("~/.augment",),
        places=(
            _own(".augment/skills"),
            *_project(".claude/skills", ".agents/skills"),
            _own("~/.augment/skills", Scope.USER),
            *_user("~/.claude/skills", "~/.agents/skills"),
        ),
    ),
    _plain("continue", "Continue", ".continue"),
    Agent(
        id="kilo",
        label="Kilo Code",
        aliases=("kilocode",),
        signs=("~/.kilo",),
        places=_own_and_shared(".kilo/skills", "~/.kilo/skills"),
    ),
    Agent(
        id="openhands",
        label="OpenHands",
        signs=("~/.openhands",),
        places=(
            *_project(".agents/skills"),
            _own(".openhands/skills"),
            *_user("~/.agents/skills"),
            _own("~/.openhands/skills", Scope.USER),
        ),
    ),
    _plain("trae", "Trae", ".trae"),
    Agent(
        id="agents",
        label="Any agent (.agents/skills)",
        aliases=("universal", "common"),
        signs=("~/.agents/skills",),
        places=(_own(".agents/skills"), _own("~/.agents/skills", Scope.USER)),
        climbs=True,
    ),
)

_BY_NAME: Final = {name: agent for agent in AGENTS for name in (agent.id, *agent.aliases)}


def find_agent(name: str) -> Agent:
    """The agent of that id or alias, without regard to case."""
    agent = _BY_NAME.get(name.casefold())
    if agent is None:
        near = nearest_name(name.casefold(), _BY_NAME)
        known = ", ".join(agent.id for agent in AGENTS)
        raise NotFoundError(
            f"There is no agent {name!r}.",
            hint=f"Did you mean {near!r}?" if near else f"The agents are: {known}.",
            details={"field": "agent", "value": name},
        )
    return agent


def expand(path: str, *, home: Path, env: Mapping[str, str]) -> Path:
    """Where a place below the home folder or a variable is on this machine."""
    base, _, rest = path.partition("/")
    variable = env.get(base[1:], "").strip() if base.startswith("$") else ""
    # A relative value would mean another folder for every working folder; agents ignore it as well.
    start = Path(variable).expanduser() if variable else home / BASES[base]
    return (start if start.is_absolute() else home / BASES[base]) / rest


def is_present(agent: Agent, *, home: Path, env: Mapping[str, str]) -> bool:
    """Whether there is a sign of the agent on this machine."""
    return any(expand(sign, home=home, env=env).exists() for sign in agent.signs)
