"""Finding an element again by its role and name: exactly one, or none."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from skillyard.releases.payloads import Element
from skillyard.releases.replay.labels import APART, ENOUGH, SAME, alikeness, plain
from skillyard.releases.replay.page import Node, Page
from skillyard.releases.replay.roles import akin, fits, fitting

_OTHER_ROLE: Final = 0.05
"""What it costs to have become something else, such as a link that was a button."""
_SHOWN: Final = 6
_RECORDED: Final = 500
"""So much of a name is recorded."""


class NotFoundHereError(Exception):
    """The page does not have the one element; the message says what it has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    node: Node
    recovered: str = ""
    """How it was found although it is not named as it was."""

    @property
    def ref(self) -> str:
        return self.node.ref or ""


def exactly(page: Page, element: Element, verb: str) -> Found | None:
    """The one element of this role and name, within its group; None if there is none of them."""
    named = [node for node in page.elements if node.role == element.role and _is_named(node, element)]
    inside = _within(page, named, element)
    if len(inside) > 1:
        where = f" within {element.within!r}" if element.within else ""
        raise NotFoundHereError(
            f"{len(inside)} elements are {_title(element)}{where}: which of them is meant cannot be told."
        )
    if not inside:
        return None
    _require_fit(verb, inside[0])
    return Found(node=inside[0])


def nearly(page: Page, element: Element, verb: str, *, others: Collection[tuple[str, str]] = ()) -> Found:
    """The one element that plausibly is it, its label changed a little; not one of `others`, which are sought too."""
    taken = {(role, plain(name)) for role, name in others if alikeness(element.name, name) < SAME}
    scored = [
        (_score(node, element), node)
        for node in page.elements
        if akin(element.role, node.role) and fits(verb, node.role) and (node.role, plain(node.name)) not in taken
    ]
    plausible = sorted((pair for pair in scored if pair[0] >= ENOUGH), key=lambda pair: (-pair[0], pair[1].index))
    inside = _within(page, [node for _, node in plausible], element)
    ranked = [(score, node) for score, node in plausible if node in inside]
    if not ranked:
        raise NotFoundHereError(_absent(page, element))
    if len(ranked) > 1 and ranked[0][0] - ranked[1][0] < APART:
        named = " and ".join(node.title for _, node in ranked[:2])
        raise NotFoundHereError(f"{_title(element)} is not on the page, and both {named} may be it.")
    best = ranked[0][1]
    return Found(node=best, recovered=f"{_title(element)} is now {best.title}")


def _score(node: Node, element: Element) -> float:
    score = SAME if _is_named(node, element) else alikeness(element.name, node.name)
    return score - (0.0 if node.role == element.role else _OTHER_ROLE)


def _is_named(node: Node, element: Element) -> bool:
    return plain(node.name)[:_RECORDED] == plain(element.name)[:_RECORDED]


def _within(page: Page, nodes: Sequence[Node], element: Element) -> list[Node]:
    """Those in the group that was recorded, where one was."""
    if not element.within:
        return list(nodes)
    wanted = plain(element.within)[:_RECORDED]
    around = {node.index: [plain(name)[:_RECORDED] for name in page.around(node)] for node in nodes}
    same = [node for node in nodes if wanted in around[node.index]]
    if same:
        return same
    alike = [node for node in nodes if any(alikeness(wanted, name) >= SAME for name in around[node.index])]
    # Of a row, what is known may be one of its cells: the others change.
    return alike or [node for node in nodes if wanted in {plain(label)[:_RECORDED] for label in page.beside(node)}]


def _require_fit(verb: str, node: Node) -> None:
    if not fits(verb, node.role):
        raise NotFoundHereError(f"{verb!r} does not fit a {node.title}; it fits {fitting(verb)}.")


def _absent(page: Page, element: Element) -> str:
    like = [node.title for node in page.elements if akin(element.role, node.role) and node.name]
    more = f" and {len(like) - _SHOWN} more" if len(like) > _SHOWN else ""
    there = f" It has {', '.join(like[:_SHOWN])}{more}." if like else ""
    where = f" within {element.within!r}" if element.within else ""
    return f"The page has no {_title(element)}{where}, and nothing that plausibly is it.{there}"


def _title(element: Element) -> str:
    return f'{element.role} "{element.name}"' if element.name else f"{element.role} without a name"
