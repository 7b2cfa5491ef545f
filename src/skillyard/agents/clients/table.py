"""The programs that talk to MCP servers, the files in which they keep their servers, and how an entry looks there.

Facts, not wishes: every row follows the program's own documentation. `docs/mcp-clients.md` lists them.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from skillyard.errors import NotFoundError
from skillyard.library.agents import expand, find_agent
from skillyard.library.roots import Machine, project_folders
from skillyard.skill.names import nearest_name

TOKEN: Final = "SKILLYARD_TOKEN"  # noqa: S105 -- the name of a variable
PATIENCE: Final = 30.0
"""Seconds that most programs wait for a server, at least."""
_APPLICATION_DATA: Final = "$APPLICATION_DATA"
_CLAUDE: Final = "$CLAUDE_CONFIG_DIR"
_COPILOT: Final = "$COPILOT_HOME"


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """The server that is entered: a command of this machine, or an address."""

    command: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    url: str = ""
    with_token: bool = False
    """Whether the server wants a token, which is read from `SKILLYARD_TOKEN` and never written."""
    is_shared: bool = False
    """Whether others read the entry too, on machines where it may not work."""


Entry = Callable[[Server], dict[str, Any] | None]
"""A server as a program writes it; None for one of a kind that it cannot use."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Client:
    """A program, and where it keeps its servers."""

    id: str
    label: str
    entry: Entry
    aliases: tuple[str, ...] = ()
    project: tuple[str, ...] = ()
    """Files of a project that it reads; the first that is there is changed, else the first is made."""
    user: tuple[str, ...] = ()
    """The same below the home folder or a variable."""
    keys: tuple[str, ...] = ("mcpServers",)
    """Where in the file the servers are."""
    signs: tuple[str, ...] = ()
    """Paths that exist where the program is installed."""
    remark: str = ""
    """What its person has to do once."""
    hands_on: tuple[str, ...] | None = None
    """The only variables that it passes on to servers by itself; None if it passes on all, as far as is known."""
    waits: Callable[[Mapping[str, Any]], float] = lambda _entry: PATIENCE
    """The seconds that it waits for the tools of a server with such an entry."""
    own_check: tuple[str, ...] = ()
    """Its own command that fails if it does not read the entry, without the name of the server."""

    def files(self, machine: Machine, *, user: bool) -> tuple[Path, ...]:
        if user:
            return tuple(_expand(path, machine) for path in self.user)
        return tuple(project_folders(machine)[-1] / path for path in self.project)

    def is_here(self, machine: Machine) -> bool:
        """Whether there is a sign of the program on this machine, or in this project."""
        if any(_expand(sign, machine).exists() for sign in self.signs):
            return True
        return any(file.exists() for file in self.files(machine, user=True))


def plain(
    *,
    kind: str = "",
    url: str = "",
    url_kind: str = "",
    variable: str = "",
    withholds: bool = False,
    more: Mapping[str, Any] | None = None,
) -> Entry:
    """The common shape: `command`, `args` and `env`, or where `url` names the key an address with headers.

    `variable` is how a variable is written there, such as `${%s}`; without it no address that wants a token fits.
    `withholds` is for a program that hides tokens from the servers it starts, unless their entries name them.
    """

    def entry(server: Server) -> dict[str, Any] | None:
        if not server.url:
            told: dict[str, Any] = {"type": kind} if kind else {}
            told |= {"command": server.command[0], "args": list(server.command[1:])}
            named = {TOKEN: variable % TOKEN} if withholds and server.with_token else {}
            environment = {**server.environment, **named}
            return told | ({"env": environment} if environment else {}) | dict(more or {})
        if not url or (server.with_token and not variable):
            return None
        told = {"type": url_kind} if url_kind else {}
        told[url] = server.url
        if server.with_token:
            told["headers"] = {"Authorization": f"Bearer {variable % TOKEN}"}
        return told | dict(more or {})

    return entry


_CODEX_TIMEOUT: Final = "startup_timeout_sec"
_CODEX_STARTUP: Final = 10.0
_CODEX_FIRST_TURN: Final = 1.0


def _codex(server: Server) -> dict[str, Any]:
    if server.url:
        return {"url": server.url} | ({"bearer_token_env_var": TOKEN} if server.with_token else {})
    told: dict[str, Any] = {"command": server.command[0], "args": list(server.command[1:])}
    told |= {"env": dict(server.environment)} if server.environment else {}
    # It hands on a few variables, and those that are named.
    told |= {"env_vars": [TOKEN]} if server.with_token else {}
    # Without `required` Codex begins after a second, with the tools that it has by then. With it, Codex does not start
    # at all if the server cannot be started; that is not ours to decide for others.
    required = {} if server.is_shared else {"required": True}
    return told | required | {_CODEX_TIMEOUT: int(PATIENCE)}


