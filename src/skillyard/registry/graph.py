"""Who refers to whom: the references between the skills that a person may see."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final, TypeAlias

from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.database import Database
from skillyard.db.until_changed import UntilChanged
from skillyard.identity.namespaces import no_namespace
from skillyard.identity.principals import Principal, Scope
from skillyard.identity.store import namespace_named
from skillyard.registry.cycles import circles
from skillyard.registry.dependents import Dependent, Requiring, dependents_of, requiring_skills
from skillyard.registry.naming import KnownSkill, Names, some_visible_names, visible_names
from skillyard.registry.reference_store import (
    Written,
    doubtful_references,
    files_there,
    folders_of,
    references_between,
    references_of,
    references_to,
)
from skillyard.registry.rights import visible_skill
from skillyard.skill.bundle import SKILL_FILE
from skillyard.skill.references import ReferenceKind
from skillyard.skill.requires import name_key

_REFERENCES: Final = "references"
_GRAPHS: Final = 4
"""Whole graphs that are kept; those of a large yard are large."""
_PEOPLE: Final = 64
"""People for whom less is kept."""

Audiences: TypeAlias = frozenset[str]
"""All that someone may see."""


class Trouble(StrEnum):
    """Why a reference leads nowhere."""

    NO_SKILL = "no-skill"
    """No skill of that name is there for this person."""
    NO_FILE = "no-file"


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    id: str
    full_name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """One place in a skill, and what it points at."""

    source: Node
    file: str
    line: int
    kind: str
    name: str
    """The skill that is meant, as the text has it; empty for the skill itself."""
    path: str
    """The file in it; empty for the skill as a whole."""
    target: Node | None
    trouble: Trouble | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Graph:
    """The references from skill to skill, those that lead nowhere, and the circles."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    broken: tuple[Edge, ...]
    cycles: tuple[tuple[Node, ...], ...]
    """Skills that all lead to each other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Impact:
    """What would no longer hold without a skill."""

    references: tuple[Edge, ...]
    """Places in other skills that would lead nowhere."""
    dependents: tuple[Dependent, ...]
    """Skills that require it, and would find no other of its name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """All references of one skill, and to it."""

    outgoing: tuple[Edge, ...]
    incoming: tuple[Edge, ...]
    impact: Impact


