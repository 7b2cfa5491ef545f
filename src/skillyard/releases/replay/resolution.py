"""Finding an element again by its role and name: exactly one, or none."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from skillyard.releases.payloads import Element
from skillyard.releases.replay.labels import APART, ENOUGH, SAME, alikeness, plain
from skillyard.releases.replay.page import Node, Page
from skillyard.releases.replay.roles import akin, fits, fitting
from skillyard.sandbox.browser_steps import TYPING

_OTHER_ROLE: Final = 0.05
"""What it costs to have become something else, such as a link that was a button."""
_SHOWN: Final = 6
_RECORDED: Final = 500
"""So much of a name is recorded."""
_TELLING_TYPES: Final = frozenset({"date", "datetime-local", "time", "month", "week", "email", "tel", "url"})
"""Types of fields that say what is entered there. Secrets and plain text have none of them."""


class NotFoundHereError(Exception):
    """The page does not have the one element; the message says what it has."""


class NothingLikeItError(NotFoundHereError):
    """Nothing on the page is called anything like it."""


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
        raise (NotFoundHereError if plausible else NothingLikeItError)(_absent(page, element))
    if len(ranked) > 1 and ranked[0][0] - ranked[1][0] < APART:
        named = " and ".join(node.title for _, node in ranked[:2])
        raise NotFoundHereError(f"{_title(element)} is not on the page, and both {named} may be it.")
    best = ranked[0][1]
    return Found(node=best, recovered=f"{_title(element)} is now {best.title}")


def fields_to_type(page: Page, element: Element, verb: str) -> list[Node]:
    """The fields whose types are worth a look where nothing is called like an element: all in which one can write."""
    if element.password or element.input_type not in _TELLING_TYPES or verb not in TYPING:
        return []
    return [node for node in page.elements if fits(verb, node.role)]


def only_of_type(
    page: Page,
    element: Element,
    types: Mapping[str, str],
    *,
    others: Collection[tuple[str, str]] = (),
) -> Found | None:
    """The one field of the page that has the type of an element, whatever it is called; `types` are by ref.

    None where there are two, where it is sought by another step, or stands in another group.
    """
    same = [node for node in page.elements if types.get(node.ref or "") == element.input_type]
    if len(same) != 1 or (same[0].role, plain(same[0].name)) in {(role, plain(name)) for role, name in others}:
        return None
    if not akin(element.role, same[0].role) or same[0].disabled or not _within(page, same, element):
        return None
    return Found(
        node=same[0],
        recovered=f"{_title(element)} is now {same[0].title}, the only field of the type {element.input_type}",
    )


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
