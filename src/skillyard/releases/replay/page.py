"""A page as a snapshot shows it: its elements with their roles, names and refs, and what stands around them."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from skillyard.releases.replay.roles import FILLED

_LINE: Final = re.compile(r"( *)- ([^\s:\"\[]+)(.*)")
_ATTRIBUTE: Final = re.compile(r" \[([^\[\]=]+)(?:=([^\[\]]*))?\]")
_GROUPS: Final = frozenset(
    (
        *("group", "region", "form", "row", "listitem", "article", "dialog", "alertdialog", "radiogroup", "tabpanel"),
        *("treeitem", "option", "search", "navigation", "complementary", "toolbar", "menu"),
    )
)
"""What tells elements of the same name apart."""
_ALERTS: Final = frozenset({"alert", "alertdialog"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One element, or one piece of text."""

    index: int
    depth: int
    role: str
    name: str
    value: str
    ref: str | None
    """As steps name it: `@e5`."""
    disabled: bool

    @property
    def label(self) -> str:
        return self.name or self.value

    @property
    def title(self) -> str:
        return f'{self.role} "{self.name}"' if self.name else self.role


class Page:
    """The elements of a page in their order."""

    def __init__(self, snapshot: str) -> None:
        self.nodes = tuple(_nodes(snapshot))

    @property
    def elements(self) -> Iterator[Node]:
        """Those that something can be done to."""
        return (node for node in self.nodes if node.ref is not None)

    def around(self, node: Node) -> Iterator[str]:
        """The names of the groups around an element, the nearest first; of one without a name, what it says."""
        return (group.name or self._said(group, but=node) for group in self._groups(node))

    def beside(self, node: Node) -> set[str]:
        """What stands with an element in the nearest group: each label by itself, such as the cells of its row."""
        group = next(self._groups(node), None)
        below = self._below(group) if group is not None else ()
        return {other.label for other in below if other.index != node.index and not other.role.startswith("/")}

    def _groups(self, node: Node) -> Iterator[Node]:
        depth = node.depth
        for other in reversed(self.nodes[: node.index]):
            if other.depth < depth:
                depth = other.depth
                if other.role in _GROUPS:
                    yield other

    @cached_property
    def text(self) -> str:
        """All that can be read on it, in one line."""
        return " ".join(self._read(self.nodes))

    @property
    def alerts(self) -> list[str]:
        """What it says where it wants to be heard at once, such as that a password is wrong; each once."""
        alerts = (node for node in self.nodes if node.role in _ALERTS)
        said = (" ".join([node.label, *self._read(self._below(node))]).strip() for node in alerts)
        return list(dict.fromkeys(text for text in said if text))

    def _said(self, group: Node, *, but: Node) -> str:
        inside = (node for node in self._below(group) if node.index != but.index and not node.role.startswith("/"))
        return " ".join(node.label for node in inside if node.label)

    @staticmethod
    def _read(nodes: Iterable[Node]) -> Iterator[str]:
        # What somebody typed is not what the page says.
        said = (node.name if node.role in FILLED else node.label for node in nodes if node.role[0] != "/")
        return (text for text in said if text)

    def _below(self, group: Node) -> Sequence[Node]:
        end = group.index + 1
        while end < len(self.nodes) and self.nodes[end].depth > group.depth:
            end += 1
        return self.nodes[group.index + 1 : end]


def _nodes(snapshot: str) -> Iterator[Node]:
    index = 0
    for line in snapshot.splitlines():
        found = _LINE.fullmatch(line)
        if found is None:
            continue
        name, rest = _name(found[3])
        attributes: dict[str, str | None] = {}
        while match := _ATTRIBUTE.match(rest):
            attributes[match[1]] = match[2]
            rest = rest[match.end() :]
        ref, value = attributes.get("ref"), rest.removeprefix(":").strip()
        yield Node(
            index=index,
            depth=len(found[1]) // 2,
            role=found[2],
            # What only scripts of the page made a button of is called by what it says.
            name=name or (value if found[2] == "generic" else ""),
            value=value,
            ref=f"@{ref}" if ref else None,
            disabled="disabled" in attributes,
        )
        index += 1


def _name(rest: str) -> tuple[str, str]:
    """The name at the beginning of what follows a role, and what follows that."""
    if not rest.startswith(' "'):
        return "", rest
    try:
        name, end = json.JSONDecoder().raw_decode(rest, 1)
    except ValueError:
        return "", rest
    return str(name), rest[end:]