class References:
    """Answers from the working copies of the skills. What a person may not see is as if it were not there."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._graphs = UntilChanged[tuple[Audiences, str | None], Graph](database, size=_GRAPHS)
        self._broken = UntilChanged[tuple[Audiences, frozenset[str]], int](database, size=_PEOPLE)
        self._requiring = UntilChanged[Audiences, list[Requiring]](database, size=_PEOPLE)

    async def graph(self, principal: Principal, *, namespace: str | None = None) -> Graph:
        """The references in all skills that the principal may see, or in those of one namespace."""
        principal.require_scope(Scope.READ)
        return await self._graphs.get((principal.audiences, namespace), lambda: self._whole(principal, namespace))

    async def broken(self, principal: Principal, namespaces: Collection[str]) -> int:
        """How many references in the skills of these namespaces, by their ids, lead nowhere."""
        principal.require_scope(Scope.READ)
        own = frozenset(namespaces)
        return await self._broken.get((principal.audiences, own), lambda: self._count_broken(principal, own))

    async def around(self, principal: Principal, skill_id: str) -> Surroundings:
        """The references of one skill and to it, and what deleting it would break."""
        principal.require_scope(Scope.READ)
        requiring = await self._requiring.get(principal.audiences, lambda: self._all_requiring(principal))
        async with self._database.read() as session:
            skill = await visible_skill(session, principal, skill_id)
            own = await references_of(session, skill.id)
            others = await references_to(session, principal, name_key(skill.name))
            names = await some_visible_names(
                session,
                principal,
                keys={name_key(skill.name), *(each.target_key for each in own)},
                ids={each.skill_id for each in others},
            )
            outgoing = await _judged(session, own, names)
            incoming = await _judged(session, others, names)
            without_it = await _judged(session, others, names, without=skill.id)
        dependents = dependents_of(requiring, names.by_id[skill.id], names)
        pairs = [
            (now, then)
            for now, then in zip(incoming, without_it, strict=True)
            if now.target is not None and now.target.id == skill.id
        ]
        broken = [then for now, then in pairs if now.trouble is None and then.trouble is not None]
        return Surroundings(
            outgoing=tuple(outgoing),
            incoming=tuple(now for now, _ in pairs),
            impact=Impact(references=tuple(broken), dependents=dependents),
        )

    async def impact(self, principal: Principal, skill_id: str) -> Impact:
        """What deleting a skill would break, as far as the principal may see it."""
        return (await self.around(principal, skill_id)).impact

    async def _all_requiring(self, principal: Principal) -> list[Requiring]:
        async with self._database.read() as session:
            return await requiring_skills(session, principal)

    async def _count_broken(self, principal: Principal, namespaces: Collection[str]) -> int:
        async with self._database.read() as session:
            doubtful = await doubtful_references(session, principal, namespaces)
            names = await some_visible_names(
                session,
                principal,
                keys={each.target_key for each in doubtful},
                ids={each.skill_id for each in doubtful},
            )
            return sum(edge.trouble is not None for edge in await _judged(session, doubtful, names))

    async def _whole(self, principal: Principal, namespace: str | None) -> Graph:
        async with self._database.read() as session:
            namespace_id = None
            if namespace is not None:
                found = await namespace_named(session, principal.tenant_id, namespace)
                if found is None:
                    raise no_namespace(namespace)
                namespace_id = found.id
            names = await visible_names(session, principal)
            if namespace_id and not any(known.namespace_id == namespace_id for known in names.by_id.values()):
                raise no_namespace(str(namespace))
            written = await references_between(session, principal, namespace_id=namespace_id)
            edges = await _judged(session, written, names)
        sources = [known for known in names.by_id.values() if namespace_id in {None, known.namespace_id}]
        return await asyncio.to_thread(_graph, sources, edges)


async def _judged(
    session: AsyncSession, written: Sequence[Written], names: Names, *, without: str | None = None
) -> list[Edge]:
    """The references with what each leads to, as it would be without one of the skills."""
    meant = [_meant(each, names, without) for each in written]
    wanted = {
        (known.id, each.target_path)
        for each, known in zip(written, meant, strict=True)
        if known is not None and not _is_plain(each)
    }
    there = await files_there(session, wanted)
    there |= await folders_of(session, {skill_id for skill_id, _ in wanted - there})
    nodes = {skill_id: _node(known) for skill_id, known in names.by_id.items()}
    return [
        Edge(
            source=nodes[each.skill_id],
            file=each.file,
            line=each.line,
            kind=each.kind,
            name=each.target_key,
            path=each.target_path,
            target=nodes[known.id] if known else None,
            trouble=_trouble(each, known, there),
        )
        for each, known in zip(written, meant, strict=True)
    ]


def _meant(written: Written, names: Names, without: str | None) -> KnownSkill | None:
    source = names.by_id[written.skill_id]
    return names.meant(written.target_key, source.namespace_id, without=without) if written.target_key else source


def _is_plain(written: Written) -> bool:
    """Whether it is sure to be there once its skill is."""
    return written.is_own_file or (bool(written.target_key) and written.target_path in {"", SKILL_FILE})


def _trouble(written: Written, known: KnownSkill | None, there: AbstractSet[tuple[str, str]]) -> Trouble | None:
    if known is None:
        return Trouble.NO_SKILL
    if _is_plain(written) or (known.id, written.target_path) in there or _is_of_the_project(written, there):
        return None
    return Trouble.NO_FILE


def _is_of_the_project(written: Written, there: AbstractSet[tuple[str, str]]) -> bool:
    """Whether a path in code may mean a file of the project that the skill is used on, and not of the skill."""
    if written.target_key or written.kind != ReferenceKind.CODE:
        return False
    folder = written.target_path.partition("/")[0]
    has_folder = folder == _REFERENCES or (written.skill_id, folder) in there
    return not (has_folder and PurePosixPath(written.target_path).suffix)


def _graph(sources: Iterable[KnownSkill], edges: Sequence[Edge]) -> Graph:
    between = [edge for edge in edges if edge.target is not None and edge.target != edge.source]
    nodes = {known.id: _node(known) for known in sources}
    targets: dict[str, set[str]] = {}
    for edge in between:
        if edge.target is not None:
            nodes[edge.target.id] = edge.target
            targets.setdefault(edge.source.id, set()).add(edge.target.id)
    cycles = [_by_name(nodes[skill_id] for skill_id in group) for group in circles(targets)]
    return Graph(
        nodes=_by_name(nodes.values()),
        edges=tuple(between),
        broken=tuple(edge for edge in edges if edge.trouble is not None),
        cycles=tuple(sorted(cycles, key=lambda group: group[0].full_name)),
    )


def _by_name(nodes: Iterable[Node]) -> tuple[Node, ...]:
    return tuple(sorted(nodes, key=lambda node: node.full_name))


def _node(known: KnownSkill) -> Node:
    return Node(id=known.id, full_name=known.full_name)
