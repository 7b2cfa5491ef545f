"""Who refers to whom: the references between the skills that a person may see."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final, TypeAlias, TypeVar

from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.database import Database
from skillyard.db.until_changed import UntilChanged
from skillyard.identity.namespaces import no_namespace
from skillyard.identity.principals import Principal, Scope
from skillyard.identity.store import namespace_named
from skillyard.registry.cycles import circles
from skillyard.registry.dependents import Dependent, Requiring, dependents_of, requiring_among, requiring_skills
from skillyard.registry.followed import MOST_TOUCHED, Followed, Touched
from skillyard.registry.naming import KnownSkill, Names, some_visible_names, visible_names
from skillyard.registry.reference_store import (
    Written,
    doubtful_references,
    files_there,
    folders_of,
    references_between,
    references_of,
    references_to,
    skills_naming,
)
from skillyard.registry.rights import glimpse_of
from skillyard.skill.bundle import SKILL_FILE
from skillyard.skill.references import ReferenceKind
from skillyard.skill.requires import name_key

V = TypeVar("V")

_REFERENCES: Final = "references"
_GRAPHS: Final = 4
"""Whole graphs that are kept; those of a large yard are large."""
_PEOPLE: Final = 64
"""People for whom less is kept."""
_AROUND: Final = 64
"""Skills whose surroundings are kept until the next change."""

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


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Graph:
    """The references from skill to skill, those that lead nowhere, and the circles.

    It is the same object as long as nothing in it changes.
    """

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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Woven:
    """A graph with what it takes to mend it."""

    namespace_id: str | None
    nodes: Mapping[str, Node]
    """The skills that were looked into, by id."""
    edges: Mapping[str, Sequence[Edge]]
    """All references of each skill that has any."""
    graph: Graph


class References:
    """Answers from the working copies of the skills. What a person may not see is as if it were not there."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._graphs = Followed[tuple[Audiences, str | None], _Woven](database, size=_GRAPHS)
        self._broken = Followed[tuple[Audiences, frozenset[str]], Mapping[str, int]](database, size=_PEOPLE)
        self._requiring = Followed[Audiences, Mapping[str, list[Requiring]]](database, size=_PEOPLE)
        self._around = UntilChanged[tuple[Audiences, str], Surroundings](database, size=_AROUND)

    async def graph(self, principal: Principal, *, namespace: str | None = None) -> Graph:
        """The references in all skills that the principal may see, or in those of one namespace."""
        principal.require_scope(Scope.READ)

        async def make(session: AsyncSession) -> _Woven:
            return await _whole(session, principal, namespace)

        async def mend(session: AsyncSession, kept: _Woven, touched: Touched) -> _Woven:
            return await _mended(session, principal, kept, touched) or await make(session)

        return (await self._graphs.get((principal.audiences, namespace), make, mend)).graph

    async def broken(self, principal: Principal, namespaces: Collection[str]) -> int:
        """How many references in the skills of these namespaces, by their ids, lead nowhere."""
        principal.require_scope(Scope.READ)
        own = frozenset(namespaces)

        async def make(session: AsyncSession) -> Mapping[str, int]:
            return await _count_broken(session, principal, own)

        async def mend(session: AsyncSession, kept: Mapping[str, int], touched: Touched) -> Mapping[str, int]:
            sources = await _sources_touched(session, touched)
            if sources is None:
                return await make(session)
            return _without(kept, sources) | await _count_broken(session, principal, own, sources)

        return sum((await self._broken.get((principal.audiences, own), make, mend)).values())

    async def around(self, principal: Principal, skill_id: str) -> Surroundings:
        """The references of one skill and to it, and what deleting it would break."""
        principal.require_scope(Scope.READ)

        async def look() -> Surroundings:
            return await self._look_around(principal, skill_id)

        return await self._around.get((principal.audiences, skill_id), look)

    async def _look_around(self, principal: Principal, skill_id: str) -> Surroundings:
        requiring = await self._requiring_skills(principal)
        async with self._database.read() as session:
            key = name_key((await glimpse_of(session, principal, skill_id)).name)
            own = await references_of(session, skill_id)
            others = await references_to(session, principal, key)
            names = await some_visible_names(
                session,
                principal,
                keys={key, *(each.target_key for each in own)},
                ids={each.skill_id for each in others},
            )
            outgoing = await _judged(session, own, names)
            incoming = await _judged(session, others, names)
            without_it = await _judged(session, others, names, without=skill_id)
        dependents = dependents_of(requiring, names.by_id[skill_id], names)
        pairs = [
            (now, then)
            for now, then in zip(incoming, without_it, strict=True)
            if now.target is not None and now.target.id == skill_id
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

    async def _requiring_skills(self, principal: Principal) -> list[Requiring]:
        async def make(session: AsyncSession) -> Mapping[str, list[Requiring]]:
            return await requiring_skills(session, principal)

        async def mend(
            session: AsyncSession, kept: Mapping[str, list[Requiring]], touched: Touched
        ) -> Mapping[str, list[Requiring]]:
            return _without(kept, touched.ids) | await requiring_among(session, principal, touched.ids)

        found = await self._requiring.get(principal.audiences, make, mend)
        return [each for some in found.values() for each in some]


async def _count_broken(
    session: AsyncSession, principal: Principal, namespaces: Collection[str], sources: Collection[str] | None = None
) -> dict[str, int]:
    """How many references of each skill lead nowhere, of those that have some, or of some of them."""
    doubtful = await doubtful_references(session, principal, namespaces, sources=sources)
    counts: defaultdict[str, int] = defaultdict(int)
    for edge in await _judged(session, doubtful, await _names_in(session, principal, doubtful)):
        if edge.trouble is not None:
            counts[edge.source.id] += 1
    return counts


async def _whole(session: AsyncSession, principal: Principal, namespace: str | None) -> _Woven:
    namespace_id = None
    if namespace is not None:
        found = await namespace_named(session, principal.tenant_id, namespace)
        if found is None:
            raise no_namespace(namespace)
        namespace_id = found.id
    names = await visible_names(session, principal)
    nodes = _nodes(names, namespace_id)
    if namespace_id is not None and not nodes:
        raise no_namespace(str(namespace))
    written = await references_between(session, principal, namespace_id=namespace_id)
    edges = _by_source(await _judged(session, written, names))
    graph = await asyncio.to_thread(_graph, nodes, edges)
    return _Woven(namespace_id=namespace_id, nodes=nodes, edges=edges, graph=graph)


async def _mended(session: AsyncSession, principal: Principal, kept: _Woven, touched: Touched) -> _Woven | None:
    """The graph after something was done to skills; None where it has to be made anew."""
    sources = await _sources_touched(session, touched)
    if sources is None:
        return None
    present = _nodes(await some_visible_names(session, principal, ids=touched.ids), kept.namespace_id)
    nodes = _without(kept.nodes, touched.ids) | present
    if not nodes:
        return None
    written = await references_between(session, principal, namespace_id=kept.namespace_id, sources=sources)
    found = _by_source(await _judged(session, written, await _names_in(session, principal, written)))
    if found != {source: kept.edges[source] for source in sources if source in kept.edges}:
        edges = _without(kept.edges, sources) | found
        return replace(kept, nodes=nodes, edges=edges, graph=await asyncio.to_thread(_graph, nodes, edges))
    if nodes != kept.nodes:
        return replace(kept, nodes=nodes, graph=replace(kept.graph, nodes=_all_nodes(nodes, kept.graph.edges)))
    return kept


async def _sources_touched(session: AsyncSession, touched: Touched) -> AbstractSet[str] | None:
    """The skills whose references may lead elsewhere now; None where they are too many to be looked at one by one."""
    sources = touched.ids | await skills_naming(session, touched.names)
    return sources if len(sources) <= MOST_TOUCHED else None


async def _names_in(session: AsyncSession, principal: Principal, written: Sequence[Written]) -> Names:
    """Every visible skill that the references are in, or may mean."""
    return await some_visible_names(
        session,
        principal,
        keys={each.target_key for each in written},
        ids={each.skill_id for each in written},
    )


def _without(kept: Mapping[str, V], ids: AbstractSet[str]) -> dict[str, V]:
    left = dict(kept)
    for each in ids:
        left.pop(each, None)
    return left


def _nodes(names: Names, namespace_id: str | None) -> dict[str, Node]:
    """The skills of a namespace, or all."""
    known = names.by_id.values()
    return {each.id: _node(each) for each in known if namespace_id is None or each.namespace_id == namespace_id}


def _by_source(edges: Iterable[Edge]) -> dict[str, list[Edge]]:
    found: defaultdict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        found[edge.source.id].append(edge)
    return dict(found)


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


def _graph(nodes: Mapping[str, Node], edges: Mapping[str, Sequence[Edge]]) -> Graph:
    between: list[Edge] = []
    broken: list[Edge] = []
    targets: dict[str, set[str]] = {}
    names: dict[str, Node] = {}
    for source in sorted(edges):
        for edge in edges[source]:
            if edge.trouble is not None:
                broken.append(edge)
            if edge.target is not None and edge.target.id != source:
                between.append(edge)
                targets.setdefault(source, set()).add(edge.target.id)
                names[source] = edge.source
                names[edge.target.id] = edge.target
    cycles = [_by_name(names[skill_id] for skill_id in group) for group in circles(targets)]
    return Graph(
        nodes=_all_nodes(nodes, between),
        edges=tuple(between),
        broken=tuple(broken),
        cycles=tuple(sorted(cycles, key=lambda group: group[0].full_name)),
    )


def _all_nodes(nodes: Mapping[str, Node], edges: Iterable[Edge]) -> tuple[Node, ...]:
    """The skills that were looked into, and those that they lead to."""
    return _by_name({**nodes, **{edge.target.id: edge.target for edge in edges if edge.target}}.values())


def _by_name(nodes: Iterable[Node]) -> tuple[Node, ...]:
    return tuple(sorted(nodes, key=lambda node: node.full_name))


def _node(known: KnownSkill) -> Node:
    return Node(id=known.id, full_name=known.full_name)