def _codex_waits(entry: Mapping[str, Any]) -> float:
    if entry.get("url") or entry.get("required"):
        return float(entry.get(_CODEX_TIMEOUT) or _CODEX_STARTUP)
    return _CODEX_FIRST_TURN


def _opencode(server: Server) -> dict[str, Any]:
    if server.url:
        headers = {"headers": {"Authorization": f"Bearer {{env:{TOKEN}}}"}} if server.with_token else {}
        return {"type": "remote", "url": server.url, "enabled": True, **headers}
    environment = {"environment": dict(server.environment)} if server.environment else {}
    return {"type": "local", "command": list(server.command), "enabled": True, **environment}


_EDITOR: Final = f"{_APPLICATION_DATA}/Code/User"
_ENV: Final = "${env:%s}"
_SHELL: Final = "${%s}"

CLIENTS: Final = (
    Client(
        id="claude-code",
        label="Claude Code",
        aliases=("claude",),
        project=(".mcp.json",),
        user=(f"{_CLAUDE}/.claude.json",),
        signs=("~/.claude",),
        entry=plain(kind="stdio", url="url", url_kind="http", variable=_SHELL),
        remark="Claude Code asks once whether a project's servers may be used.",
    ),
    Client(
        id="claude-desktop",
        label="Claude Desktop",
        user=(f"{_APPLICATION_DATA}/Claude/claude_desktop_config.json",),
        signs=(f"{_APPLICATION_DATA}/Claude",),
        entry=plain(),
    ),
    Client(
        id="codex",
        label="Codex",
        aliases=("openai-codex", "codex-cli"),
        project=(".codex/config.toml",),
        user=("$CODEX_HOME/config.toml",),
        keys=("mcp_servers",),
        signs=("$CODEX_HOME",),
        entry=_codex,
        remark="Codex reads a project's file once the project is trusted. Check whether it gets the tools: "
        "skillyard mcp test --agent codex",
        hands_on=(
            *("HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ"),
            "__CF_USER_TEXT_ENCODING",
        ),
        waits=_codex_waits,
        own_check=("codex", "mcp", "get"),
    ),
    Client(
        id="cursor",
        label="Cursor",
        project=(".cursor/mcp.json",),
        user=("~/.cursor/mcp.json",),
        signs=("~/.cursor",),
        entry=plain(url="url", variable=_ENV),
    ),
    Client(
        id="vscode",
        label="VS Code",
        aliases=("code", "vs-code"),
        project=(".vscode/mcp.json",),
        user=(f"{_EDITOR}/mcp.json",),
        keys=("servers",),
        signs=(_EDITOR,),
        entry=plain(kind="stdio", url="url", url_kind="http", variable=_ENV),
    ),
    Client(
        id="github-copilot",
        label="GitHub Copilot CLI",
        aliases=("copilot",),
        user=(f"{_COPILOT}/mcp-config.json",),
        signs=(_COPILOT,),
        entry=plain(kind="local", url="url", url_kind="http", variable=_SHELL, more={"tools": ["*"]}),
    ),
    Client(
        id="gemini-cli",
        label="Gemini CLI",
        aliases=("gemini",),
        project=(".gemini/settings.json",),
        user=("~/.gemini/settings.json",),
        signs=("~/.gemini",),
        entry=plain(url="httpUrl", variable=_SHELL, withholds=True),
    ),
    Client(
        id="qwen-code",
        label="Qwen Code",
        aliases=("qwen",),
        project=(".qwen/settings.json",),
        user=("~/.qwen/settings.json",),
        signs=("~/.qwen",),
        entry=plain(url="httpUrl", variable=_SHELL),
    ),
    Client(
        id="opencode",
        label="OpenCode",
        project=("opencode.json", "opencode.jsonc"),
        user=("$XDG_CONFIG_HOME/opencode/opencode.json", "$XDG_CONFIG_HOME/opencode/opencode.jsonc"),
        keys=("mcp",),
        signs=("$XDG_CONFIG_HOME/opencode",),
        entry=_opencode,
    ),
    Client(
        id="windsurf",
        label="Windsurf",
        user=("~/.codeium/windsurf/mcp_config.json",),
        signs=("~/.codeium/windsurf",),
        entry=plain(url="serverUrl", variable=_ENV),
    ),
    Client(
        id="amp",
        label="Amp",
        project=(".amp/settings.json",),
        user=("$XDG_CONFIG_HOME/amp/settings.json",),
        keys=("amp.mcpServers",),
        signs=("$XDG_CONFIG_HOME/amp",),
        entry=plain(url="url", variable=_SHELL),
    ),
    Client(
        id="zed",
        label="Zed",
        project=(".zed/settings.json",),
        user=("$XDG_CONFIG_HOME/zed/settings.json",),
        keys=("context_servers",),
        signs=("$XDG_CONFIG_HOME/zed",),
        entry=plain(url="url"),
    ),
    Client(
        id="kiro",
        label="Kiro",
        aliases=("kiro-cli",),
        project=(".kiro/settings/mcp.json",),
        user=("~/.kiro/settings/mcp.json",),
        signs=("~/.kiro",),
        entry=plain(url="url", variable=_SHELL),
    ),
    Client(
        id="droid",
        label="Factory Droid",
        aliases=("factory", "factory-droid"),
        project=(".factory/mcp.json",),
        user=("~/.factory/mcp.json",),
        signs=("~/.factory",),
        entry=plain(kind="stdio", url="url", url_kind="http"),
    ),
    Client(
        id="junie",
        label="Junie",
        project=(".junie/mcp/mcp.json",),
        user=("~/.junie/mcp/mcp.json",),
        signs=("~/.junie",),
        entry=plain(),
    ),
    Client(
        id="roo",
        label="Roo Code",
        aliases=("roo-code",),
        project=(".roo/mcp.json",),
        user=(f"{_EDITOR}/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",),
        signs=("~/.roo", f"{_EDITOR}/globalStorage/rooveterinaryinc.roo-cline"),
        entry=plain(url="url", url_kind="streamable-http"),
    ),
    Client(
        id="cline",
        label="Cline",
        user=(
            f"{_EDITOR}/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            "~/.cline/data/settings/cline_mcp_settings.json",
        ),
        signs=(f"{_EDITOR}/globalStorage/saoudrizwan.claude-dev", "~/.cline"),
        entry=plain(url="url", url_kind="streamableHttp"),
    ),
    Client(
        id="kilo",
        label="Kilo Code",
        aliases=("kilocode",),
        project=(".kilo/kilo.jsonc", ".kilo/kilo.json", "kilo.jsonc", "kilo.json"),
        user=("$XDG_CONFIG_HOME/kilo/kilo.jsonc", "$XDG_CONFIG_HOME/kilo/kilo.json"),
        keys=("mcp",),
        signs=("$XDG_CONFIG_HOME/kilo", "~/.kilocode"),
        entry=_opencode,
    ),
    Client(
        id="continue",
        label="Continue",
        project=(".continue/mcpServers/mcp.json",),
        signs=("~/.continue",),
        entry=plain(),
    ),
    Client(
        id="trae",
        label="Trae",
        project=(".trae/mcp.json",),
        signs=("~/.trae",),
        entry=plain(),
    ),
    Client(
        id="antigravity",
        label="Antigravity",
        project=(".agents/mcp_config.json",),
        user=("~/.gemini/config/mcp_config.json", "~/.gemini/antigravity/mcp_config.json"),
        signs=("~/.gemini/config", "~/.gemini/antigravity"),
        entry=plain(url="serverUrl"),
    ),
)

