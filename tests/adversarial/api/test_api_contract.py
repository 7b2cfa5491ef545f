"""The API keeps the contract it publishes: whatever is sent, no answer is a 5xx or another than /openapi.json says."""

import io
import os
from urllib.parse import urlsplit

import pytest
import requests
import schemathesis
import urllib3
from hypothesis import given, settings
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from skillyard.server.app import make_api

ADMIN_TOKEN = "sky_the-operator-of-the-yard"
BASE = "http://yard.test"
ENDLESS = {("get", "/api/v1/events")}
"""A stream has no end to be checked; `test_events.py` reads it."""
SOAK = bool(os.environ.get("SKILLYARD_SOAK"))
EXAMPLES = 200 if SOAK else 4
CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
CONTRACT = make_api().openapi()
OPERATIONS = [
    (method, path)
    for path, operations in CONTRACT["paths"].items()
    for method in operations
    if (method, path) not in ENDLESS
]


class InProcess(requests.adapters.BaseAdapter):
    """Brings requests to the application without a network."""

    def __init__(self, served):
        super().__init__()
        self._served = served

    def send(self, request, **_given):
        body = request.body or b""
        body = body.encode() if isinstance(body, str) else body
        headers = [
            (_raw(name).lower(), _raw(value))
            for name, value in request.headers.items()
            if _raw(name).lower() != b"host"
        ]
        headers.append((b"host", b"yard.test"))
        parts = urlsplit(request.url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        status, names, content = self._served.wire(request.method, target.encode(), headers, [body])
        names = urllib3.HTTPHeaderDict((name.decode("latin-1"), value.decode("latin-1")) for name, value in names)
        answer = requests.Response()
        answer.status_code = status
        answer.headers = requests.structures.CaseInsensitiveDict(names)
        answer.raw = urllib3.HTTPResponse(io.BytesIO(content), headers=names, status=status, preload_content=False)
        answer.url, answer.request = request.url, request
        return answer

    def close(self):
        pass


def _raw(text):
    return text if isinstance(text, bytes) else text.encode("utf-8" if not text.isascii() else "ascii")


@pytest.fixture(scope="module")
def session(served):
    with requests.Session() as session:
        session.mount(BASE, InProcess(served))
        yield session


@pytest.fixture(scope="module")
def contract():
    return schemathesis.openapi.from_dict(CONTRACT)


def keeps_contract(operation, session, secret, *, mode=GenerationMode.POSITIVE, parts=None, share=1):
    parameters = {name: value for name, value in (parts or {}).items() if f"{{{name}}}" in operation.path}
    strategy = operation.as_strategy(generation_mode=mode, path_parameters=parameters or None)
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}

    @settings(max_examples=max(1, EXAMPLES // share))
    @given(case=strategy)
    def check(case):
        answer = case.call(base_url=BASE, session=session, headers=headers)
        case.validate_response(answer, checks=CHECKS)

    check()


@pytest.fixture
def parts(served, path):
    """The parts of an address at which there is something, made anew for every operation."""

    def made(path, body):
        answer = served.ask("POST", path, ADMIN_TOKEN, json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()["data"]

    name = f"made-{served.number()}"
    found = {"namespace": "admin", "plugin": "admin", "path": "a.md", "version": "1.0.0"}
    if "{skill_id}" in path or "{file_id}" in path:
        skill = made("skills", {"name": name, "description": "Is there.", "visibility": "discoverable"})
        made(f"skills/{skill['id']}/versions", {"version": "1.0.0"})
        file = made(f"skills/{skill['id']}/files", {"path": "a.md", "content": "A"})["file"]
        found |= {"skill_id": skill["id"], "file_id": file["id"]}
    if "{agent_id}" in path:
        found["agent_id"] = made("agents", {"name": name})["id"]
    if "{token_id}" in path:
        found["token_id"] = made("tokens", {"label": name})["id"]
    return {**found, "number": served.number()}


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=[f"{method} {path}" for method, path in OPERATIONS])
def test_the_contract_is_kept(served, contract, session, parts, method, path):
    operation = contract[path][method]
    keeps_contract(operation, session, ADMIN_TOKEN, parts=parts)
    keeps_contract(operation, session, ADMIN_TOKEN, share=2)
    keeps_contract(operation, session, None, share=4)
    if {"parameters", "requestBody"} & CONTRACT["paths"][path][method].keys():
        keeps_contract(operation, session, ADMIN_TOKEN, mode=GenerationMode.NEGATIVE)
