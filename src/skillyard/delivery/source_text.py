"""Reading a source as a person types it."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from skillyard.delivery.source import Source, SourceKind
from skillyard.errors import InputError, NotFoundError, UsageError
from skillyard.skill.limits import SKILL_FILE_NAMES
from skillyard.skill.names import nearest_name

WELL_KNOWN: Final = "/.well-known/agent-skills"
INDEX_FILE: Final = "index.json"
FORMS: Final = (
    "A source is a folder, a .skill/.zip/.tar.gz file, owner/repo, a git address "
    "(https, ssh, git@host:owner/repo, git+/path), or the https address of an archive, a SKILL.md or a site."
)

_FORGES: Final = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})
_SHORTHAND: Final = re.compile(r"(?P<owner>\w[\w.-]*)/(?P<repo>\w[\w.-]*?)(?:\.git)?(?:/(?P<rest>.+?))?/?")
_SCP: Final = re.compile(r"[^\s/@:]+@[^\s/@:]+:(?!//)\S+")
_GITHUB_PAGE: Final = re.compile(r"(?P<repo>/[^/]+/[^/]+)/(?:tree|blob|raw)/(?P<ref>[^/]+)(?:/(?P<dir>.+?))?/?")
_GITLAB_PAGE: Final = re.compile(r"(?P<repo>/.+?)/-/(?:tree|blob|raw)/(?P<ref>[^/]+)(?:/(?P<dir>.+?))?/?")
_REPOSITORY: Final = re.compile(r".+\.git/?")
_REF_MARK: Final = re.compile(r"(?<=[^/])@")


def parse_source(text: str, *, cwd: Path, digest: str = "") -> Source:
    """The source that a text names. What exists on disk under that very name wins over every other reading."""
    text = text.strip()
    if not text or text.startswith("-"):
        raise UsageError(f"{text!r} is not a source.", hint=FORMS, details={"field": "source", "value": text})
    try:
        source = _local(text, cwd)
        if source is None:
            text, ref, pinned = _split_fragment(text)
            digest = _one(digest, pinned, "digest")
            source = _with_ref(_local(text, cwd) or _remote(text, cwd), ref)
    except (ValueError, RuntimeError) as error:  # an impossible address; `~name` of nobody
        raise InputError(
            f"{text!r} is not a source: {error}.", hint=FORMS, details={"field": "source", "value": text}
        ) from error
    return replace(source, digest=digest.lower()) if digest else source


def _split_fragment(text: str) -> tuple[str, str, str]:
    text, _, fragment = text.partition("#")
    ref = digest = ""
    for part in filter(None, fragment.split("&")):
        if part.startswith(("sha256=", "sha256:")):
            digest = _one(digest, f"sha256:{part[7:]}", "digest")
        else:
            ref = _one(ref, unquote(part), "ref")
    return text, ref, digest


def _with_ref(source: Source, ref: str) -> Source:
    if not ref:
        return source
    if source.kind is not SourceKind.GIT:
        raise UsageError(
            f"#{ref} asks for a branch or tag, but {source.location} is not a git repository.",
            hint=f"Write git+{source.location}#{ref} if it is one.",
            details={"field": "ref", "value": ref},
        )
    return replace(source, ref=_one(source.ref, ref, "ref"))


def _one(first: str, second: str, what: str) -> str:
    if first and second and first != second:
        raise UsageError(
            f"The source names two different {what}s: {first} and {second}.",
            hint="Keep one of them.",
            details={"field": what, "value": second},
        )
    return first or second


def _local(text: str, cwd: Path) -> Source | None:
    """What is on disk under this name, if anything is."""
    if "://" in text or "\0" in text:
        return None
    path = (cwd / Path(text).expanduser()).absolute()
    try:
        if path.is_dir():
            return _git_path(path) if _is_bare_repository(path) else _path(SourceKind.FOLDER, path)
        if path.is_file():
            is_skill_file = path.name in SKILL_FILE_NAMES
            return _path(
                SourceKind.FOLDER if is_skill_file else SourceKind.ARCHIVE,
                path.parent if is_skill_file else path,
            )
    except OSError:  # a name too long for a path is simply not a path
        return None
    return None


def _path(kind: SourceKind, path: Path) -> Source:
    return Source(kind=kind, location=str(path.resolve()))


def _git_path(path: Path) -> Source:
    return Source(kind=SourceKind.GIT, location=f"file://{quote(str(path.resolve()))}")


def _is_bare_repository(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def _remote(text: str, cwd: Path) -> Source:
    if text.startswith("git+"):
        return _git(text.removeprefix("git+"), cwd)
    if "::" in text:
        raise InputError(
            f"{text!r} names a git transport helper, which could run any command.",
            hint=FORMS,
            details={"field": "source", "value": text},
        )
    for prefix in ("github:", "gitlab:"):
        if text.startswith(prefix) and "://" not in text:
            return _shorthand(text.removeprefix(prefix), host=f"{prefix[:-1]}.com", text=text)
    if text.startswith("file://"):
        return _file_url(text, cwd)
    if text.startswith(("https://", "http://")):
        return _web(text)
    if "://" in text or _SCP.fullmatch(text):
        return _git(text, cwd)
    if text.startswith(("/", "./", "../", "~")) or text in {".", ".."}:
        path, subpath, ref = _split_git_path(text)
        found = _local(path, cwd) if subpath or ref else None
        if found is None or found.kind is not SourceKind.GIT:
            raise _not_there(text)
        return replace(found, subpath=subpath, ref=ref)
    _check_mistyped(text, cwd)
    return _shorthand(text, host="github.com", text=text)


def is_shorthand(text: str) -> bool:
    """Whether a text that names nothing on disk is read as a repository on GitHub."""
    return _SHORTHAND.fullmatch(_split_git_path(text.partition("#")[0])[0]) is not None


def _check_mistyped(text: str, cwd: Path) -> None:
    """A path whose first folder exists is a mistyped path, not a repository on GitHub."""
    path = Path(text.partition("#")[0])
    there = next((folder for folder in path.parents if (cwd / folder).is_dir()), Path())
    if there == Path():
        return
    rest = path.relative_to(there)
    near = nearest_name(rest.parts[0], [item.name for item in (cwd / there).iterdir()])
    meant = f"Did you mean {there / near}? " if near else ""
    raise NotFoundError(
        f"There is no {text}: the folder {there} is here, but it has no {rest}.",
        hint=f"{meant}For the repository on GitHub, write github:{text}",
        details={"field": "source", "value": text},
    )


def _not_there(text: str) -> NotFoundError:
    return NotFoundError(f"There is nothing at {text}.", hint=FORMS, details={"field": "source", "value": text})


def _file_url(text: str, cwd: Path) -> Source:
    path, subpath, ref = _split_git_path(unquote(text.removeprefix("file://")))
    source = _local(path, cwd)
    if source is None:
        raise _not_there(text)
    if source.kind is SourceKind.FOLDER and (Path(path) / ".git").exists():
        source = _git_path(Path(path))
    if source.kind is SourceKind.GIT:
        return replace(source, subpath=subpath, ref=ref)
    if subpath or ref:
        raise _not_there(text)
    return source


def _web(text: str) -> Source:
    """An address on the web: a repository where its shape says so, else something to download."""
    parts = urlsplit(text)
    host = (parts.hostname or "").removeprefix("www.")
    if not parts.query:
        page = (_GITHUB_PAGE if host == "github.com" else _GITLAB_PAGE).fullmatch(parts.path)
        if page:
            repository = _git_location(urlunsplit((parts.scheme, parts.netloc, page["repo"], "", "")))
            folder = unquote(page["dir"] or "")
            head, _, last = folder.rpartition("/")
            return Source(
                kind=SourceKind.GIT,
                location=repository,
                ref=unquote(page["ref"]),
                subpath=head if last in SKILL_FILE_NAMES else folder,
            )
        if _REPOSITORY.fullmatch(_split_git_path(parts.path)[0]) or (host in _FORGES and _is_forge_repository(text)):
            return _git(text, Path())
    path = parts.path.rstrip("/")
    if path in {"", WELL_KNOWN}:
        location = urlunsplit((parts.scheme, parts.netloc, f"{WELL_KNOWN}/{INDEX_FILE}", "", ""))
        return Source(kind=SourceKind.INDEX, location=location)
    if path == f"{WELL_KNOWN}/{INDEX_FILE}":
        return Source(kind=SourceKind.INDEX, location=text)
    return Source(kind=SourceKind.URL, location=text)


def _is_forge_repository(text: str) -> bool:
    path, _, _ = _split_git_path(urlsplit(text).path)
    return len(path.strip("/").split("/")) == len(("owner", "repository"))


def _git(text: str, cwd: Path) -> Source:
    """A git repository's address with `@ref` and `//folder` in it."""
    if "://" in text:
        scheme, _, rest = text.partition("://")
        if scheme == "file":
            rest, subpath, ref = _split_git_path(unquote(rest))
            return replace(_git_path(Path(rest)), subpath=subpath, ref=ref)
        authority, slash, path = rest.partition("/")
        path, subpath, ref = _split_git_path(slash + path)
        location = _git_location(f"{scheme}://{authority}{path}")
    elif _SCP.fullmatch(text):
        host, _, path = text.partition(":")
        path, subpath, ref = _split_git_path(path)
        location = f"{host}:{path}"
    else:
        path, subpath, ref = _split_git_path(text)
        folder = (cwd / Path(path).expanduser()).absolute()
        if not folder.is_dir():
            raise _not_there(text)
        location = _git_path(folder).location
    return Source(kind=SourceKind.GIT, location=location, ref=ref, subpath=subpath)


