import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from skillyard.config.settings import Settings
from skillyard.errors import NotAllowedError
from skillyard.server.guard import LoopbackGuard, require_safe_address


@pytest.fixture
def client():
    app = FastAPI()

    @app.api_route("/{path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"])
    def anything(path: str) -> str:
        return path

    return TestClient(LoopbackGuard(app), base_url="http://127.0.0.1:8321")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"])
@pytest.mark.parametrize("path", ["/api/v1/skills", "/v1/sandboxes", "/mcp", "/api/v1/events", "/healthz"])
@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"forwarded": "for=1.2.3.4"},
        {"x-forwarded-for": "127.0.0.1"},
        {"x-forwarded-host": "127.0.0.1"},
        {"x-real-ip": "127.0.0.1"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://localhost:8321"},
        {"origin": "https://127.0.0.1:8321"},
        {"origin": ""},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "something-new"},
        {"origin": "http://127.0.0.1:8321", "sec-fetch-site": "cross-site"},
    ],
)
def test_what_another_page_or_a_proxy_sends_is_refused(client, method, path, headers):
    answer = client.request(method, path, headers=headers)
    assert answer.status_code == 403
    if method != "HEAD":
        error = answer.json()["error"]
        told = error["data"] if (method, path) == ("POST", "/mcp") else error
        assert told["code"] == ("forbidden" if path.startswith("/v1/") else "not_allowed")
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://127.0.0.1:8321"},
        {"origin": "http://127.0.0.1:8321", "sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
        {"host": "LOCALHOST:8321", "origin": "http://localhost:8321"},
        {"host": "[::1]:8321", "origin": "http://[::1]:8321"},
    ],
)
def test_the_person_and_our_own_pages_pass(client, headers):
    assert client.post("/api/v1/skills", headers=headers).status_code == 200


def test_two_hosts_are_refused_even_if_one_is_ours(client):
    answer = client.get("/", headers=[("host", "127.0.0.1"), ("host", "evil.example")])
    assert answer.status_code == 403


def test_a_websocket_is_refused_as_well(client):
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect) as caught, client.websocket_connect("/", headers={"host": "evil.example"}):
        pass
    assert caught.value.code == 1008


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.5", "10.0.0.1", "2001:db8::1"])
def test_an_address_that_others_reach_needs_tokens(tmp_path, address):
    with pytest.raises(NotAllowedError) as caught:
        require_safe_address(Settings(home=tmp_path, auth="local"), address)
    assert "SKILLYARD_AUTH=token" in caught.value.hint
    assert "SKILLYARD_ADMIN_TOKEN" in caught.value.hint
    assert "127.0.0.1" in caught.value.hint
    require_safe_address(Settings(home=tmp_path, auth="token"), address)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "127.8.8.8"])
def test_this_machine_is_safe(tmp_path, address):
    require_safe_address(Settings(home=tmp_path, auth="local"), address)
