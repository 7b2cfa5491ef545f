"""What is known of people and namespaces, as values."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from skillyard.history.entries import Subject
from skillyard.identity.policy import Policy
from skillyard.identity.principals import (
    NamespaceKind,
    Role,
    Scope,
    admin_audience,
    namespace_audience,
    person_audience,
    tenant_audience,
)

MAX_TOKEN_DAYS: Final = 3_650
"""The longest life that a token can be given."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tenant:
    id: str
    name: str
    created_at: datetime
    shows_world: bool = False
    """Whether its people may show skills to the world; its administrators always may."""

    @property
    def subject(self) -> Subject:
        return Subject(kind="tenant", id=self.id, label=self.name, audience=tenant_audience(self.id))


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    id: str
    tenant_id: str
    name: str
    admin: bool
    created_at: datetime
    disabled_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Namespace:
    id: str
    tenant_id: str
    name: str
    kind: NamespaceKind
    policy: Policy
    created_at: datetime

    @property
    def audience(self) -> str:
        """Who may know what happens to it: its members; the system's has none but the administrators."""
        return admin_audience(self.tenant_id) if self.kind is NamespaceKind.SYSTEM else namespace_audience(self.id)

    @property
    def subject(self) -> Subject:
        """The namespace as its history names it."""
        return Subject(kind="namespace", id=self.id, label=self.name, audience=self.audience)


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    person_id: str
    name: str
    role: Role


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """What is known of a token; never the token itself."""

    id: str
    person_id: str
    person: str
    tenant_id: str
    label: str
    scope: Scope
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    parent_id: str | None
    """The token it was made with, and ends with."""

    @property
    def subject(self) -> Subject:
        return Subject(kind="token", id=self.id, label=self.label, audience=person_audience(self.person_id))


@dataclass(frozen=True, kw_only=True, slots=True)
class NewToken:
    """A token just made: the only time its text is known."""

    token: Token
    secret: str = field(repr=False)