def _git_location(url: str) -> str:
    """One spelling for one repository where the host is known to take several."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    if host not in _FORGES or parts.netloc.lower().removeprefix("www.") != host:
        return url.rstrip("/")
    path = parts.path.rstrip("/").removesuffix(".git")
    return urlunsplit((parts.scheme, host, path, "", ""))


def _split_git_path(path: str) -> tuple[str, str, str]:
    """`path@ref//folder` or `path//folder@ref` as `(path, folder, ref)`."""
    path, _, subpath = path.partition("//")
    path, path_ref = _split_ref(path)
    subpath, subpath_ref = _split_ref(subpath)
    return path.rstrip("/") or path, subpath.strip("/"), _one(path_ref, subpath_ref, "ref")


def _split_ref(path: str) -> tuple[str, str]:
    mark = _REF_MARK.search(path)
    return (path[: mark.start()], path[mark.end() :]) if mark else (path, "")


def _shorthand(short: str, *, host: str, text: str) -> Source:
    path, subpath, ref = _split_git_path(short)
    match = _SHORTHAND.fullmatch(path)
    if match is None:
        raise _not_there(text)
    rest = match["rest"] or ""
    return Source(
        kind=SourceKind.GIT,
        location=f"https://{host}/{match['owner']}/{match['repo']}",
        ref=ref,
        subpath="/".join(filter(None, [rest, subpath])),
    )
