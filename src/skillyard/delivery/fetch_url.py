"""Downloading a skill: an archive, a single `SKILL.md`, or whatever a discovery index lists."""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, Final, cast
from urllib.parse import unquote, urljoin, urlsplit

from skillyard.delivery.download import Download, DownloadLimits, download
from skillyard.delivery.fetch_folder import archive_skill
from skillyard.delivery.fetched import FetchedItem, FetchedSkill, OtherSkill, RefusedSkill, is_wanted, refusal, take_in
from skillyard.delivery.source import Source, SourceKind, is_digest
from skillyard.errors import ConflictError, InputError, NotFoundError, SkillyardError
from skillyard.skill.archive import looks_like_archive
from skillyard.skill.bundle import SKILL_FILE, BundleFile, bundle_of
from skillyard.skill.limits import MIB, SKILL_FILE_NAMES
from skillyard.skill.models import Finding, Severity
from skillyard.skill.names import is_valid_name
from skillyard.skill.paths import printable
from skillyard.skill.reference_target import STANDARD_FOLDERS
from skillyard.skill.references import find_references

MAX_INDEX_BYTES: Final = 8 * MIB
MAX_INDEX_ENTRIES: Final = 10_000
SCHEMA_PREFIX: Final = "https://schemas.agentskills.io/discovery/0.2."
_SHOWN_PATHS: Final = 5
_SHOWN_VERSIONS: Final = 20
# In commands and code blocks too, where whoever has the whole folder need not look.
_FILE_OF_A_SKILL: Final = re.compile(rf"(?<![\w./-])(?:\./)?((?:{'|'.join(STANDARD_FOLDERS)})/[\w./-]*\.\w+)")


def fetch_url(source: Source, limits: DownloadLimits, *, only: Collection[str]) -> Iterator[FetchedItem]:
    """What is at a URL, known by its bytes and not by its name."""
    got = download(source.location, limits)
    if looks_like_archive(got.data):
        yield archive_skill(got.data, name=_file_name(source.location), source=source)
    elif got.data.lstrip()[:1] == b"{":
        index = replace(source, kind=SourceKind.INDEX, digest="")
        yield from _listed(index, got, limits, only=only)
    elif b"<html" in got.data[:2048].lower() or b"<!doctype" in got.data[:2048].lower():
        raise InputError(
            f"{source.location} is a web page, not a skill.",
            hint=f"For a git repository write git+{source.location}; otherwise give the address of an archive "
            "or a SKILL.md.",
            details={"field": "source", "value": source.location},
        )
    else:
        yield _skill_md(got, source)


def fetch_index(source: Source, limits: DownloadLimits, *, only: Collection[str]) -> Iterator[FetchedItem]:
    """The skills that a site lists in its discovery index, each checked against the digest given there.

    Those in `only` may say which version: `pdf@1.2.0`.
    """
    yield from _listed(source, _index(source, limits), limits, only=only)


def fetch_index_skills(
    tree: Source, skills: Sequence[Source], limits: DownloadLimits
) -> Iterator[FetchedSkill | RefusedSkill]:
    """Exactly these skills of an index. One with a digest is taken as it is listed where no versions are."""
    got = _index(tree, limits)
    for entry, name in _named_entries(tree, got):
        for skill in dict.fromkeys(skill for skill in skills if skill.subpath == name):
            yield _skill_or_refusal(entry, skill, got.url, limits)


def _index(source: Source, limits: DownloadLimits) -> Download:
    return download(source.location, replace(limits, max_bytes=min(limits.max_bytes, MAX_INDEX_BYTES)))


def _listed(source: Source, got: Download, limits: DownloadLimits, *, only: Collection[str]) -> Iterator[FetchedItem]:
    versions = {name.casefold(): version for name, _, version in (text.partition("@") for text in only)}
    for position, (entry, name) in enumerate(_named_entries(source, got)):
        if not name:
            yield refusal(str(position), source, "index-entry", f"Entry {position} of the index has no valid name.")
        elif source.subpath and source.subpath != name:
            continue
        elif not is_wanted(versions, name):
            yield OtherSkill(id=name)
        else:
            skill = replace(source, subpath=name, ref=versions.get(name, "") or source.ref)
            yield _skill_or_refusal(entry, skill, got.url, limits)


def _named_entries(source: Source, got: Download) -> Iterator[tuple[dict[str, Any], str]]:
    """The entries of an index with their names; an invalid name is empty."""
    for entry in _entries(source, got.data):
        name = entry.get("name")
        yield entry, name if isinstance(name, str) and is_valid_name(name) else ""


def _skill_or_refusal(
    entry: dict[str, Any], source: Source, index_url: str, limits: DownloadLimits
) -> FetchedSkill | RefusedSkill:
    try:
        return _listed_skill(entry, source, index_url, limits)
    except SkillyardError as error:
        # One skill that cannot be fetched does not keep the others from being installed.
        return refusal(source.subpath, source, "index-entry", error.message, fix=error.hint)


