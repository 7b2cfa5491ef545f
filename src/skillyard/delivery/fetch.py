"""Fetching: from a source to the skills it holds, in memory, checked and ready to install."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from skillyard.command_text import command_text
from skillyard.delivery.download import DownloadLimits
from skillyard.delivery.fetch_folder import fetch_archive, fetch_folder
from skillyard.delivery.fetch_git import fetch_git, fetch_git_folders
from skillyard.delivery.fetch_url import fetch_index, fetch_index_skills, fetch_url
from skillyard.delivery.fetched import Fetched, FetchedItem, FetchedSkill, OtherSkill, RefusedSkill, gather
from skillyard.delivery.source import Source, SourceKind
from skillyard.errors import ConflictError, NotFoundError, SkillyardError, UsageError


def fetch_source(source: Source, *, limits: DownloadLimits | None = None, only: Collection[str] = ()) -> Fetched:
    """All skills of a source, or those whose id, name or folder is in `only`. Nothing is written.

    A skill that cannot be installed is in `refused` with its findings; the others are not affected.
    """
    limits = limits or DownloadLimits()
    stranger = _stranger_hint(source, limits) if source.kind is SourceKind.INDEX else ""
    fetched = gather(source, _items(source, limits, only), only=only, if_empty=stranger)
    if not fetched.skills and not fetched.refused:
        why = "its index lists none" if source.kind is SourceKind.INDEX else "no folder there holds a SKILL.md"
        raise NotFoundError(
            f"There is no skill in {source}: {why}.",
            hint=stranger or "Check the source, or name the folder: //path/to/folder",
            details={"field": "source", "value": str(source)},
        )
    if source.digest:
        _check_digest(fetched)
    return fetched


def _stranger_hint(source: Source, limits: DownloadLimits) -> str:
    """What to do about an empty index: a yard shows strangers only what is for the whole world."""
    if limits.credentials is not None and limits.credentials.headers_for(source.location):
        return "Your token may see no skill there. Ask for a role, or check the address."
    host = urlsplit(source.location)
    return (
        f"You are not signed in at {host.netloc}. If it is a Skillyard server, set SKILLYARD_SERVER="
        f"{host.scheme}://{host.netloc} and SKILLYARD_TOKEN."
    )


def fetch_again(
    skills: Collection[tuple[Source, str]], *, limits: DownloadLimits | None = None
) -> dict[tuple[Source, str], FetchedSkill | RefusedSkill | SkillyardError]:
    """Each of these skills, given by source and id, anew. A repository or an index is asked once for all of its.

    What is no longer in its folder is looked for by its id. What cannot be had is the error that says why; the
    others are not affected.
    """
    limits = limits or DownloadLimits()
    found: dict[tuple[Source, str], FetchedSkill | RefusedSkill | SkillyardError] = {}
    trees: dict[Source, list[tuple[Source, str]]] = {}
    for source, skill_id in dict.fromkeys(skills):
        trees.setdefault(source.tree, []).append((source, skill_id))
    for tree, wanted in trees.items():
        try:
            found_items = _items_again(tree, [source for source, _ in wanted], limits)
            items = {(item.source.subpath, item.source.ref): item for item in found_items}
        except SkillyardError as error:
            found.update(dict.fromkeys(wanted, error))
            continue
        for source, skill_id in wanted:
            item = items.get((source.subpath, source.ref)) or _moved(source, skill_id, limits)
            found[source, skill_id] = _pinned(item, source.digest)
    return found


def _items_again(
    tree: Source, sources: Sequence[Source], limits: DownloadLimits
) -> Iterator[FetchedSkill | RefusedSkill]:
    folders = [source.subpath for source in sources]
    if tree.kind is SourceKind.GIT:
        yield from fetch_git_folders(tree, folders, limits)
    elif tree.kind is SourceKind.FOLDER:
        for source in sources:
            yield from fetch_folder(source) if (Path(source.location) / source.subpath).is_dir() else ()
    elif tree.kind is SourceKind.INDEX:
        yield from fetch_index_skills(tree, sources, limits)
    else:
        items = _items(tree, limits, [folder for folder in folders if folder])
        yield from (item for item in items if not isinstance(item, OtherSkill))


def _moved(source: Source, skill_id: str, limits: DownloadLimits) -> FetchedSkill | SkillyardError:
    """The skill of that id wherever the source has it now."""
    try:
        name = f"{skill_id}@{source.ref}" if source.ref and source.kind is SourceKind.INDEX else skill_id
        skills = fetch_source(source.tree, limits=limits, only=[name]).skills
    except NotFoundError:
        skills = ()
    except SkillyardError as error:
        return error
    if skills:
        return skills[0]
    return NotFoundError(
        f"{source.tree} has no skill {skill_id} any more.",
        hint=f"Keep it as it is, or remove it: {command_text('remove', skill_id)}",
    )


def _pinned(
    item: FetchedSkill | RefusedSkill | SkillyardError, digest: str
) -> FetchedSkill | RefusedSkill | SkillyardError:
    if not digest or not isinstance(item, FetchedSkill):
        return item
    if digest not in {item.resolved, item.bundle.digest}:
        return _mismatch(digest, [item.resolved, item.bundle.digest])
    return replace(item, source=replace(item.source, digest=digest))


def _items(source: Source, limits: DownloadLimits, only: Collection[str]) -> Iterator[FetchedItem]:
    match source.kind:
        case SourceKind.FOLDER:
            return fetch_folder(source)
        case SourceKind.ARCHIVE:
            return fetch_archive(source)
        case SourceKind.GIT:
            return fetch_git(source, limits, only=only)
        case SourceKind.URL:
            return fetch_url(source, limits, only=only)
        case SourceKind.INDEX:
            return fetch_index(source, limits, only=only)
        case SourceKind.LOCAL:
            raise UsageError(
                "The skill was made or adopted here: it has no source to fetch from.",
                hint="Install it again with `skillyard add SOURCE --force` to give it one.",
            )


def _check_digest(fetched: Fetched) -> None:
    wanted = fetched.source.digest
    if len(fetched.skills) > 1:
        raise UsageError(
            f"A digest names one skill, but {fetched.source.location} has {len(fetched.skills)}.",
            hint="Choose one with --skill NAME.",
            details={"field": "digest", "value": wanted},
        )
    got = [digest for skill in fetched.skills for digest in (skill.resolved, skill.bundle.digest)]
    if wanted not in got:
        raise _mismatch(wanted, got)


def _mismatch(wanted: str, got: Sequence[str]) -> ConflictError:
    arrived = " and ".join(filter(None, got)) or "nothing usable"
    return ConflictError(
        f"The digest does not match: {wanted} was asked for, {arrived} arrived.",
        hint="Do not install it unless you know why it changed; then use the new digest.",
        details={"field": "digest", "value": wanted, "found": list(got)},
    )
