import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from skillyard.errors import InProgressError, NotFoundError, TooManyRequestsError, UnauthenticatedError
from skillyard.server.errors import install_error_handlers


@pytest.mark.parametrize(
    ("error", "status", "code", "header"),
    [
        (UnauthenticatedError(), 401, "unauthenticated", ("www-authenticate", "Bearer")),
        (TooManyRequestsError("slow", details={"retry_after": 7}), 429, "rate_limited", ("retry-after", "7")),
        (TooManyRequestsError("slow"), 429, "rate_limited", ("retry-after", "1")),
        (InProgressError("busy", details={"retry_after": 1}), 409, "in_progress", ("retry-after", "1")),
        (NotFoundError("none"), 404, "not_found", None),
    ],
)
def test_each_error_has_its_status_code_and_headers(error, status, code, header):
    app = FastAPI()
    install_error_handlers(app)

    @app.get("/")
    def fail():
        raise error

    answer = TestClient(app).get("/")
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == code
    if header:
        assert answer.headers[header[0]] == header[1]
    else:
        assert "retry-after" not in answer.headers


def test_who_is_not_known_is_told_how_to_get_a_token():
    error = UnauthenticatedError()
    assert "tokens create" in error.hint
    assert error.exit_code == 4
