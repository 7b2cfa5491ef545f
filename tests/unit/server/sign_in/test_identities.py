"""Whom an identity provider may let in, and as whom."""

import pytest

from skillyard.config.settings import Settings
from skillyard.errors import InputError
from skillyard.history.entries import Why
from skillyard.server.sign_in.oidc_settings import OidcSettings

CLIENT = "yard"
SECRET = "a secret"


def test_a_domain_rule_lets_only_its_verified_addresses_in(open_browser, issuer):
    with open_browser(oidc_domains="acme.example, @Beta.example") as browser:
        for email, verified, status in (
            ("ana@acme.example", True, 303),
            ("ana@ACME.example", "true", 303),
            ("ana@beta.example", True, 303),
            ("ana@acme.example", False, 403),
            ("ana@acme.example", "false", 403),
            ("ana@acme.example", None, 403),
            ("ana@acme.example", ["true"], 403),
            ("ana@evil.example", True, 403),
            ("ana@evil.acme.example", True, 403),
            ("ana@acme.example@evil.example", True, 403),
            ("acme.example", True, 403),
            (["ana@acme.example"], True, 403),
        ):
            browser.client.cookies.clear()
            browser.rest()
            issuer.person |= {"email": email, "email_verified": verified}
            assert browser.sign_in().status_code == status, (email, verified)


def test_without_a_domain_rule_an_address_may_be_missing_but_not_doubtful(browser, issuer):
    issuer.person, issuer.user = {"sub": "9", "name": "Zoë Ünal"}, {"sub": "9"}
    browser.sign_in()
    assert browser.me()["name"] == "zoë-ünal"
    browser.client.cookies.clear()
    issuer.person = {**issuer.ANA, "email_verified": False}
    assert "verified" in browser.refused(browser.sign_in(), 403)


def test_administrators_are_named_by_verified_address_or_subject(open_browser, issuer):
    with open_browser(oidc_admins="Boss@acme.example,42") as browser:
        for person, admin in (
            ({"sub": "1", "email": "boss@acme.example", "email_verified": True}, True),
            ({"sub": "42"}, True),
            ({"sub": "2", "email": "boss@acme.example"}, False),
            ({"sub": "3", "email": "42@acme.example", "email_verified": True}, False),
            ({"sub": "Boss@acme.example"}, False),
        ):
            issuer.person, issuer.user = person, {"sub": person["sub"]}
            browser.sign_in()
            assert browser.me()["admin"] is admin, person


def test_people_come_into_the_tenant_of_the_settings(open_browser):
    with open_browser(oidc_tenant="guests") as browser:
        browser.sign_in()
        assert browser.me()["tenant"]["name"] == "guests"


def test_a_disabled_person_stays_out(browser):
    browser.sign_in()
    browser.client.cookies.clear()
    people = browser.served.yard.people
    browser.served.run(people.set_disabled, browser.served.root(), "ana", disabled=True, why=Why())
    assert "shut out" in browser.refused(browser.sign_in(), 403)


@pytest.mark.parametrize(
    "issuer", ["http://login.example", "login.example", "https://", "https://a/?b", "https://a#b", "https://u@a"]
)
def test_an_issuer_that_is_no_address_with_https_is_refused_at_the_start(issuer):
    with pytest.raises(InputError, match="oidc_issuer"):
        OidcSettings.read(Settings(oidc_issuer=issuer, oidc_client_id=CLIENT))


def test_an_issuer_needs_a_client():
    with pytest.raises(InputError, match="oidc_client_id"):
        OidcSettings.read(Settings(oidc_issuer="https://login.example"))
    assert OidcSettings.read(Settings()) is None


def test_the_secret_is_shown_nowhere():
    given = Settings(oidc_issuer="https://login.example", oidc_client_id=CLIENT, oidc_client_secret=SECRET)
    assert SECRET not in repr(given)
    assert SECRET not in repr(OidcSettings.read(given))
