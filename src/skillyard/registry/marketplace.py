"""The shipped skills as a marketplace of Claude plugins: one plugin for each namespace."""

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final

from skillyard.errors import NotFoundError
from skillyard.identity.principals import Principal
from skillyard.registry.bundles import Bundles
from skillyard.registry.discovery import Discovery, Listed, unique_names
from skillyard.registry.git_pack import Repository, repository_of
from skillyard.skill.bundle import BundleFile
from skillyard.skill.limits import MAX_NAME, MIB
from skillyard.skill.names import ascii_alias, slugify

MANIFEST: Final = ".claude-plugin/marketplace.json"
_PLUGIN_MANIFEST: Final = ".claude-plugin/plugin.json"
MAX_BYTES: Final = 256 * MIB
"""All files of the skills in one repository; it is made in memory."""
_KEPT_BYTES: Final = 64 * MIB
_SHOWN_NAMES: Final = 20
_AT_ONCE: Final = 4
"""Bundles that are loaded together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plugin:
    """The skills of one namespace."""

    name: str
    namespace: str
    skills: tuple[Listed, ...]
    left_out: int = 0
    """Skills for which a repository had no room."""

    @property
    def manifest(self) -> dict[str, Any]:
        names = [skill.name for skill in self.skills]
        shown = f": {', '.join(names[:_SHOWN_NAMES])}" if names else ""
        more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
        without = f" {self.left_out} did not fit into this repository." if self.left_out else ""
        # No version: then the commit is one, and every change is an update.
        return {
            "name": self.name,
            "description": f"The skills of {self.namespace}{shown}{more}.{without}",
            "author": {"name": self.namespace},
        }


class Marketplace:
    """Makes repositories of what a principal finds. Those that were made last are kept, by what is in them."""

    def __init__(self, discovery: Discovery, bundles: Bundles) -> None:
        self._discovery = discovery
        self._bundles = bundles
        self._kept: OrderedDict[str, Repository] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()

    async def manifest(
        self, principal: Principal | None, name: str, source: Callable[[Plugin], object]
    ) -> dict[str, Any]:
        """The marketplace of this name with its plugins, each with the given source."""
        plugins = plugins_of(await self._discovery.listing(principal))
        return _manifest(name, plugins, source)

    async def repository(self, principal: Principal | None, name: str) -> Repository:
        """The whole marketplace of that name as a git repository."""
        plugins = _fitting(plugins_of(await self._discovery.listing(principal)))
        documents = {MANIFEST: _manifest(name, plugins, lambda one: f"./plugins/{one.name}")}
        return await self._repository(documents, [(f"plugins/{one.name}/", one) for one in plugins])

    async def plugin_repository(self, principal: Principal | None, plugin: str) -> Repository:
        """One plugin as a git repository."""
        plugins = plugins_of(await self._discovery.listing(principal))
        found = next((one for one in plugins if one.name == plugin), None)
        if found is None:
            raise NotFoundError("There is nothing here.", hint="/.claude-plugin/marketplace.json lists what is.")
        return await self._repository({}, [("", one) for one in _fitting([found])])

    async def _repository(
        self, documents: dict[str, dict[str, Any]], places: Sequence[tuple[str, Plugin]]
    ) -> Repository:
        documents.update({f"{prefix}{_PLUGIN_MANIFEST}": one.manifest for prefix, one in places})
        skills = [
            (f"{prefix}skills/{ascii_alias(skill.name)}/", skill) for prefix, one in places for skill in one.skills
        ]
        written = [BundleFile(path, _json(document)) for path, document in documents.items()]
        return await self._made(written, skills)

    async def _made(self, written: Sequence[BundleFile], skills: Sequence[tuple[str, Listed]]) -> Repository:
        key = hashlib.sha256(
            json.dumps(
                [
                    [(file.path, file.data.decode()) for file in written],
                    [(prefix, skill.artifact.bundle_digest) for prefix, skill in skills],
                ]
            ).encode()
        ).hexdigest()
        async with self._one_at_a_time:
            repository = self._kept.get(key)
            if repository is None:
                files = [*written, *await self._files(skills)]
                repository = await asyncio.to_thread(repository_of, files)
                self._kept[key] = repository
            self._kept.move_to_end(key)
            while len(self._kept) > 1 and sum(len(one.pack) for one in self._kept.values()) > _KEPT_BYTES:
                self._kept.popitem(last=False)
            return repository

    async def _files(self, skills: Sequence[tuple[str, Listed]]) -> list[BundleFile]:
        files: list[BundleFile] = []
        for start in range(0, len(skills), _AT_ONCE):
            some = skills[start : start + _AT_ONCE]
            bundles = await asyncio.gather(*(self._bundles.load(one.artifact.bundle_digest) for _, one in some))
            for (prefix, _), bundle in zip(some, bundles, strict=True):
                files.extend(file._replace(path=f"{prefix}{file.path}") for file in bundle)
        return files


def marketplace_name(address: str) -> str:
    """The name of the marketplace of the yard at this address (`HOST[:PORT]`), different for each yard."""
    return f"skillyard-{slugify(address)}"[:MAX_NAME].rstrip("-")


def plugins_of(listing: Sequence[Listed]) -> list[Plugin]:
    """The plugins, ordered by name; of two namespaces that are called the same, each gets a name of its own.

    The plain name is that of the caller's own tenant, then of the oldest namespace.
    """
    by_namespace: dict[str, list[Listed]] = {}
    for skill in listing:
        by_namespace.setdefault(skill.namespace_id, []).append(skill)
    firsts = sorted(
        (skills[0] for skills in by_namespace.values()),
        key=lambda one: (one.foreign, one.namespace_since, one.namespace_id),
    )
    names = unique_names([(one.namespace_id, one.namespace, one.namespace) for one in firsts])
    plugins = [
        Plugin(name=names[one.namespace_id], namespace=one.namespace, skills=tuple(by_namespace[one.namespace_id]))
        for one in firsts
    ]
    return sorted(plugins, key=lambda plugin: plugin.name)


def _fitting(plugins: Sequence[Plugin]) -> list[Plugin]:
    """The plugins with those of their skills that one repository has room for, which goes by rank."""
    room = MAX_BYTES
    fitting: set[str] = set()
    for skill in sorted((skill for plugin in plugins for skill in plugin.skills), key=lambda one: one.rank):
        if skill.size <= room:
            room -= skill.size
            fitting.add(skill.skill_id)
    return [_only(plugin, fitting) for plugin in plugins]


def _only(plugin: Plugin, skill_ids: AbstractSet[str]) -> Plugin:
    skills = tuple(skill for skill in plugin.skills if skill.skill_id in skill_ids)
    return replace(plugin, skills=skills, left_out=len(plugin.skills) - len(skills))


def _manifest(name: str, plugins: Sequence[Plugin], source: Callable[[Plugin], object]) -> dict[str, Any]:
    return {
        "name": name,
        "owner": {"name": "Skillyard"},
        "metadata": {"description": "The skills that this yard ships to you."},
        "plugins": [{**plugin.manifest, "source": source(plugin)} for plugin in plugins],
    }


def _json(document: dict[str, Any]) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
