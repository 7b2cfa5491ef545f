"""What a page shows, as lines that a model can read, and the refs by which it names the elements of them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

INTERACTIVE = frozenset(
    (
        *("button", "link", "textbox", "searchbox", "checkbox", "radio", "combobox", "listbox", "option", "slider"),
        *("spinbutton", "switch", "tab", "treeitem", "menuitem", "menuitemcheckbox", "menuitemradio"),
    )
)
GROUPS = frozenset(
    (
        *("group", "region", "form", "row", "listitem", "article", "dialog", "alertdialog", "radiogroup", "tabpanel"),
        *("treeitem", "option", "search", "navigation", "complementary", "toolbar", "menu"),
    )
)
"""What tells elements of the same name apart."""
CHOICES = frozenset(("radio", "option", "menuitemradio", "treeitem", "gridcell"))
"""Elements of which one is chosen."""
_HOLDERS = frozenset(("combobox", "listbox", "grid", "table", "tree"))
MASK = "••••••"
NOTHING = "(nothing to interact with)"

_LINE = re.compile(r"( *)- (?:'((?:[^']|'')*)'|((?:\"(?:[^\"\\]|\\.)*\"|[^\":]|:(?! |$))*))(?:: ?(.*))?$")
_ATTRIBUTE = re.compile(r"\[([^\[\]=]+)(?:=([^\[\]]*))?\]")
_HIDDEN_ATTRIBUTES = frozenset(("ref", "cursor", "active", "box"))
_SPACES = re.compile(r"\s+")


class Element(NamedTuple):
    """An element that a snapshot has shown."""

    engine_ref: str
    """What the browser's driver calls it."""
    role: str
    name: str


class Node(NamedTuple):
    """One line of the driver's snapshot."""

    depth: int
    role: str
    name: str
    attributes: dict[str, str | None]
    value: str

    @property
    def ref(self) -> str | None:
        return self.attributes.get("ref")

    @property
    def interactive(self) -> bool:
        return self.ref is not None and (self.role in INTERACTIVE or (self.clickable and self.label != ""))

    @property
    def clickable(self) -> bool:
        """Something without a role that scripts of the page made a button of."""
        return self.role == "generic" and self.attributes.get("cursor") == "pointer"

    @property
    def label(self) -> str:
        return self.name or (self.value if self.role == "generic" else "")


