"""A browser between the yard and a real identity provider on this machine."""

import html
import re
from contextlib import contextmanager

import httpx
import pytest
from tests.identity_provider import SECRET, Issuer, running_issuer

HOST = "http://127.0.0.1:8321"
OWN = {"origin": HOST}


@pytest.fixture(scope="module")
def running():
    with running_issuer() as issuer:
        yield issuer


@pytest.fixture
def issuer(running):
    running.reset()
    return running


class Browser:
    """A person at a browser, between the yard and the provider."""

    def __init__(self, served):
        self.served = served
        self.client = served.client

    def rest(self):
        """As long as it takes until one may try again, with nobody signed in."""
        self.client.cookies.clear()
        self.served.app.api.state.desk._attempts._levels.clear()

    def begin(self, *, then="/", headers=OWN):
        """Press the button; the answer is where it leads."""
        answer = self.client.post("/sign-in/oidc", data={"next": then}, headers=headers)
        assert answer.status_code == 200, answer.text
        return html.unescape(re.search(r'http-equiv="refresh" content="0;url=([^"]+)"', answer.text)[1])

    def prove(self, url):
        """Do what the provider asks; the answer is where it sends the browser back to."""
        answer = httpx.get(url, trust_env=False, timeout=60, verify=False)
        assert answer.status_code == 302
        return answer.headers["location"]

    def sign_in(self, **given):
        return self.client.get(self.prove(self.begin(**given)))

    def me(self):
        answer = self.client.get("/api/v1/me")
        return answer.json()["data"] if answer.status_code == 200 else None

    def refused(self, answer, status):
        """The message of an answer that is the sign-in page again, with nobody signed in."""
        assert answer.status_code == status, answer.text
        assert 'role="alert"' in answer.text
        assert '<label for="token">' in answer.text
        assert self.me() is None
        return html.unescape(re.search(r'role="alert">(.*?)</p>', answer.text)[1])


@pytest.fixture
def start_for_browsers(start):
    """Serve a yard for people with tokens; where it leads is looked at, not followed."""

    @contextmanager
    def _start(**given):
        with start(**given) as served:
            served.client.follow_redirects = False
            yield served

    return _start


@pytest.fixture
def open_browser(start_for_browsers, issuer):
    @contextmanager
    def _open(**given):
        settings = {"oidc_issuer": issuer.url, "oidc_client_id": Issuer.CLIENT, "oidc_client_secret": SECRET, **given}
        with start_for_browsers(**settings) as served:
            yield Browser(served)

    return _open


@pytest.fixture
def browser(open_browser):
    with open_browser() as browser:
        yield browser
