"""What was done in a browser: to which element, as people name it, and what the page said then."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from skillyard.releases.mining.acts import Act, Context, Slot, Template, written
from skillyard.releases.mining.addresses import address_form, address_parts
from skillyard.releases.mining.labels import label_key
from skillyard.releases.payloads import Element, Step, StepType, VariableType
from skillyard.releases.placeholders import literal
from skillyard.sandbox.browser_lines import line_of
from skillyard.sandbox.browser_steps import TYPING, BrowserStep
from skillyard.sandbox.capture.browser_secrets import is_for_secret
from skillyard.sandbox.capture.markers import has_marker

CHOOSING: Final = frozenset({"select"})
GOING: Final = frozenset({"open", "back", "forward", "reload"})
_CHECKABLE: Final = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})
_CHOICES: Final = frozenset({"option", "radio", "menuitemradio", "gridcell", "treeitem"})
"""Elements whose names are what is chosen."""
_LISTED: Final = frozenset({"link", "row", "cell", "listitem", "generic", "article", "menuitem", "rowheader"})
"""Elements that often stand in lists, one for each thing."""
_VAGUE: Final = frozenset({"", "generic", "text", "paragraph", "img"})
"""Of these there are too many on any page to find one by its role."""
_TYPES: Final[Mapping[str, VariableType]] = {
    "number": VariableType.NUMBER,
    "range": VariableType.NUMBER,
    "date": VariableType.DATE,
    "email": VariableType.EMAIL,
    "url": VariableType.URL,
    "tel": VariableType.STRING,
    "password": VariableType.STRING,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Spot:
    """The element that was acted on."""

    role: str
    name: str
    password: bool = False
    tag: str = ""
    input_type: str = ""
    within: str = ""
    field: str = ""
    group: str = ""
    """What it is a choice for."""
    sensitive: bool = False

    @classmethod
    def of(cls, target: Mapping[str, Any] | None) -> "Spot | None":
        """What a trace says of an element; None if that is nothing by which it can be found again."""
        if target is None:
            return None
        said = {key: str(value) for key, value in target.items() if isinstance(value, str)}
        nameless = not said.get("name") and not said.get("field")
        if (nameless and said.get("role", "generic") in _VAGUE) or not (said.get("role") or said.get("field")):
            return None
        return cls(
            role=said.get("role", ""),
            name=said.get("name", ""),
            password=target.get("is_password") is True,
            tag=said.get("tag", ""),
            input_type=said.get("type", "") if said.get("tag") == "input" else "",
            within=said.get("within", ""),
            field=said.get("field", ""),
            group=said.get("group", ""),
            sensitive=is_for_secret(target),
        )

    @property
    def selector(self) -> str:
        """By which it is found where it has no name."""
        if self.name or not re.fullmatch(r"[\w.\-\[\]]+", self.field):
            return ""
        return f'{self.tag or "*"}[name="{self.field}"]'

    @property
    def title(self) -> str:
        return self.name or self.field or self.role


@dataclass(kw_only=True, eq=False, slots=True)
class BrowserAct(Act):
    verb: str
    spot: Spot | None = None
    selector: str = ""
    """Where there is nothing better to find the element by."""
    values: tuple[str, ...] = ()
    """What follows the element: texts, options; of `open` the address, of `press` the key."""
    before: str = ""
    after: str = ""
    """Where the browser was."""
    shown: tuple[str, ...] = ()
    """What the page said of itself then."""
    title: str = ""
    """Of the page that was opened."""
    is_left_out: bool = False
    """Whether it was not done at this time, but at others."""
    same_as: str = ""
    """The form of what it is the same as, where that was called otherwise."""
    done_as: str = ""
    """The form of what was really done, where this stands for it."""
    type: StepType = field(default=StepType.BROWSER, init=False)

    def __post_init__(self) -> None:
        self.slots = tuple(self._slots())

    @property
    def is_entry(self) -> bool:
        return self.kind in {"enter", "choose", "check", "uncheck"}

    @property
    def kind(self) -> str:
        """The verb, the same for those that do the same."""
        if self.verb in TYPING:
            return "enter"
        if self.verb in CHOOSING:
            return "choose"
        if self.verb == "check" or (self.verb == "click" and self.spot is not None and self.spot.role in _CHECKABLE):
            return "check"
        return self.verb

    @property
    def weight(self) -> int:
        return 0 if self.verb in GOING or self.verb == "close" else 1

    @property
    def can_be_found(self) -> bool:
        """Whether a replay could find the element again."""
        return self.spot is not None or bool(self.selector) or self.verb in GOING or self.verb in {"press", "eval"}

    @property
    def enters_secret(self) -> bool:
        return self.verb in TYPING and (any(map(has_marker, self.values)) or bool(self.spot and self.spot.password))

    @property
    def same_place(self) -> tuple[str, str, str, str]:
        """By which two acts on the same element are known as such."""
        spot = self.spot
        return (spot.role, spot.name, spot.within, spot.field) if spot else ("", "", "", self.selector)

    def form(self, typed: Collection[str]) -> str:
        if self.same_as:
            return self.same_as
        if self.verb == "open":
            return f"open {address_form(self.values[0], typed)}"
        said = f"{self.kind} {self.values[0]}" if self.verb in {"press", "eval"} else self.kind
        return f"{said} {self._place(typed)}".rstrip()

    def skeleton(self) -> str:
        if self.verb == "open":
            return self.form(())
        said = f"{self.kind} {self.values[0]}" if self.verb in {"press", "eval"} else self.kind
        return f"{said} {self.spot.role if self.spot else self.selector}".rstrip()

    def _place(self, typed: Collection[str]) -> str:
        spot = self.spot
        if spot is None or (spot.selector and not spot.name):
            return self.selector or (spot.selector if spot else "")
        if not self.is_entry:
            return f"{spot.role} {'?' if spot.role in _CHOICES else label_key(spot.name, typed)}"
        name = f"? {label_key(spot.group)}" if spot.role in _CHOICES else label_key(spot.name)
        return f"{spot.role} {name} {label_key(spot.within, typed)}".rstrip()

    def _slots(self) -> list[Slot]:
        if self.verb == "open":
            return [part.slot for part in address_parts(self.values[0]) if part.slot is not None]
        found: list[Slot] = []
        if self.verb in TYPING | CHOOSING:
            context = Context.FIELD if self.verb in TYPING else Context.CHOICE
            spot = self.spot
            label = spot.title if spot else self.selector
            kind = _TYPES.get(spot.input_type) if spot else None
            sensitive = bool(spot and spot.sensitive)
            found += [
                Slot(value=value, context=context, label=label, type=kind, sensitive=sensitive) for value in self.values
            ]
        if self.spot is not None and self.verb != "press":
            role = self.spot.role
            is_choice = role in _CHOICES
            context = Context.CHOICE if is_choice else Context.NAME
            label = (self.spot.group or "choice") if is_choice else "item" if role == "generic" else role
            found.append(Slot(value=self.spot.name, context=context, label=label, listed=role in _LISTED))
            found.append(Slot(value=self.spot.within, context=Context.AROUND, label="row"))
        return found

    def step(self, templates: Sequence[Template | None], ref: str) -> Step:
        if self.verb == "open":
            return _step(BrowserStep(verb="open", arguments=(self._address(templates),)))
        if self.verb in {"press", "eval", "back", "forward", "reload", "close"}:
            return _step(BrowserStep(verb=self.verb, arguments=tuple(map(literal, self.values))))
        texts = [
            literal(slot.value) if template is None else written(template)
            for slot, template in zip(self.slots, templates, strict=True)
        ]
        spot = self.spot
        values = tuple(texts[: len(self.values)])
        if spot is None or spot.selector:
            place = self.selector or (spot.selector if spot else "")
            return _step(BrowserStep(verb=self.verb, arguments=(literal(place), *values)))
        element = Element(
            role=spot.role,
            name=texts[-2],
            password=spot.password,
            tag=spot.tag,
            input_type=spot.input_type,
            within=texts[-1],
        )
        return _step(BrowserStep(verb=self.verb, arguments=(ref, *values)), element)

    def _address(self, templates: Sequence[Template | None]) -> str:
        left = iter(templates)
        pieces: list[str] = []
        for part in address_parts(self.values[0]):
            template = next(left) if part.slot is not None else None
            pieces.append(literal(part.text) if template is None else written(template))
        return "".join(pieces)


def _step(step: BrowserStep, element: Element | None = None) -> Step:
    return Step(type=StepType.BROWSER, text=line_of(step), element=element)
