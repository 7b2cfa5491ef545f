"""A small web application on loopback: a login, a list of orders and a form for a new one, in several looks.

The look is chosen on the server's side (`site.look = "reordered"`), so that recorded addresses stay the same.
"""

import html
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

USER = "ada"
PASSWORD = "correct-horse-battery"

LOOKS = (
    "plain",
    "reordered",  # fields and buttons in another order, so that every ref means something else
    "relabelled",  # "User name *", "Customer name", "Save order" instead of what was there
    "no_submit",  # the button that saves is gone
    "does_nothing",  # the button that saves does nothing
    "two_customers",  # two fields called Customer
    "clear_password",  # the password is typed into an ordinary text field
    "opposite",  # where Save was, only Delete order and Cancel are left
    "dated",  # asks for a date, called "Delivery date"
    "two_dates",  # asks for two dates
    "echoes",  # a refused login says which password was wrong
    "slow",  # the form appears after half a second
)


class Site:
    """The application: what was ordered, and how it looks now."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.look = "plain"
        self.orders: list[dict[str, str]] = []
        self.logins: list[tuple[str, str]] = []
        self.deleted: list[str] = []

    def reset(self, look: str = "plain") -> None:
        self.look = look
        for kept in (self.orders, self.logins, self.deleted):
            kept.clear()


def _page(title: str, body: str) -> str:
    return f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><h1>{title}</h1>{body}</html>"


def _field(label: str, name: str, kind: str = "text", more: str = "") -> str:
    own = f"{name}{len(label)}"
    return f'<p><label for="{own}">{label}</label> <input id="{own}" name="{name}" type="{kind}" {more}></p>'


def login_page(look: str, error: str = "") -> str:
    user = _field("User name *" if look == "relabelled" else "User name", "user")
    password = _field("Password", "password", "text" if look == "clear_password" else "password")
    search = _field("Search the site", "q", "search")
    fields = [search, password, user] if look == "reordered" else [user, password]
    button = "<button>Sign in</button>"
    body = [button, *fields] if look == "reordered" else [*fields, button]
    said = f"<p role=alert>{error}</p>" if error else ""
    return _page("Sign in to Orders", f"{said}<form method=post action=/login>{''.join(body)}</form>")


def orders_page(site: Site) -> str:
    rows = "".join(
        f"<tr><td>{html.escape(order['customer'])}</td><td>{html.escape(order['quantity'])}</td>"
        f"<td>{html.escape(order['size'])}</td>"
        f'<td><form method=post action=/delete><input type=hidden name=at value="{at}">'
        "<button>Delete</button></form></td></tr>"
        for at, order in enumerate(site.orders)
    )
    link = "<a href=/orders/new>New order</a>"
    if not site.orders:
        return _page("Orders", link)
    done = f"<p role=status>Order {len(site.orders)} saved for {html.escape(site.orders[-1]['customer'])}.</p>"
    table = f"<table><tr><th>Customer</th><th>Quantity</th><th>Size</th><th>Do</th></tr>{rows}</table>"
    return _page("Orders", done + link + table)


def order_page(look: str) -> str:
    customer = _field({"relabelled": "Customer name"}.get(look, "Customer"), "customer")
    quantity = _field("Quantity (required)" if look == "relabelled" else "Quantity", "quantity", "number")
    size = (
        "<p><label for=size>Size</label> <select id=size name=size>"
        "<option value=s>Small</option><option value=m>Medium</option><option value=l>Large</option></select></p>"
    )
    gift = "<p><label><input type=checkbox name=gift value=yes> Gift wrapping</label></p>"
    fields = [customer, quantity, size, gift]
    if look == "reordered":
        fields = [gift, size, _field("Coupon", "coupon"), quantity, customer]
    if look in {"dated", "two_dates"}:
        fields.append(_field("Delivery date", "due", "date"))
    if look == "two_dates":
        fields.append(_field("Date of the invoice", "invoiced", "date"))
    if look == "two_customers":
        fields.append(_field("Customer", "customer2", more="placeholder=again"))
    kind = "type=button" if look == "does_nothing" else ""
    save = f"<button {kind}>{'Save order' if look == 'relabelled' else 'Save'}</button>"
    cancel = "<button type=button>Cancel</button>"
    buttons = {
        "reordered": [cancel, save],
        "no_submit": [cancel],
        "opposite": ["<button formaction=/delete>Delete order</button>", cancel],
    }.get(look, [save, cancel])
    form = f"<form method=post action=/orders>{''.join(fields)}{''.join(buttons)}</form>"
    if look == "slow":
        form = (
            f"<div id=later></div><template id=form>{form}</template><script>setTimeout(() => "
            "document.getElementById('later').append(document.getElementById('form').content), 500)</script>"
        )
    return _page("New order", form)


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path == "/":
            self._answer(login_page(self.site.look))
        elif "in=yes" not in self.headers.get("Cookie", ""):
            self._go("/")
        elif path == "/orders/new":
            self._answer(order_page(self.site.look))
        elif path == "/orders":
            self._answer(orders_page(self.site))
        else:
            self._answer(_page("Not found", ""), HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        sent = {name: values[0] for name, values in parse_qs(self.rfile.read(length).decode()).items()}
        path = urlsplit(self.path).path
        if path == "/login":
            self.site.logins.append((sent.get("user", ""), sent.get("password", "")))
            if self.site.logins[-1] == (USER, PASSWORD):
                self._go("/orders", cookie="in=yes; Path=/")
            else:
                which = f": {html.escape(sent.get('password', ''))}" if self.site.look == "echoes" else ""
                self._answer(login_page(self.site.look, f"The user name or the password is wrong{which}."))
        elif path == "/orders":
            order = {name: sent.get(name, "") for name in ("customer", "quantity", "size", "gift", "coupon")}
            self.site.orders.append({**order, **{name: sent[name] for name in ("due",) if name in sent}})
            self._go("/orders")
        else:
            at = int(sent.get("at", -1))
            self.site.deleted.append(self.site.orders.pop(at)["customer"] if at >= 0 else "")
            self._go("/orders")

    def _go(self, where: str, cookie: str | None = None) -> None:
        self.send_response(HTTPStatus.SEE_OTHER)
        self.send_header("Location", where)
        if cookie:
            self.send_header("Set-Cookie", cookie)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _answer(self, text: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@contextmanager
def demo_site() -> Iterator[Site]:
    """The application, for as long as it is needed."""
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    site = handler.site = Site(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
