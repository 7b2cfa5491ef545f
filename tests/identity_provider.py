"""A real identity provider, small, on this machine."""

import base64
import hashlib
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar
from urllib.parse import urlencode

import uvicorn
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OKPKey, RSAKey
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

SECRET = "a secret: with+signs"


def b64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def key(kind, kid):
    made = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}[kind]
    size = {"RSA": 2048, "EC": "P-256", "OKP": "Ed25519"}[kind]
    return made.generate_key(size, {"kid": kid, "use": "sig"})


class Issuer:
    """An OpenID Connect provider that checks what a good one checks; tests make it say wrong things."""

    CLIENT = "yard"
    ANA: ClassVar = {"sub": "1", "email": "ana@acme.example", "email_verified": True, "preferred_username": "ana"}
    RSA, OTHER, EC, OKP = key("RSA", "rsa"), key("RSA", "other"), key("EC", "ec"), key("OKP", "okp")

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"
        self.app = Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self.describe),
                Route("/authorize", self.authorize),
                Route("/token", self.token, methods=["POST"]),
                Route("/keys", self.keys),
                Route("/me", self.user_info),
            ]
        )
        self.reset()

    def reset(self):
        self.signing, self.algorithm, self.listed = self.RSA, "RS256", [self.RSA]
        self.person, self.claims, self.more, self.user = dict(self.ANA), {}, {}, None
        self.sign = lambda claims: jwt.encode(
            {"alg": self.algorithm, "kid": self.signing.kid}, claims, self.signing, algorithms=[self.algorithm]
        )
        self.codes, self.asked, self.failing, self.document = {}, [], None, {}

    async def describe(self, _request):
        self.asked.append("describe")
        if self.failing is not None:
            return self.failing
        return JSONResponse(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
                "userinfo_endpoint": f"{self.url}/me",
                **self.document,
            }
        )

    async def authorize(self, request):
        query = dict(request.query_params)
        assert query["response_type"] == "code"
        assert query["client_id"] == Issuer.CLIENT
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        code = b64(hashlib.sha256(query["state"].encode()).digest())
        self.codes[code] = query
        answer = urlencode({"code": code, "state": query["state"], "iss": self.url})
        return RedirectResponse(f"{query['redirect_uri']}?{answer}", status_code=302)

    async def token(self, request):
        self.asked.append("token")
        form = dict(await request.form())
        basic = "Basic " + base64.b64encode(b"yard:a+secret%3A+with%2Bsigns").decode()
        if request.headers.get("authorization") != basic and form.get("client_secret") != SECRET:
            return JSONResponse({"error": "invalid_client"}, status_code=401)
        begun = self.codes.pop(form["code"], None)
        challenge = b64(hashlib.sha256(form["code_verifier"].encode()).digest())
        wanted = begun and (begun["code_challenge"], begun["redirect_uri"])
        if form["grant_type"] != "authorization_code" or wanted != (challenge, form["redirect_uri"]):
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": Issuer.CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": begun["nonce"],
            **self.person,
        }
        claims = {name: value for name, value in (claims | self.claims).items() if value is not None}
        return JSONResponse(
            {"access_token": "opaque", "token_type": "Bearer", "id_token": self.sign(claims), **self.more}
        )

    async def keys(self, _request):
        self.asked.append("keys")
        return JSONResponse(KeySet(self.listed).as_dict(private=False))

    async def user_info(self, request):
        assert request.headers["authorization"] == "Bearer opaque"
        return JSONResponse(self.user)


@contextmanager
def running_issuer() -> Iterator[Issuer]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        issuer = Issuer(listener.getsockname()[1])
        config = uvicorn.Config(issuer.app, http="h11", ws="none", lifespan="off", log_level="error")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield issuer
        finally:
            server.should_exit = True
            thread.join()
