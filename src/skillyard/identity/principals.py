"""Who is asking, and what they may see and do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from functools import cached_property
from typing import Self

from skillyard.errors import NotAllowedError
from skillyard.history.entries import Actor


class _Ranked(StrEnum):
    """Names in rising order: each includes what those before it allow."""

    @property
    def rank(self) -> int:
        return list(type(self)).index(self)

    def covers(self, other: Self) -> bool:
        return self.rank >= other.rank


class Role(_Ranked):
    """What a member may do in a namespace."""

    VIEWER = "viewer"
    EDITOR = "editor"
    PUBLISHER = "publisher"
    ADMIN = "admin"


class Scope(_Ranked):
    """What a token may be used for, at most."""

    READ = "read"
    WRITE = "write"
    PUBLISH = "publish"
    ADMIN = "admin"


class NamespaceKind(Enum):
    PERSON = "person"
    TEAM = "team"
    SYSTEM = "system"


@dataclass(frozen=True, kw_only=True)
class Principal:
    """A person behind a request, with the rights this request has."""

    person_id: str
    name: str
    tenant_id: str
    scope: Scope
    admin: bool = False
    """Whether the person administers the tenant."""
    operator: bool = False
    """Whether the person runs the yard itself: makes tenants and their first people."""
    roles: Mapping[str, Role] = field(default_factory=dict[str, Role])
    """The role in each namespace the person is a member of, by the namespace's id."""
    token_id: str | None = None

    @property
    def actor(self) -> Actor:
        return Actor(tenant_id=self.tenant_id, name=self.name, id=self.person_id)

    @cached_property
    def audiences(self) -> frozenset[str]:
        """The keys of everything this principal may see."""
        keys = {tenant_audience(self.tenant_id), person_audience(self.person_id)}
        keys.update(map(namespace_audience, self.roles))
        if self.admin and self.scope.covers(Scope.ADMIN):
            keys.add(admin_audience(self.tenant_id))
        return frozenset(keys)

    def role_in(self, namespace_id: str) -> Role | None:
        return self.roles.get(namespace_id)

    def require_scope(self, scope: Scope) -> None:
        if not self.scope.covers(scope):
            raise NotAllowedError(
                f"This needs a token with the scope '{scope}'; yours has '{self.scope}'.",
                hint=f"Ask an administrator for one, or make it on the server's machine: "
                f"skillyard registry tokens create LABEL --scope {scope}",
                details={"needed": scope.value, "scope": self.scope.value},
            )

    def require_admin(self) -> None:
        self.require_scope(Scope.ADMIN)
        if not self.admin:
            raise NotAllowedError("Only an administrator of the tenant may do this.", hint="Ask one of them.")


def tenant_audience(tenant_id: str) -> str:
    """Everyone in a tenant."""
    return f"tenant:{tenant_id}"


def namespace_audience(namespace_id: str) -> str:
    """The members of a namespace."""
    return f"namespace:{namespace_id}"


def person_audience(person_id: str) -> str:
    return f"person:{person_id}"


def admin_audience(tenant_id: str) -> str:
    """The administrators of a tenant."""
    return f"admins:{tenant_id}"