class Snapshot:
    """The elements of a page, those to interact with numbered first: they have the same refs however it is shown."""

    def __init__(self, text: str, passwords: Collection[str] = ()) -> None:
        masked = frozenset(normalised(password) for password in passwords if password)
        self._nodes = [_masked(node, masked) for node in _nodes(text)]
        numbered = [node for node in self._nodes if node.interactive]
        numbered += [node for node in self._nodes if node.ref is not None and not node.interactive]
        self._refs = {str(node.ref): f"e{number}" for number, node in enumerate(numbered, 1)}
        self.printed: set[str] = set()
        """The refs in the requested lines; the reader knows no others."""
        self.elements = {
            f"@{self._refs[str(node.ref)]}": Element(str(node.ref), node.role, node.label) for node in numbered
        }

    def within(self, ref: str) -> str:
        """What the nearest group says around an element that is not the only one of its role and name."""
        own = self.elements[ref]
        alike = [
            index
            for index, node in enumerate(self._nodes)
            if node.ref is not None and (node.role, node.label) == (own.role, own.name)
        ]
        mine = next((index for index in alike if self._nodes[index].ref == own.engine_ref), None)
        if mine is None or len(alike) == 1:
            return ""
        parents = self._parents()
        others = {said for index in alike if index != mine for said in self._around(index, parents)}
        return next((said for said in self._around(mine, parents) if said and said not in others), "")

    def interactive_lines(self) -> Iterator[str]:
        """One line for each element to interact with."""
        found = False
        for index, node in enumerate(self._nodes):
            if node.interactive:
                found = True
                yield f"- {self._shown(node._replace(name=node.label), self._value(index))}"
        if not found:
            yield NOTHING

    def lines(self, *, compact: bool = False, depth: int | None = None) -> Iterator[str]:
        """The whole tree; compact, without the parts that only hold others."""
        levels: list[tuple[int, int]] = []
        for node in self._nodes:
            while levels and levels[-1][0] >= node.depth:
                levels.pop()
            level = levels[-1][1] + 1 if levels else 0
            if compact and node.role == "generic" and not node.label and not node.clickable:
                levels.append((node.depth, level - 1))
                continue
            levels.append((node.depth, level))
            if depth is None or level < depth:
                yield f"{'  ' * level}- {self._shown(node, node.value)}"

    def group(self, ref: str) -> str:
        """What is chosen by an element that is one of several choices: the name of what holds them."""
        own = self.elements[ref]
        if own.role not in CHOICES:
            return ""
        parents = self._parents()
        above = next((index for index, node in enumerate(self._nodes) if node.ref == own.engine_ref), None)
        while above is not None:
            above = parents[above]
            if above is not None and self._nodes[above].name and self._nodes[above].role in GROUPS | _HOLDERS:
                return self._nodes[above].name
        return ""

    def _parents(self) -> list[int | None]:
        """Of each line, the one that it stands below."""
        parents: list[int | None] = []
        above: list[int] = []
        for index, node in enumerate(self._nodes):
            while above and self._nodes[above[-1]].depth >= node.depth:
                above.pop()
            parents.append(above[-1] if above else None)
            above.append(index)
        return parents

    def _around(self, index: int, parents: list[int | None]) -> Iterator[str]:
        """The names of the groups around an element, the nearest first; of one without a name, what it says."""
        group = parents[index]
        while group is not None:
            if self._nodes[group].role in GROUPS:
                yield self._nodes[group].name or self._said(group, index)
            group = parents[group]

    def _said(self, group: int, but: int) -> str:
        said: list[str] = []
        for index in range(group + 1, len(self._nodes)):
            node = self._nodes[index]
            if node.depth <= self._nodes[group].depth:
                break
            if index != but and not node.role.startswith("/"):
                said.append(node.name or node.value)
        return " ".join(text for text in said if text)

    def _value(self, index: int) -> str:
        """What a field holds: of a choice, the chosen ones of the options below it."""
        node = self._nodes[index]
        if node.role not in {"combobox", "listbox"} or node.value:
            return "" if node.clickable else node.value
        chosen: list[str] = []
        for other in self._nodes[index + 1 :]:
            if other.depth <= node.depth:
                break
            if other.role == "option" and "selected" in other.attributes:
                chosen.append(other.name)
        return ", ".join(chosen)

    def _shown(self, node: Node, value: str) -> str:
        parts = [node.role]
        if node.name:
            parts.append(json.dumps(node.name, ensure_ascii=False))
        for name, setting in node.attributes.items():
            if name not in _HIDDEN_ATTRIBUTES:
                parts.append(f"[{name}]" if setting is None else f"[{name}={setting}]")
        if node.clickable:
            parts.append("[clickable]")
        if node.ref is not None:
            self.printed.add(f"@{self._refs[node.ref]}")
            parts.append(f"[ref={self._refs[node.ref]}]")
        return " ".join(parts) + (f": {value}" if value else "")


def read_node(line: str) -> Node | None:
    """The element that a line is about."""
    match = _LINE.match(line)
    if match is None:
        return None
    indent, quoted, plain, value = match.groups()
    key = quoted.replace("''", "'") if quoted is not None else plain
    role, _, rest = key.partition(" ")
    name = ""
    if rest.startswith('"'):
        try:
            name, end = json.JSONDecoder().raw_decode(rest)
            rest = rest[end:]
        except ValueError:
            return None
    attributes = {found: setting or None for found, setting in _ATTRIBUTE.findall(rest)}
    return Node(len(indent) // 2, role, str(name), attributes, _plain(value or ""))


def normalised(text: str) -> str:
    """A text as snapshots show it."""
    return _SPACES.sub(" ", text).strip()


def _nodes(text: str) -> Iterator[Node]:
    for line in text.splitlines():
        node = read_node(line)
        if node is not None:
            yield node


def _plain(value: str) -> str:
    if value.startswith('"'):
        try:
            return str(json.loads(value))
        except ValueError:
            return value
    return value[1:-1].replace("''", "'") if value[:1] == value[-1:] == "'" and len(value) > 1 else value


def _masked(node: Node, passwords: Collection[str]) -> Node:
    return node._replace(value=MASK) if node.role == "textbox" and normalised(node.value) in passwords else node
