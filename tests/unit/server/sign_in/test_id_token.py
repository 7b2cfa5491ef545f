"""What a provider says counts only if it is the provider that says it, to us, about this sign-in."""

import hashlib
import hmac
import json
import time
from functools import partial

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from skillyard.server.sign_in.flow import url_base64


@pytest.mark.parametrize(
    ("signing", "algorithm"),
    [("RSA", "RS256"), ("RSA", "PS512"), ("EC", "ES256"), ("OKP", "EdDSA"), ("OKP", "Ed25519")],
)
@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")
def test_signatures_of_every_usual_kind_are_taken(browser, issuer, signing, algorithm):
    issuer.signing, issuer.algorithm = getattr(issuer, signing), algorithm
    issuer.listed = [issuer.OTHER, issuer.signing]
    digest = {"RS256": hashlib.sha256, "ES256": hashlib.sha256}.get(algorithm, hashlib.sha512)(b"opaque").digest()
    issuer.claims["at_hash"] = url_base64(digest[: len(digest) // 2])
    browser.sign_in()
    assert browser.me()["name"] == "ana"


def test_what_the_id_token_leaves_out_is_asked_for(browser, issuer):
    issuer.person, issuer.user = {"sub": "1"}, issuer.ANA
    browser.sign_in()
    assert browser.me()["name"] == "ana"


def test_what_is_said_of_someone_else_does_not_count(browser, issuer):
    issuer.person, issuer.user = {"sub": "1"}, {**issuer.ANA, "sub": "2"}
    browser.refused(browser.sign_in(), 401)


def wrong_claims(issuer):
    now = int(time.time())
    yield "wrong nonce", {"nonce": "another"}
    yield "no nonce", {"nonce": None}
    yield "wrong audience", {"aud": "another"}
    yield "another audience beside, and no party", {"aud": [issuer.CLIENT, "another"]}
    yield "another party", {"azp": "another"}
    yield "another issuer", {"iss": "https://login.example"}
    yield "expired", {"exp": now - 120}
    yield "no end", {"exp": None}
    yield "from the future", {"iat": now + 3600}
    yield "no beginning", {"iat": None}
    yield "not yet valid", {"nbf": now + 3600}
    yield "no subject", {"sub": None}
    yield "empty subject", {"sub": ""}
    yield "a number for a subject", {"sub": 7}
    yield "endless subject", {"sub": "x" * 256}
    yield "our audience not at all", {"aud": ["another"], "azp": issuer.CLIENT}
    yield "hash of another access token", {"at_hash": "AAAA"}


def test_an_id_token_that_is_not_an_answer_to_our_question_is_refused(browser, issuer, caplog, subtests):
    for name, claims in wrong_claims(issuer):
        with subtests.test(name):
            caplog.clear()
            browser.rest()
            issuer.claims = claims
            message = browser.refused(browser.sign_in(), 401)
            assert message.startswith("The identity provider's answer could not be verified.")
            assert "was refused" in caplog.text
            assert "opaque" not in caplog.text


def test_clocks_may_differ_a_little(browser, issuer):
    now = int(time.time())
    issuer.claims = {"iat": now + 30, "exp": now - 30}
    browser.sign_in()
    assert browser.me()["name"] == "ana"


def unsigned(_issuer, claims):
    header = url_base64(json.dumps({"alg": "none"}).encode())
    return f"{header}.{url_base64(json.dumps(claims).encode())}."


def with_the_public_key_as_a_secret(issuer, claims):
    header = url_base64(json.dumps({"alg": "HS256", "kid": "rsa"}).encode())
    signed = f"{header}.{url_base64(json.dumps(claims).encode())}"
    mark = hmac.new(issuer.RSA.as_pem(private=False), signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{url_base64(mark)}"


def with_a_key_of_its_own(issuer, claims):
    header = {"alg": "RS256", "kid": "rsa", "jwk": issuer.OTHER.as_dict(private=False)}
    return jwt.encode(header, claims, issuer.OTHER, algorithms=["RS256"])


def changed_afterwards(issuer, claims):
    header, _, signature = jwt.encode({"alg": "RS256", "kid": "rsa"}, claims, issuer.RSA).split(".")
    return f"{header}.{url_base64(json.dumps({**claims, 'sub': 'another'}).encode())}.{signature}"


def test_a_forged_signature_is_refused(browser, issuer, subtests):
    forgers = [unsigned, with_the_public_key_as_a_secret, with_a_key_of_its_own, changed_afterwards]
    nonsense = ["", "a.b.c", "x" * 200_000, None, 7]
    for sign in [*forgers, *((lambda _issuer, _claims, text=text: text) for text in nonsense)]:
        with subtests.test(sign.__name__):
            browser.rest()
            issuer.sign = partial(sign, issuer)
            browser.refused(browser.sign_in(), 401)


def test_a_short_key_is_not_believed(browser, issuer):
    weak = {"kty": "RSA", "kid": "weak", "use": "sig"}
    with pytest.warns(UserWarning, match="2048"):
        issuer.signing = RSAKey.generate_key(1024, weak)
    issuer.listed = [issuer.signing]
    browser.refused(browser.sign_in(), 401)


def test_keys_are_read_once_and_again_when_the_provider_has_changed_them(browser, issuer):
    browser.sign_in()
    browser.sign_in()
    assert issuer.asked.count("keys") == issuer.asked.count("describe") == 1
    issuer.signing, issuer.listed = issuer.OTHER, [issuer.OTHER]
    browser.sign_in()
    assert browser.me()["name"] == "ana"
    assert issuer.asked.count("keys") == 2


def test_a_key_that_the_provider_does_not_list_is_refused(browser, issuer):
    issuer.signing = issuer.OTHER
    browser.refused(browser.sign_in(), 401)
    assert issuer.asked.count("keys") == 2


@pytest.mark.parametrize("more", [{"id_token": None}, {"id_token": ["a"]}])
def test_an_answer_without_an_id_token_is_refused(browser, issuer, more):
    issuer.more = more
    browser.refused(browser.sign_in(), 401)


def test_a_hash_of_an_access_token_that_is_not_there_is_refused(browser, issuer):
    issuer.claims["at_hash"] = url_base64(hashlib.sha256(b"").digest()[:16])
    issuer.more = {"access_token": None}
    browser.refused(browser.sign_in(), 401)
