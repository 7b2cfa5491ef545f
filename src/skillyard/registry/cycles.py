"""Circles in a graph."""

from collections.abc import Iterable, Iterator, Mapping


def circles(graph: Mapping[str, Iterable[str]]) -> Iterator[list[str]]:
    """The groups of two or more nodes from each of which all others of the group are reached."""
    search = _Search(graph)
    for start in graph:
        yield from (group for group in search.groups_from(start) if len(group) > 1)


class _Search:
    """Tarjan's algorithm with a stack of its own: no chain of references is too long for it."""

    def __init__(self, graph: Mapping[str, Iterable[str]]) -> None:
        self._graph = graph
        self._order: dict[str, int] = {}
        self._lowest: dict[str, int] = {}
        """The first node, by order, that each is known to lead back to."""
        self._open: dict[str, None] = {}
        self._path: list[tuple[str, Iterator[str]]] = []

    def groups_from(self, start: str) -> Iterator[list[str]]:
        if start in self._order:
            return
        self._enter(start)
        while self._path:
            node, targets = self._path[-1]
            target = next(targets, None)
            if target is None:
                self._path.pop()
                if self._lowest[node] == self._order[node]:
                    yield self._close(node)
                elif self._path:
                    self._leads_back(self._path[-1][0], self._lowest[node])
            elif target not in self._order:
                self._enter(target)
            elif target in self._open:
                self._leads_back(node, self._order[target])

    def _enter(self, node: str) -> None:
        self._order[node] = self._lowest[node] = len(self._order)
        self._open[node] = None
        self._path.append((node, iter(self._graph.get(node, ()))))

    def _leads_back(self, node: str, to: int) -> None:
        self._lowest[node] = min(self._lowest[node], to)

    def _close(self, node: str) -> list[str]:
        """The group whose first node this is: all that are open since."""
        group = [self._open.popitem()[0]]
        while group[-1] != node:
            group.append(self._open.popitem()[0])
        return group
