"""The references between skills: as a picture, and as the table that says the same."""

from collections import defaultdict
from heapq import nsmallest
from typing import Annotated, Any, Final

from fastapi import Query

from skillyard.registry.graph import Edge, Graph, Node
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.web.page import Page, PageRouter

_MAX_NODES: Final = 400
"""More than these cannot be told apart in a picture."""
_MAX_ROWS: Final = 300

router = PageRouter()


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
    edges = _chosen(whole, q.strip().casefold(), broken=broken)
    drawn, total = _drawn(edges)
    ends = {None, *(node.id for node in drawn)}
    return Page(
        "graph.html",
        {
            "chosen": {"q": q, "namespace": namespace, "broken": broken},
            "nodes": [{"id": node.id, "full_name": node.full_name} for node in drawn],
            "edges": [_told(edge) for edge in edges if edge.source.id in ends and _goal(edge) in ends],
            "totals": {"nodes": total, "edges": len(edges), "broken": len(whole.broken)},
            "cycles": [[node.full_name for node in cycle] for cycle in whole.cycles],
        },
        extra={"rows": [_told(edge) for edge in edges[:_MAX_ROWS]]},
    )


def _chosen(whole: Graph, q: str, *, broken: bool) -> list[Edge]:
    """References from skill to skill, and those that lead nowhere; what a skill says of its own files is left out."""
    edges = [edge for edge in whole.edges if edge.target and edge.target != edge.source and not broken]
    edges += whole.broken
    return [edge for edge in edges if not q or any(q in node.full_name.casefold() for node in _ends(edge))]


def _ends(edge: Edge) -> list[Node]:
    return [edge.source] if edge.target is None else [edge.source, edge.target]


def _drawn(edges: list[Edge]) -> tuple[list[Node], int]:
    """The skills with most references, each with those at the other ends, and how many there are in all."""
    nodes: dict[str, Node] = {}
    near: defaultdict[str, list[Node]] = defaultdict(list)
    """Both ends of each reference of a skill, itself among them."""
    for edge in edges:
        ends = _ends(edge)
        for node in ends:
            nodes[node.id] = node
            near[node.id] += ends
    kept: dict[str, Node] = {}
    for node in nsmallest(_MAX_NODES, nodes.values(), key=lambda node: (-len(near[node.id]), node.full_name)):
        # Alone it would show nothing.
        more = {each.id: each for each in near[node.id] if each.id not in kept}
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
