"""The references between skills: as a picture, and as the table that says the same."""

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from typing import Annotated, Any, Final

from fastapi import Query

from skillyard.registry.graph import Edge, Graph, Node
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.web.page import Page, PageRouter

_MAX_NODES: Final = 400
"""More than these cannot be told apart in a picture."""
_MAX_ROWS: Final = 300
_VIEWS: Final = 4
"""Views that are kept: a graph is the same object until something in it changes."""

router = PageRouter()


@dataclass(frozen=True, kw_only=True, slots=True)
class _View:
    """What of a graph a page shows."""

    nodes: list[dict[str, str]]
    edges: list[dict[str, Any]]
    totals: dict[str, int]
    rows: list[Edge]


@router.page("/graph")
async def graph(
    yard: TheYard,
    caller: Caller,
    q: Annotated[str, Query(max_length=200)] = "",
    namespace: Annotated[str, Query(max_length=64)] = "",
    *,
    broken: bool = False,
) -> Page:
    """Who refers to whom; `q` keeps what is around the skills of such a name."""
    whole = await yard.registry.references.graph(caller, namespace=namespace or None)
    view = _view(whole, q.strip().casefold(), broken=broken)
    return Page(
        "graph.html",
        {
            "chosen": {"q": q, "namespace": namespace, "broken": broken},
            "nodes": view.nodes,
            "edges": view.edges,
            "totals": view.totals,
            "cycles": [[node.full_name for node in cycle] for cycle in whole.cycles],
        },
        extra={"rows": view.rows},
    )


@lru_cache(maxsize=_VIEWS)
def _view(whole: Graph, q: str, *, broken: bool) -> _View:
    edges = _chosen(whole, q, broken=broken)
    drawn, total = _drawn(edges)
    ends = {None, *(node.id for node in drawn)}
    return _View(
        nodes=[{"id": node.id, "full_name": node.full_name} for node in drawn],
        edges=[_told(edge) for edge in edges if edge.source.id in ends and _goal(edge) in ends],
        totals={"nodes": total, "edges": len(edges), "broken": sum(edge.trouble is not None for edge in edges)},
        rows=edges[:_MAX_ROWS],
    )


def _chosen(whole: Graph, q: str, *, broken: bool) -> list[Edge]:
    """References from skill to skill, and those that lead nowhere; what a skill says of its own files is left out."""
    edges = [] if broken else [edge for edge in whole.edges if edge.trouble is None]
    edges += whole.broken
    return [edge for edge in edges if any(q in node.full_name.casefold() for node in _ends(edge))] if q else edges


def _ends(edge: Edge) -> list[Node]:
    return [edge.source] if edge.target is None else [edge.source, edge.target]


def _drawn(edges: list[Edge]) -> tuple[list[Node], int]:
    """The skills with most references, each with those at the other ends, and how many there are in all."""
    nodes: dict[str, Node] = {}
    near: defaultdict[str, list[Node]] = defaultdict(list)
    """What is at the other end of each reference of a skill; itself, if nothing is."""
    for edge in edges:
        source, target = edge.source, edge.target or edge.source
        nodes[source.id] = source
        near[source.id].append(target)
        if target is not source:
            nodes[target.id] = target
            near[target.id].append(source)
    kept: dict[str, Node] = {}
    for _, _, node_id in nsmallest(_MAX_NODES, ((-len(near[key]), node.full_name, key) for key, node in nodes.items())):
        # Alone it would show nothing.
        more = {each.id: each for each in (nodes[node_id], *near[node_id]) if each.id not in kept}
        if len(kept) + len(more) <= _MAX_NODES:
            kept |= more
    return list(kept.values()), len(nodes)


def _goal(edge: Edge) -> str | None:
    return edge.target.id if edge.target else None


def _told(edge: Edge) -> dict[str, Any]:
    return {
        "source": edge.source.id,
        "source_name": edge.source.full_name,
        "file": edge.file,
        "line": edge.line,
        "target": _goal(edge),
        "target_name": edge.target.full_name if edge.target else edge.name or edge.path,
        "path": edge.path,
        "trouble": edge.trouble,
    }
