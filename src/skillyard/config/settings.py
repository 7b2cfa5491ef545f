"""Every setting, its meaning, its limits and its default."""

import ipaddress
import json
import os
import re
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from skillyard.config.files import read_config_file, read_project_file, split_roots
from skillyard.config.paths import default_home, project_config_file, user_config_file
from skillyard.config.sections import Learning, Releases, SandboxCeilings, SkillInjection

ENV_PREFIX: Final = "SKILLYARD_"
DOCUMENT_ROOT: Final = "DOCUMENT_ROOT"
"""The variable by which other programs already name the folder that holds `skills/`."""
FOREIGN: Final = {
    "document_root": DOCUMENT_ROOT,
    "docker_host": "DOCKER_HOST",
    "computer_use_mcp_url": "COMPUTER_USE_MCP_URL",
    "use_skill_creator_workflow": "USE_SKILL_CREATOR_WORKFLOW",
    "mcp_server_url": "MCP_SERVER_URL",
    "mcp_server_name": "MCP_SERVER_NAME",
}
"""Settings that are also read from the variables by which other programs know them."""
_UIDS: Final = re.compile(r"([0-9]{1,10})-([0-9]{1,10})")


class Settings(BaseSettings):
    """What a person can set: by flag, environment, project file or user file, first one wins."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        env_nested_delimiter="__",
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        validate_default=True,
    )

    home: Path = Field(default_factory=default_home, description="Where Skillyard keeps its own data.")
    roots: Annotated[tuple[Path, ...], NoDecode] = Field(
        default=(), description="Further folders to read skills from, before the well-known ones."
    )
    document_root: Path | None = Field(
        default=None, description="A folder whose `skills/` is one more place to read skills from."
    )
    environments: Path | None = Field(
        default=None, description="The folder of all environments; without it, `environments` beside your own file."
    )
    active_environment: str | None = Field(
        default=None, min_length=1, description="The environment whose skills and agents are in use."
    )
    max_depth: int = Field(default=5, ge=1, le=32, description="How deep below a root skills are looked for.")
    prompt_budget: int = Field(
        default=8000, ge=0, description="Characters that the skill list may take in an agent's prompt."
    )
    host: str = Field(default="127.0.0.1", min_length=1, description="The address `skillyard serve` binds.")
    port: int = Field(default=8321, ge=0, le=65535, description="The port of `skillyard serve`; 0 picks one.")

    database_url: str | None = Field(
        default=None, description="Where the registry is kept: `sqlite:////file` or `postgresql://user@host/name`."
    )
    blobs_url: str | None = Field(
        default=None, description="Where its files are kept: a folder or `s3://bucket/prefix`."
    )
    auth: Literal["local", "token"] = Field(
        default="local", description="Who may use the server: the person at this machine, or whoever has a token."
    )
    admin_token: SecretStr | None = Field(
        default=None, min_length=16, description="The token of the first administrator; set it in the environment."
    )
    rate_limit: int = Field(
        default=1200, ge=0, description="Requests that a token may make in a minute; 0 means no limit."
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Addresses or networks of proxies that are trusted to say who is calling."
    )
    keep_refused_days: int = Field(default=30, ge=1, le=3650, description="Days for which refused files are kept.")

    oidc_issuer: str | None = Field(
        default=None, min_length=1, description="The address of the identity provider that people may sign in with."
    )
    oidc_client_id: str | None = Field(
        default=None, min_length=1, description="The server's client id at the identity provider."
    )
    oidc_client_secret: SecretStr | None = Field(
        default=None, description="The server's secret at the identity provider; set it in the environment."
    )
    oidc_tenant: str = Field(
        default="default", min_length=1, description="The tenant of those who sign in with the identity provider."
    )
    oidc_admins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Which of them administer the tenant: verified e-mail addresses or subjects."
    )
    oidc_domains: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="The domains that their verified e-mail addresses must have."
    )

    server: str | None = Field(default=None, description="The yard that commands use; without it, this machine's.")
    token: SecretStr | None = Field(default=None, description="Your token at that yard; set it in the environment.")

    embeddings: str | None = Field(
        default=None, min_length=1, description="What helps search: `wordllama`, or the address of an embeddings API."
    )
    embeddings_model: str | None = Field(
        default=None, min_length=1, description="The model to ask for at that address."
    )
    embeddings_api_key: SecretStr | None = Field(
        default=None, description="Your key at that address; set it in the environment."
    )
    embeddings_languages: Literal["all", "english"] = Field(
        default="all", description="The languages that the model at that address knows."
    )
    embeddings_weight: int = Field(
        default=20, ge=0, le=100, description="How much embeddings count compared with words, in percent."
    )

    sandbox_backend: Literal["auto", "bwrap", "landlock", "docker", "mcp", "unsafe"] = Field(
        default="auto", description="How sandboxes are isolated; `unsafe` does not isolate, and must be named."
    )
    sandbox_uids: str = Field(
        default="700000-765535", description="The user ids for sandboxes when the server runs as root."
    )
    sandbox_ttl: int = Field(
        default=0, ge=0, le=315_360_000, description="Default lifetime of a sandbox in seconds; 0 means no limit."
    )
    sandbox_idle_ttl: int = Field(
        default=1800, ge=0, le=315_360_000, description="Idle seconds after which a sandbox is stopped."
    )
    sandboxes_per_person: int = Field(
        default=100, ge=0, description="Sandboxes that one person may have; 0 means no limit."
    )
    cargos_per_person: int = Field(
        default=100, ge=0, description="Cargos made without a sandbox that one person may have; 0 means no limit."
    )
    sandbox_ceilings: Annotated[SandboxCeilings, NoDecode] = Field(
        default_factory=SandboxCeilings, description="The most that any sandbox may have."
    )
    sandbox_allow_private: bool | None = Field(
        default=None, description="Whether a sandbox's allow-list may name this machine and its private network."
    )
    docker_host: str | None = Field(
        default=None, min_length=1, description="The Docker host of sandboxes; without it, this machine's."
    )
    docker_image: str = Field(
        default="python:3.12-slim", min_length=1, description="The image of sandboxes on Docker; it has `python3`."
    )
    computer_use_mcp_url: str | None = Field(
        default=None,
        min_length=1,
        description="The computer-use server of the backend `mcp` and of `skill-creator`; `local` is our own sandbox.",
    )
    chromium: Path | None = Field(
        default=None, description="The browser of sandboxes; without it, the first Chromium that is found."
    )
    skill_injection: Annotated[SkillInjection, NoDecode] = Field(
        default_factory=SkillInjection, description="Which learned skills sandboxes get when they start."
    )
    releases: Annotated[Releases, NoDecode] = Field(
        default_factory=Releases, description="When learned skills are released to all, and when they are rolled back."
    )
    job_workers: int = Field(
        default=4, ge=1, le=64, description="Jobs (mining, replays, learning) that a server works on at once."
    )

    model: str | None = Field(
        default=None, min_length=1, description="The model that learns from feedback, as `provider:model`."
    )
    model_base_url: str | None = Field(
        default=None, min_length=1, description="The address of an OpenAI-compatible server that the model is on."
    )
    model_api_key: SecretStr | None = Field(
        default=None, description="Your key at the model's provider; set it in the environment."
    )
    learning: Annotated[Learning, NoDecode] = Field(
        default_factory=Learning, description="What learning may do without review, and what one lesson may cost."
    )
    use_skill_creator_workflow: bool = Field(
        default=False, description="Whether learned skills are made with the `skill-creator` skill in a sandbox."
    )
    mcp_server_url: str | None = Field(
        default=None,
        min_length=1,
        description="The skill server that `skill-creator` is read from; without it, our own.",
    )
    mcp_server_name: str = Field(default="claude-skills", min_length=1, description="The name of that skill server.")

    @property
    def database(self) -> str:
        """The database's URL; by default a file in the home."""
        return self.database_url or f"sqlite:///{self.home / 'registry.sqlite'}"

    @property
    def uids(self) -> range:
        """The users that sandboxes may run as."""
        first, _, last = self.sandbox_uids.partition("-")
        return range(int(first), int(last) + 1)

    @property
    def private_network(self) -> bool:
        """Whether everyone may list addresses of this machine and its network; by default where there is only one."""
        return self.auth == "local" if self.sandbox_allow_private is None else self.sandbox_allow_private

    @property
    def blobs(self) -> str:
        """The place of the blobs; by default a folder in the home."""
        return self.blobs_url or str(self.home / "blobs")

    @field_validator("roots", mode="before")
    @classmethod
    def _split_roots(cls, value: Any) -> Any:  # noqa: ANN401 -- what a source gave is anything
        return split_roots(value) if isinstance(value, str) else value

    @field_validator("oidc_admins", "oidc_domains", "trusted_proxies", mode="before")
    @classmethod
    def _split_list(cls, value: Any) -> Any:  # noqa: ANN401 -- what a source gave is anything
        return tuple(part for part in re.split(r"[\s,]+", value) if part) if isinstance(value, str) else value

    @field_validator("trusted_proxies")
    @classmethod
    def _networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for address in value:
            ipaddress.ip_network(address)
        return value

    @field_validator("sandbox_uids")
    @classmethod
    def _uids(cls, value: str) -> str:
        found = _UIDS.fullmatch(value)
        if found is None or not 0 < int(found[1]) <= int(found[2]) < 2**32 - 2:
            raise ValueError("it is no range of users")
        return value

    @field_validator("skill_injection", "sandbox_ceilings", "releases", "learning", mode="before")
    @classmethod
    def _section(cls, value: Any) -> Any:  # noqa: ANN401 -- what a source gave is anything
        return json.loads(value) if isinstance(value, str) else value

    @field_validator("home", "document_root", "environments", "roots", "chromium")
    @classmethod
    def _absolute(cls, value: Path | tuple[Path, ...] | None) -> Path | tuple[Path, ...] | None:
        if isinstance(value, tuple):
            return tuple(map(_expanded, value))
        return value and _expanded(value)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 -- the signature is pydantic-settings'
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (
            init_settings,
            VariableSource(settings_cls),
            *file_sources(settings_cls),
        )


