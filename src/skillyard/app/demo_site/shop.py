"""The shop itself: a server on a free port of the loopback address, in a thread of this process."""

import secrets
import threading
from collections.abc import Mapping
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Final, Self
from urllib.parse import parse_qs

from skillyard.app.demo_site.pages import Layout, Order, order_page, placed_page, sign_in_page

_FIRST_ORDER: Final = 1001
_SESSION: Final = "session"
_MAX_FORM: Final = 64 * 1024


class Shop(ThreadingHTTPServer):
    """A shop for those with an account. Use it in a `with` block; `layout` may change meanwhile."""

    daemon_threads = True

    def __init__(self, accounts: Mapping[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), _Visit)
        self.layout = Layout.ORIGINAL
        self.orders: list[Order] = []
        self._accounts = dict(accounts)
        self._sessions: dict[str, str] = {}
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), name="demo shop", daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    def sign_in(self, user: str, password: str) -> str | None:
        """A session, for those with an account."""
        with self._lock:
            if not password or self._accounts.get(user) != password:
                return None
            session = secrets.token_hex(16)
            self._sessions[session] = user
            return session

    def user_of(self, session: str) -> str | None:
        return self._sessions.get(session)

    def order(self, user: str, form: Mapping[str, str]) -> Order:
        with self._lock:
            number = _FIRST_ORDER + len(self.orders)
            given = {name: form.get(name, "") for name in ("customer", "article", "quantity")}
            self.orders.append(Order(number=number, user=user, **given))
            return self.orders[-1]


class _Visit(BaseHTTPRequestHandler):
    """One visitor; the first page signs out whoever was signed in."""

    server: Shop  # pyright: ignore[reportIncompatibleVariableOverride] -- nobody else uses it
    protocol_version = "HTTP/1.1"
    error_message_format = "%(code)d %(message)s"
    _closed: ClassVar = {"Connection": "close"}

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/":
            self._show(sign_in_page(self.server.layout), {"Set-Cookie": f"{_SESSION}=; Path=/; Max-Age=0"})
        elif path == "/orders/new":
            user = self._user()
            if user is None:
                self._go("/")
            else:
                self._show(order_page(self.server.layout, user))
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        form = self._form()
        user = self._user()
        if self.path == "/sign-in":
            session = self.server.sign_in(form.get("user", ""), form.get("password", ""))
            if session is None:
                self._show(sign_in_page(self.server.layout, refused=True))
            else:
                self._go("/orders/new", {"Set-Cookie": f"{_SESSION}={session}; Path=/; HttpOnly; SameSite=Strict"})
        elif self.path == "/orders" and user is not None:
            self._show(placed_page(self.server.layout, self.server.order(user, form)))
        else:
            self._go("/")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 -- the signature is the library's
        """Say nothing: what was entered is nobody's business."""

    def _form(self) -> dict[str, str]:
        length = self.headers.get("Content-Length", "")
        data = self.rfile.read(min(int(length), _MAX_FORM)) if length.isdecimal() else b""
        fields = parse_qs(data.decode("utf-8", "replace"), keep_blank_values=True)
        return {name: values[0] for name, values in fields.items()}

    def _user(self) -> str | None:
        try:
            cookie = SimpleCookie(self.headers.get("Cookie", ""))
        except CookieError:
            return None
        return self.server.user_of(cookie[_SESSION].value) if _SESSION in cookie else None

    def _show(self, page: str, headers: Mapping[str, str] | None = None) -> None:
        self._answer(HTTPStatus.OK, page.encode(), {"Content-Type": "text/html; charset=utf-8", **(headers or {})})

    def _go(self, where: str, headers: Mapping[str, str] | None = None) -> None:
        self._answer(HTTPStatus.SEE_OTHER, b"", {"Location": where, **(headers or {})})

    def _answer(self, status: HTTPStatus, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, **self._closed, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