def _listed_skill(
    entry: dict[str, Any], source: Source, index_url: str, limits: DownloadLimits
) -> FetchedSkill | RefusedSkill:
    name = source.subpath
    if source.ref and source.ref != entry.get("version"):
        entry, index_url = _version(entry, source, index_url, limits)
    url, digest, kind = entry.get("url"), entry.get("digest"), entry.get("type")
    if not isinstance(url, str) or not isinstance(digest, str) or not is_digest(digest):
        raise InputError(f"The index gives no url or no sha256 digest for {name!r}.", hint="Tell the site's owner.")
    if kind not in {"skill-md", "archive"}:
        raise InputError(f"The index gives {name!r} an unknown type {kind!r}.", hint="Update Skillyard.")
    address = Source(kind=SourceKind.URL, location=urljoin(index_url, url))
    got = download(address.location, limits)
    if got.digest != digest:
        raise ConflictError(
            f"What {address.location} sent has the digest {got.digest}, but the index says {digest}.",
            hint="Do not use it; tell the site's owner.",
        )
    skill = archive_skill(got.data, name=name, source=source) if kind == "archive" else _skill_md(got, source, name)
    version = entry.get("version")
    return replace(skill, version=version) if isinstance(skill, FetchedSkill) and isinstance(version, str) else skill


def _version(
    entry: dict[str, Any], source: Source, index_url: str, limits: DownloadLimits
) -> tuple[dict[str, Any], str]:
    """The entry of the requested version, and the address that its url is relative to."""
    link = entry.get("versions")
    listed: list[dict[str, Any]] = []
    if isinstance(link, str):
        got = download(urljoin(index_url, link), replace(limits, max_bytes=min(limits.max_bytes, MAX_INDEX_BYTES)))
        listed, index_url = _entries(source, got.data, "versions"), got.url
    found = next((one for one in listed if one.get("version") == source.ref), None)
    if found is not None:
        return found, index_url
    if source.digest:
        return entry, index_url  # its digest shows whether it is the requested one
    known = ", ".join(printable(str(one.get("version"))) for one in listed[:_SHOWN_VERSIONS])
    raise NotFoundError(
        f"{source.location} has no version {source.ref} of {source.subpath}.",
        hint=f"It has: {known}" if known else f"It gives one version only: --skill {source.subpath}",
        details={"field": "version", "value": source.ref},
    )


def _entries(source: Source, data: bytes, field: str = "skills") -> list[dict[str, Any]]:
    try:
        index: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{source.location} is not JSON: {error}.", hint="Check the address; an index is a JSON document."
        ) from error
    skills: Any = cast("dict[str, Any]", index).get(field) if isinstance(index, dict) else None
    if not isinstance(skills, list):
        raise InputError(
            f"{source.location} is JSON, but no discovery index: it has no list `{field}`.",
            hint="Check the address.",
        )
    schema: Any = cast("dict[str, Any]", index).get("$schema", "")
    if not isinstance(schema, str) or (schema and not schema.startswith(SCHEMA_PREFIX)):
        raise InputError(
            f"{source.location} is a discovery index of another version: {schema!r}.",
            hint=f"Versions {SCHEMA_PREFIX}x are understood.",
        )
    entries = cast("list[Any]", skills)
    if len(entries) > MAX_INDEX_ENTRIES:
        raise InputError(
            f"{source.location} lists {len(entries)} skills; at most {MAX_INDEX_ENTRIES} are read.",
            hint="Tell the site's owner.",
        )
    return [cast("dict[str, Any]", entry) if isinstance(entry, dict) else {} for entry in entries]


def _skill_md(got: Download, source: Source, folder: str = "") -> FetchedSkill | RefusedSkill:
    path = PurePosixPath(unquote(urlsplit(source.location).path))
    folder = folder or (path.parent.name if path.name in SKILL_FILE_NAMES else path.stem)
    read = bundle_of([BundleFile(SKILL_FILE, got.data)], folder=folder)
    skill = take_in(read, folder=folder, source=source, resolved=got.digest)
    if isinstance(skill, RefusedSkill):
        return skill
    return replace(skill, findings=(*skill.findings, *_left_behind(skill)))


def _left_behind(skill: FetchedSkill) -> Iterator[Finding]:
    """The files that a lone SKILL.md speaks of: they are where it came from, and do not come with it."""
    text = "".join(file.data.decode(errors="replace") for file in skill.bundle)
    linked = (
        reference.target_path
        for reference in find_references(skill.bundle, skill.id)
        if not (reference.external or reference.leaves or reference.is_mention)
    )
    named = dict.fromkeys([*_FILE_OF_A_SKILL.findall(text), *linked])
    paths = [path for path in named if path and skill.bundle.get(path) is None]
    if paths:
        shown = ", ".join(printable(path) for path in paths[:_SHOWN_PATHS])
        more = f" and {len(paths) - _SHOWN_PATHS:,} more" if len(paths) > _SHOWN_PATHS else ""
        yield Finding(
            code="reference-broken",
            severity=Severity.WARNING,
            message=f"Only SKILL.md was downloaded, but it names files of its folder: {shown}{more}.",
            fix="Add the whole folder instead, from its repository or an archive.",
            file=SKILL_FILE,
        )


def _file_name(url: str) -> str:
    return PurePosixPath(unquote(urlsplit(url).path)).name or "skill"
