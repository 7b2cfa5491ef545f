import asyncio

import httpx
import pytest

from skillyard.server.rate import Buckets, Rate, RateLimit


class Yard:
    """Accepts the tokens that start with 'good'."""

    def __init__(self, *, burst=3):
        self.now = 100.0
        self.limit = RateLimit(self.app, rate=Rate(per_second=0.5, burst=burst), clock=lambda: self.now)

    async def app(self, scope, receive, send):
        token = dict(scope["headers"]).get(b"authorization", b"")
        good = token.startswith(b"good")
        if good:
            scope.setdefault("state", {})["person"] = token.decode()
        await send({"type": "http.response.start", "status": 200 if good else 401, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def ask(self, *tokens, address="10.0.0.1", path="/"):
        async def go():
            transport = httpx.ASGITransport(self.limit, client=(address, 5))
            async with httpx.AsyncClient(transport=transport, base_url="http://yard") as client:
                return [await client.get(path, headers={"authorization": token} if token else {}) for token in tokens]

        return asyncio.run(go())


def statuses(answers):
    return [answer.status_code for answer in answers]


def test_beyond_the_burst_the_answer_says_when_to_come_back():
    yard = Yard()
    *_, third, fourth = yard.ask("", "", "", "")
    assert third.headers["ratelimit-limit"] == "3"
    assert third.headers["ratelimit-remaining"] == "0"
    assert third.headers["ratelimit-reset"] == "6"
    assert fourth.status_code == 429
    assert fourth.json()["error"]["code"] == "rate_limited"
    assert fourth.headers["retry-after"] == "2"
    yard.now += 2
    assert statuses(yard.ask("", "")) == [401, 429]


def test_asking_in_vain_does_not_lengthen_the_wait():
    yard = Yard()
    yard.ask(*[""] * 20)
    yard.now += 2
    assert statuses(yard.ask("")) == [401]


def test_each_accepted_token_has_its_own_allowance():
    yard = Yard(burst=4)
    yard.ask("good-1", "good-2")
    assert statuses(yard.ask(*["good-1"] * 5)) == [200] * 4 + [429]
    assert statuses(yard.ask("good-2")) == [200]


def test_made_up_tokens_share_the_allowance_of_their_address():
    yard = Yard()
    assert statuses(yard.ask(*[f"bad-{number}" for number in range(5)])) == [401, 401, 401, 429, 429]
    assert statuses(yard.ask("bad-9", address="10.0.0.2")) == [401]


def test_a_known_token_is_served_while_its_address_is_flooded():
    yard = Yard()
    yard.ask("good", *[f"bad-{number}" for number in range(5)])
    assert statuses(yard.ask("good")) == [200]


def test_one_ipv6_network_is_one_caller():
    yard = Yard()
    for number in range(3):
        yard.ask("", address=f"2001:db8::{number}")
    assert statuses(yard.ask("", address="2001:db8::ffff")) == [429]
    assert statuses(yard.ask("", address="2001:db8:0:1::1")) == [401]


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_are_never_limited(path):
    assert 429 not in statuses(Yard().ask(*[""] * 10, path=path))


def test_what_looks_at_credentials_is_limited_also_when_it_watches():
    assert 429 in statuses(Yard().ask(*[f"bad-{number}" for number in range(5)], path="/metrics"))


def test_the_callers_longest_silent_are_forgotten():
    buckets = Buckets(Rate(per_second=1, burst=2), clock=lambda: 0.0, max_callers=2)
    for caller in "aab":
        buckets.take(caller)
    assert buckets.take("a") < 0
    buckets.take("c")
    assert buckets.take("b") == 1
    assert len(buckets._levels) == 2


def test_another_spelling_of_a_token_gives_no_more():
    yard = Yard(burst=2)
    yard.ask("good one")
    first = statuses(yard.ask("good one", "good one", "good  one", "gOOd one"))
    assert 429 in first
    assert statuses(yard.ask("good   one")) == [429]
