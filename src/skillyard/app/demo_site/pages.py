"""The pages of the shop, as they were, reordered, and broken."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from typing import Final, NamedTuple


class Layout(StrEnum):
    """How the pages look. What people are to enter is the same in the first two."""

    ORIGINAL = "original"
    REORDERED = "reordered"
    """Fields in another order, and a search box before all of them: what was the first field is not."""
    BROKEN = "broken"
    """Nobody can say how many they want."""


class _Field(NamedTuple):
    name: str
    label: str
    type: str = "text"


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """What was ordered, by whom."""

    number: int
    user: str
    customer: str
    article: str
    quantity: str


USER: Final = _Field("user", "User name")
PASSWORD: Final = _Field("password", "Password", "password")
_ORDER: Final = (_Field("customer", "Customer"), _Field("article", "Article"), _Field("quantity", "Quantity", "number"))
_SEARCH: Final = '<form action="/" role="search"><label>Search <input name="q"></label><button>Search</button></form>'


def sign_in_page(layout: Layout, *, refused: bool = False) -> str:
    """Where one signs in."""
    fields = (PASSWORD, USER) if layout is Layout.REORDERED else (USER, PASSWORD)
    remark = "<p role=alert>The user name or the password is wrong.</p>" if refused else ""
    return _page(layout, "Sign in", remark + _form("/sign-in", fields, "Sign in"))


def order_page(layout: Layout, user: str) -> str:
    """Where one orders."""
    fields: Sequence[_Field] = _ORDER
    if layout is Layout.REORDERED:
        fields = tuple(reversed(_ORDER))
    elif layout is Layout.BROKEN:
        fields = tuple(field for field in _ORDER if field.name != "quantity")
    greeting = f"<p>Signed in as {escape(user)}.</p>"
    return _page(layout, "New order", greeting + _form("/orders", fields, "Place order"))


def placed_page(layout: Layout, order: Order) -> str:
    """What is said of an order that was placed."""
    said = f"Order {order.number} is placed: {order.article}, {order.quantity} pieces, for {order.customer}."
    return _page(layout, "Thank you", f"<p role=status>{escape(said)}</p>")


def _page(layout: Layout, title: str, content: str) -> str:
    search = _SEARCH if layout is Layout.REORDERED else ""
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title} - Demo shop</title>'
        f"<body><header>Demo shop {search}</header><main><h1>{title}</h1>{content}</main></body></html>"
    )


def _form(action: str, fields: Sequence[_Field], button: str) -> str:
    rows = "".join(
        f'<p><label>{field.label} <input name="{field.name}" type="{field.type}" required></label></p>'
        for field in fields
    )
    return f'<form method="post" action="{action}">{rows}<button>{button}</button></form>'
