"""The shop of the demonstration: who signs in, what is ordered, and how its pages change."""

import http.client
import re
import urllib.parse

import pytest

from skillyard.app.demo_site.pages import Layout
from skillyard.app.demo_site.shop import Shop

MINA = {"user": "mina", "password": "right"}
ORDER = {"customer": "Ada & <b>", "article": "Tea", "quantity": "2"}


class Visitor:
    """Someone with a browser that keeps its cookie."""

    def __init__(self, shop):
        self.shop = shop
        self.cookie = ""

    def ask(self, method, path, form=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.shop.server_port)
        headers = {"Cookie": self.cookie, "Content-Type": "application/x-www-form-urlencoded"}
        connection.request(method, path, urllib.parse.urlencode(form or {}), headers)
        answer = connection.getresponse()
        self.cookie = answer.headers.get("Set-Cookie", self.cookie).partition(";")[0]
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers.get("Location"), text


@pytest.fixture
def shop():
    with Shop({"mina": "right"}) as open_shop:
        yield open_shop


@pytest.fixture
def visitor(shop):
    return Visitor(shop)


def fields(page):
    return re.findall(r'<input name="(\w+)"', page)


def test_who_signs_in_can_order(shop, visitor):
    assert visitor.ask("POST", "/sign-in", MINA)[:2] == (303, "/orders/new")
    assert "Signed in as mina." in visitor.ask("GET", "/orders/new")[2]
    _, _, page = visitor.ask("POST", "/orders", ORDER)
    assert "Order 1001 is placed: Tea, 2 pieces, for Ada &amp; &lt;b&gt;." in page
    assert [(order.user, order.customer, order.quantity) for order in shop.orders] == [("mina", "Ada & <b>", "2")]


@pytest.mark.parametrize("form", [{**MINA, "password": "wrong"}, {"user": "nobody", "password": "right"}, {}])
def test_nobody_else_comes_in(shop, visitor, form):
    assert "is wrong" in visitor.ask("POST", "/sign-in", form)[2]
    assert visitor.ask("GET", "/orders/new")[:2] == (303, "/")
    assert visitor.ask("POST", "/orders", ORDER)[:2] == (303, "/")
    assert shop.orders == []


def test_the_first_page_signs_out(visitor):
    visitor.ask("POST", "/sign-in", MINA)
    visitor.ask("GET", "/")
    assert visitor.ask("GET", "/orders/new")[:2] == (303, "/")


def test_reordered_pages_have_the_same_fields_at_other_places(shop, visitor):
    visitor.ask("POST", "/sign-in", MINA)
    before = fields(visitor.ask("GET", "/orders/new")[2])
    shop.layout = Layout.REORDERED
    after = fields(visitor.ask("GET", "/orders/new")[2])
    assert after == ["q", *reversed(before)]
    assert fields(visitor.ask("GET", "/")[2]) == ["q", "password", "user"]


def test_a_broken_page_lacks_the_quantity(shop, visitor):
    visitor.ask("POST", "/sign-in", MINA)
    shop.layout = Layout.BROKEN
    assert fields(visitor.ask("GET", "/orders/new")[2]) == ["customer", "article"]


def test_what_is_not_there_is_not_found(visitor):
    assert visitor.ask("GET", "/admin")[0] == 404


def test_a_cookie_that_is_none_is_nobody(visitor):
    visitor.cookie = 'session="; \x01=\x02'
    assert visitor.ask("GET", "/orders/new")[:2] == (303, "/")
