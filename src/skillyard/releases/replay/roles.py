"""Which roles a verb of the browser fits, and which roles may have been another one before."""

from collections.abc import Mapping
from typing import Final

FILLED: Final = frozenset({"textbox", "searchbox", "combobox", "spinbutton", "slider"})
_CHECKED: Final = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})
_FITTING: Final[Mapping[str, frozenset[str]]] = {
    "fill": FILLED,
    "type": FILLED,
    "check": _CHECKED,
    "uncheck": _CHECKED - {"radio", "menuitemradio"},
    "select": frozenset({"combobox", "listbox"}),
}
"""All others fit everything: whatever can be seen can be clicked."""
_KIN: Final[tuple[frozenset[str], ...]] = (
    frozenset({"button", "link"}),
    frozenset({"textbox", "searchbox"}),
    frozenset({"checkbox", "switch"}),
    frozenset({"combobox", "listbox"}),
    frozenset({"menuitem", "button"}),
    frozenset({"tab", "link"}),
)

ACTING: Final = frozenset(
    ("click", "dblclick", "hover", "focus", "check", "uncheck", "fill", "type", "select", "scrollintoview")
)
"""The verbs whose first argument is the element that they act on."""


def fits(verb: str, role: str) -> bool:
    """Whether a verb can be meant for something of a role."""
    return role in _FITTING.get(verb, frozenset({role}))


def fitting(verb: str) -> str:
    """The roles that a verb fits, to be told."""
    return ", ".join(sorted(_FITTING.get(verb, ())))


def akin(one: str, other: str) -> bool:
    """Whether a page may have come to show the same thing in the other role."""
    return one == other or any(one in roles and other in roles for roles in _KIN)
