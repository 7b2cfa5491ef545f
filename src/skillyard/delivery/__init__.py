"""Delivery: skills from a source into the folders that agents read, and what becomes of them there.

Every change is a plan first (`plan_add`, `plan_sync`, `plan_update`, `plan_remove`, `plan_adopt`) and is carried out by
`apply_plan`; `check_installed` and `restore_item` complete the circle. `delivery.ship` brings skills into sandboxes
and wherever else they are kept as somebody wants them.

The names below are imported when they are first used: a yard, which only ships, starts without installing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillyard.delivery.add import plan_add
    from skillyard.delivery.adopt import plan_adopt
    from skillyard.delivery.apply import apply_plan
    from skillyard.delivery.check import check_installed
    from skillyard.delivery.fetch import fetch_source
    from skillyard.delivery.remove import plan_remove
    from skillyard.delivery.restore import restore_item
    from skillyard.delivery.source_text import parse_source
    from skillyard.delivery.sync import plan_sync
    from skillyard.delivery.update import plan_update

__all__ = [
    "apply_plan",
    "check_installed",
    "fetch_source",
    "parse_source",
    "plan_add",
    "plan_adopt",
    "plan_remove",
    "plan_sync",
    "plan_update",
    "restore_item",
]

_HOMES = {
    "apply_plan": "skillyard.delivery.apply",
    "check_installed": "skillyard.delivery.check",
    "fetch_source": "skillyard.delivery.fetch",
    "parse_source": "skillyard.delivery.source_text",
    "plan_add": "skillyard.delivery.add",
    "plan_adopt": "skillyard.delivery.adopt",
    "plan_remove": "skillyard.delivery.remove",
    "plan_sync": "skillyard.delivery.sync",
    "plan_update": "skillyard.delivery.update",
    "restore_item": "skillyard.delivery.restore",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'skillyard.delivery' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
