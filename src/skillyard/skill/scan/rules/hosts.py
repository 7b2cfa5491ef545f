"""What a network address tells: a well-known installer, a place where data is dropped, or neither."""

import re
from enum import Enum, auto
from typing import Final

from skillyard.skill.scan.rule import compiled

_URL: Final = (
    r"(https?)://(?:[^\s/@\"']{1,80}+@)?([a-z0-9.-]{1,253}+|\[[0-9a-f:]{2,45}\])(?::\d{1,5})?"
    r"(/[^\s\"'`)|>]{0,200}+)?"
    r"|(?<=[\s\"'])(localhost|[a-z0-9-]{1,63}+(?:\.[a-z0-9-]{1,63}+){1,6})(?=[:/])"
)
_LINK_LOCAL: Final = re.compile(r"169\.254\.\d{1,3}\.\d{1,3}")
_PRIVATE: Final = re.compile(r"(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d.*")
_ADDRESS: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|\[.*\]|0x[0-9a-f]{8}|\d{8,10}")

_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "[::1]"})  # noqa: S104 - compared, not bound
_INSTALLERS: Final = frozenset({
    "aka.ms", "apt.llvm.org", "astral.sh", "aws.amazon.com", "awscli.amazonaws.com", "bootstrap.pypa.io", "bun.com",
    "bun.sh", "chocolatey.org", "claude.ai", "cli.github.com", "code.claude.com", "cursor.com",
    "deb.nodesource.com", "deno.land", "dl.google.com", "download.docker.com", "download.pytorch.org",
    "fluxcd.io", "fly.io", "foundry.paradigm.xyz", "get.docker.com", "get.helm.sh",
    "get.k3s.io", "get.pnpm.io", "get.scoop.sh", "get.sdkman.io", "get.volta.sh", "hf.co", "huggingface.co",
    "install.python-poetry.org", "istio.io", "mise.run", "nixos.org", "ollama.ai", "ollama.com",
    "opencode.ai", "packages.microsoft.com", "pkgs.k8s.io", "pyenv.run",
    "raw.githubusercontent.com/helm", "raw.githubusercontent.com/homebrew", "raw.githubusercontent.com/nvm-sh",
    "raw.githubusercontent.com/pyenv", "releases.hashicorp.com", "run.linkerd.io",
    "rustup.rs", "rustwasm.github.io", "sdk.cloud.google.com", "starship.rs", "static.rust-lang.org",
    "supabase.com", "tailscale.com", "vercel.com", "zed.dev",
})  # fmt: skip
_COLLECTORS: Final = (
    "webhook.site", "requestbin.com", "requestbin.net", "requestcatcher.com", "beeceptor.com", "hookbin.com",
    "burpcollaborator.net", "oastify.com", "oast.fun", "oast.live", "oast.me", "oast.online", "oast.pro",
    "oast.site", "interact.sh", "interactsh.com", "dnslog.cn", "ceye.io",
)  # fmt: skip
_TUNNELS: Final = (
    "pipedream.net", "ngrok.io", "ngrok-free.app", "ngrok.app", "serveo.net", "localhost.run", "loca.lt",
    "trycloudflare.com", "transfer.sh", "file.io", "0x0.st", "bashupload.com", "termbin.com",
)  # fmt: skip
_PASTES: Final = (
    "pastebin.com", "paste.ee", "hastebin.com", "ghostbin.com", "rentry.co", "glot.io", "dpaste.org",
    "controlc.com", "bit.ly", "tinyurl.com", "is.gd", "t.ly", "cutt.ly", "rb.gy", "shorturl.at", "goo.gl",
    "cdn.discordapp.com", "anonfiles.com", "gofile.io",
)  # fmt: skip
_SUSPECTS: Final = frozenset({*_COLLECTORS, *_TUNNELS, *_PASTES})

COLLECTORS: Final = "|".join(map(re.escape, _COLLECTORS))
TUNNELS: Final = "|".join(map(re.escape, _TUNNELS))


class Host(Enum):
    NONE = auto()
    """There is no address: a placeholder, a variable or an ellipsis."""
    LOCAL = auto()
    WELL_KNOWN = auto()
    UNKNOWN = auto()
    SUSPECT = auto()
    """A paste, a shortener, a tunnel, a collector, a bare number or an address without encryption."""


def host_in(command: bytes) -> Host:
    """What the first address in a command is."""
    match = compiled(_URL).search(command)
    if match is None:
        return Host.NONE
    scheme, named, path, bare = (part.decode(errors="replace") if part else "" for part in match.groups())
    name = (named or bare).strip(".")
    if name in _LOCAL or name.endswith((".local", ".internal", ".test", ".localhost")) or _LINK_LOCAL.match(name):
        return Host.LOCAL
    if _PRIVATE.match(name):
        return Host.UNKNOWN
    if name.startswith(("your-", "your.", "example.")) or _is_under(name, {"example.com", "example.org"}):
        return Host.NONE
    if _ADDRESS.fullmatch(name) or _is_under(name, _SUSPECTS):
        return Host.SUSPECT
    owner = f"{name}/{path.lstrip('/').partition('/')[0]}"
    if owner in _INSTALLERS or _is_under(name, _INSTALLERS):
        return Host.WELL_KNOWN
    return Host.SUSPECT if scheme == "http" else Host.UNKNOWN


def _is_under(name: str, hosts: frozenset[str] | set[str]) -> bool:
    parts = name.split(".")
    return any(".".join(parts[index:]) in hosts for index in range(len(parts) - 1))