def _expanded(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("no path holds a zero byte")
    try:
        return path.expanduser().absolute()
    except RuntimeError:
        raise ValueError("there is no such user") from None


class VariableSource(EnvSettingsSource):
    """`SKILLYARD_*` from the environment, and a few variables of other programs under their own names."""

    def __call__(self) -> dict[str, Any]:
        values = super().__call__()
        for key, variable in FOREIGN.items():
            foreign = os.environ.get(variable)
            if foreign:
                values.setdefault(key, foreign)
        return values

    def variable(self, key: str) -> str:
        """The name of the variable that gave `key` its value."""
        own = f"{ENV_PREFIX}{key.upper()}"
        return own if os.environ.get(own) or key not in FOREIGN else FOREIGN[key]


class FileSource(InitSettingsSource):
    """The settings of one configuration file."""

    def __init__(self, settings_cls: type[BaseSettings], path: Path, values: dict[str, Any]) -> None:
        self.path = path
        super().__init__(settings_cls, init_kwargs=values)


def file_sources(settings_cls: type[BaseSettings]) -> tuple[FileSource, FileSource]:
    """The project's file and the person's own, the stronger first; one that is not there gives nothing."""
    project, user = project_config_file(), user_config_file()
    keys = Settings.model_fields
    return (
        FileSource(settings_cls, project, read_project_file(project, keys=keys)),
        FileSource(settings_cls, user, read_config_file(user, keys=keys)),
    )
