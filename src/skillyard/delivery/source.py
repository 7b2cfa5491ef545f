"""Where a skill comes from: a folder, an archive, a git repository, a URL or a discovery index."""

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

from skillyard.errors import InputError, NotAllowedError

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SCP: Final = re.compile(r"[A-Za-z0-9_][\w.-]*@[A-Za-z0-9_][\w.-]*:(?!//)[^\s-]\S*")
# What `git check-ref-format` refuses, and the signs that turn a ref into a refspec or an option.
_BAD_REF: Final = re.compile(r"^[-+/.]|[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|[/.]$")
_VERSION: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,127}")
_SECRET_PARAMETER: Final = re.compile(r"token|secret|password|signature|credential|api_?key|^key$|^sig$", re.IGNORECASE)
_FORMS_HINT: Final = "See `skillyard add --help` for the forms a source can have."


class SourceKind(StrEnum):
    FOLDER = "folder"
    ARCHIVE = "archive"
    GIT = "git"
    URL = "url"
    INDEX = "index"
    LOCAL = "local"
    """Nothing but the installed folder itself: adopted, with nowhere to update from."""


REMOTE: Final = frozenset({SourceKind.GIT, SourceKind.URL, SourceKind.INDEX})


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """One place to fetch skills from. One that exists is safe to hand to git and to an HTTP client."""

    kind: SourceKind
    location: str = ""
    """An absolute path, a URL, or `user@host:path`; never with a password in it."""
    ref: str = ""
    """Git: the branch, tag or commit asked for; empty is the default branch. An index: the version asked for."""
    subpath: str = ""
    """The folder inside the repository or tree; for an index, the name of the skill."""
    digest: str = ""
    """`sha256:<hex>` that the downloaded bytes or the skill's tree must have."""

    def __post_init__(self) -> None:
        for problem, hint in _problems(self):
            raise InputError(problem, hint=hint, details={"field": "source", "kind": self.kind.value})

    def __str__(self) -> str:
        """The source as a person would type it."""
        text = f"{self.location}//{self.subpath}" if self.subpath else self.location
        if self.kind is SourceKind.INDEX:
            return f"{self.location} ({self.listing})" if self.subpath else self.location
        fragment = "&".join(filter(None, [self.ref, self.digest.replace(":", "=")]))
        return (f"{text}#{fragment}" if fragment else text) or self.kind.value

    @property
    def words(self) -> tuple[str, ...]:
        """The source as arguments of `skillyard add`."""
        if self.kind is SourceKind.INDEX and self.subpath:
            return self.location, "--skill", self.listing
        return (str(self),)

    @property
    def tree(self) -> "Source":
        """The whole repository, folder or index, for reading several of its skills at once."""
        ref = "" if self.kind is SourceKind.INDEX else self.ref
        return replace(self, subpath="", digest="", ref=ref)

    @property
    def listing(self) -> str:
        """A skill of an index as it is requested: its name, and the version if one is requested."""
        return f"{self.subpath}@{self.ref}" if self.ref else self.subpath

    @property
    def recordable(self) -> "Source":
        """The source as it may be written down: query parameters that carry a secret are left out."""
        if self.kind not in {SourceKind.URL, SourceKind.INDEX}:
            return self
        parts = urlsplit(self.location)
        secret = any(_SECRET_PARAMETER.search(name) for name, _ in parse_qsl(parts.query, keep_blank_values=True))
        return replace(self, location=urlunsplit(parts._replace(query=""))) if secret else self


def is_digest(text: str) -> bool:
    return _DIGEST.fullmatch(text) is not None


def is_commit(ref: str) -> bool:
    """Whether a ref is a full commit id, which can never come to mean something else."""
    return _COMMIT.fullmatch(ref) is not None


def is_loopback(host: str | None) -> bool:
    if host is None:
        return False
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_reachable(url: str, *, allow_http: bool) -> None:
    """Refuse what is not encrypted, except on this machine or when the caller allows it."""
    parts = urlsplit(url)
    if parts.scheme == "http" and not allow_http and not is_loopback(parts.hostname):
        raise NotAllowedError(
            f"{url} is plain http: what arrives could have been changed on the way.",
            hint="Use https, or allow it with --allow-http.",
            details={"field": "source", "value": url},
        )


def _problems(source: Source) -> Iterator[tuple[str, str]]:
    """What is wrong with a source, and the right form."""
    if _CONTROL.search(source.location) or source.location.startswith("-"):
        yield f"The source {source.location!r} starts with '-' or holds control characters.", _FORMS_HINT
    if source.kind is SourceKind.INDEX:
        if source.ref and not _VERSION.fullmatch(source.ref):
            yield f"{source.ref!r} is not a version.", "Write one that the yard has, such as pdf@1.2.0"
    elif source.ref and (source.kind is not SourceKind.GIT or _BAD_REF.search(source.ref)):
        yield f"{source.ref!r} is not a branch, tag or commit.", "Write a name as git has it: #main, #v1.2 or a commit."
    if source.subpath and not is_plain_path(source.subpath):
        yield (
            f"The folder {source.subpath!r} in the source is not a plain relative path.",
            "Write it without '..' and '.', as in //skills/pdf",
        )
    if source.digest and not is_digest(source.digest):
        yield (
            f"The digest {source.digest!r} is not sha256: and 64 lower-case hex digits.",
            "Write --digest sha256:HEX with all 64 digits; `skillyard add SOURCE --dry-run --json` shows them.",
        )
    if source.kind is SourceKind.GIT:
        yield from _git_problems(source.location)
    elif source.kind in REMOTE:
        yield from _url_problems(source.location, schemes=("https", "http"))
    elif source.kind is not SourceKind.LOCAL and not source.location:
        yield "The source has no path.", _FORMS_HINT


def is_plain_path(path: str) -> bool:
    """Relative, with `/` between plain segments: nothing that climbs, hides or means an option."""
    return not (_CONTROL.search(path) or "\\" in path or path.startswith("-")) and all(
        segment not in {"", ".", ".."} for segment in path.split("/")
    )


def _git_problems(location: str) -> Iterator[tuple[str, str]]:
    if "://" in location:
        yield from _url_problems(location, schemes=("https", "http", "ssh", "file"))
    elif not _SCP.fullmatch(location):
        yield f"{location!r} is not a git repository's address.", _FORMS_HINT


def _url_problems(location: str, *, schemes: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    parts = _split(location)
    if parts is None or parts.scheme not in schemes:
        yield f"{location!r} is not a {' or '.join(schemes)} address.", _FORMS_HINT
    elif parts.scheme == "file":
        if parts.netloc or not parts.path.startswith("/"):
            yield f"{location!r} must be file:/// and an absolute path.", "Write file:///srv/repo, or git+/srv/repo"
    elif not parts.hostname or parts.hostname.startswith("-") or (parts.username or "").startswith("-"):
        yield "The source's address has no usable host name.", _FORMS_HINT
    elif parts.password is not None or (parts.username is not None and parts.scheme != "ssh"):
        # The address itself is not repeated: what stands there is a secret.
        yield (
            f"The address on {parts.hostname} contains a user name or password; skillyard.lock would store it.",
            "Remove it. For git, let git ask a credential helper, or use ssh; otherwise download it and add the file.",
        )


def _split(location: str) -> SplitResult | None:
    try:
        parts = urlsplit(location)
        _ = parts.port
    except ValueError:
        return None
    return parts
