"""The control plane over a real yard whose sandboxes are plain processes."""

import pytest


class Plane:
    """A caller of /v1: `ana.post("sandboxes", json={})`; answers are checked by their status."""

    def __init__(self, token):
        self.token = token

    def request(self, method, path, status, **given):
        url = path if path.startswith("/") else f"/v1/{path}"
        answer = self.token.request(method, url, **given)
        assert answer.status_code == status, answer.text
        return answer

    def get(self, path, status=200, **given):
        return self.request("GET", path, status, **given).json()

    def post(self, path, body=None, status=200, **given):
        return self.request("POST", path, status, json=body, **given).json()

    def put(self, path, body, status=200):
        return self.request("PUT", path, status, json=body).json()

    def patch(self, path, body, status=200):
        return self.request("PATCH", path, status, json=body).json()

    def delete(self, path, status=204, **given):
        answer = self.request("DELETE", path, status, **given)
        return answer.json() if answer.content else None

    def sandbox(self, **body):
        return self.post("sandboxes", body, 201)

    def fails(self, method, path, code, status, **given):
        """The error of a request, which is of the one shape that clients read."""
        answer = self.request(method, path, status, **given)
        body = answer.json()
        assert set(body) == {"error"}
        assert {"code", "message", "request_id", "details"} <= set(body["error"])
        assert body["error"]["request_id"] == answer.headers["x-request-id"]
        assert body["error"]["code"] == code
        return body["error"]


@pytest.fixture
def plane(start):
    """A yard with sandboxes, and its callers by name."""
    with start(sandbox_backend="unsafe") as served:
        yield lambda name, **given: Plane(served.token(name, **given))


@pytest.fixture
def ana(plane):
    return plane("ana")