_BY_NAME: Final = {name: client for client in CLIENTS for name in (client.id, *client.aliases)}


def find_client(name: str) -> Client:
    """The program of that id or alias, without regard to case."""
    client = _BY_NAME.get(name.casefold())
    if client is not None:
        return client
    known = ", ".join(client.id for client in CLIENTS)
    near = nearest_name(name.casefold(), _BY_NAME)
    raise NotFoundError(
        f"{_label(name)} is none of those whose list of MCP servers can be changed here.",
        hint=f"Did you mean {near!r}?" if near else f"Choose of: {known}. Any other can start: skillyard mcp serve",
        details={"field": "agent", "value": name},
    )


def _label(name: str) -> str:
    try:
        return find_agent(name).label
    except NotFoundError:
        return repr(name)


def _expand(path: str, machine: Machine) -> Path:
    """Where a place below the home folder or a variable is on this machine."""
    base, _, rest = path.partition("/")
    if base == _APPLICATION_DATA:
        return _application_data(machine) / rest
    if base in {_CLAUDE, _COPILOT}:
        named = Path(machine.env.get(base[1:], "")).expanduser()
        default = machine.home if base == _CLAUDE else machine.home / ".copilot"
        return (named if named.is_absolute() else default) / rest
    return expand(path, home=machine.home, env=machine.env)


def _application_data(machine: Machine) -> Path:
    """Where programs with windows keep their settings."""
    if sys.platform == "darwin":
        return machine.home / "Library/Application Support"
    if sys.platform == "win32":
        return Path(machine.env.get("APPDATA") or machine.home / "AppData/Roaming")
    return expand("$XDG_CONFIG_HOME", home=machine.home, env=machine.env)
