"""The people of a yard: their tokens, their namespaces and their roles."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from skillyard.remote.connection import Connection


class PeopleClient:
    """Who may use a yard, and what they may do there."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def tokens(self, *, everyone: bool = False) -> list[dict[str, Any]]:
        """Your tokens, or for an administrator those of everyone in the tenant, without their secrets."""
        return list(self._connection.pages("/tokens", everyone=everyone or None))

    def create_token(
        self, label: str, *, scope: str = "read", days: int | None = None, person: str | None = None, reason: str = ""
    ) -> dict[str, Any]:
        """A new token; `secret` in the answer is shown this once."""
        body = {"label": label, "scope": scope, "expires_in_days": days, "person": person}
        return self._change("POST", "/tokens", body, reason=reason)

    def revoke_token(self, token_id: str, *, keep_made: bool = False, reason: str = "") -> dict[str, Any]:
        """End a token and, unless they are kept, those that were made with it."""
        query = {"keep_made": "true" if keep_made else None, "reason": reason or None}
        return self._connection.send("DELETE", _path("tokens", token_id), query=query)["data"]

    def namespaces(self) -> list[dict[str, Any]]:
        return list(self._connection.pages("/namespaces"))

    def namespace(self, name: str) -> dict[str, Any]:
        return self._connection.get(_path("namespaces", name))

    def create_namespace(self, name: str, *, reason: str = "") -> dict[str, Any]:
        return self._change("POST", "/namespaces", {"name": name}, reason=reason)

    def set_policy(self, name: str, policy: Mapping[str, Any], *, reason: str = "") -> dict[str, Any]:
        return self._change("PUT", _path("namespaces", name, "policy"), policy, reason=reason)

    def tenant_policy(self) -> dict[str, Any]:
        return self._connection.get("/tenant/policy")

    def set_tenant_policy(self, policy: Mapping[str, Any], *, reason: str = "") -> dict[str, Any]:
        return self._change("PUT", "/tenant/policy", policy, reason=reason)

    def members(self, name: str) -> list[dict[str, Any]]:
        return list(self._connection.pages(_path("namespaces", name, "members")))

    def set_member(self, name: str, person: str, role: str | None, *, reason: str = "") -> None:
        """Give a person a role in a namespace, or without one take them out."""
        path = _path("namespaces", name, "members", person)
        if role is None:
            self._change("DELETE", path, reason=reason)
        else:
            self._change("PUT", path, {"role": role}, reason=reason)

    def people(self) -> list[dict[str, Any]]:
        return list(self._connection.pages("/people"))

    def create_person(self, name: str, *, admin: bool = False, reason: str = "") -> dict[str, Any]:
        return self._change("POST", "/people", {"name": name, "admin": admin}, reason=reason)

    def enable(self, name: str, *, reason: str = "") -> dict[str, Any]:
        return self._change("POST", _path("people", name, "enable"), reason=reason)

    def disable(self, name: str, *, reason: str = "") -> dict[str, Any]:
        return self._change("POST", _path("people", name, "disable"), reason=reason)

    def _change(self, method: str, path: str, body: Any = None, *, reason: str = "") -> Any:  # noqa: ANN401 -- JSON
        return self._connection.send(method, path, query={"reason": reason or None}, body=body)["data"]


def _path(*parts: str) -> str:
    return "".join(f"/{quote(part, safe='')}" for part in parts)
