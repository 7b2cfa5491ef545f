"""The JSON of people, namespaces and tokens."""

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, Field

from skillyard.identity.directory import MAX_TOKEN_DAYS, Member, Namespace, Person, Tenant, Token
from skillyard.identity.policy import ScanRule
from skillyard.identity.principals import Role, Scope
from skillyard.server.api.shapes import Request
from skillyard.skill.limits import MAX_BUNDLE_BYTES, MAX_BUNDLE_FILES
from skillyard.skill.models import Profile

_NAME: Any = Field(min_length=1, max_length=64, examples=["data-team"])


class PolicyBody(Request):
    """What a namespace demands of everything published in it; a rule that is left out is at its default."""

    profile: Profile = Field(default=Profile.LENIENT, description="How strictly SKILL.md is held to the format.")
    scan: ScanRule = Field(default=ScanRule.REFUSE_ERRORS, description="What findings of the scan do to a version.")
    waive: dict[str, str] = Field(
        default={},
        max_length=50,
        description="Rules of the scan whose findings refuse nothing, each with the reason.",
        examples=[{"scan-archive": "Our test data is packed."}],
    )
    file_types: list[str] = Field(
        default=[], max_length=200, description="The endings that files may have; none means any.", examples=[[".md"]]
    )
    max_files: int = Field(default=MAX_BUNDLE_FILES, ge=1, le=MAX_BUNDLE_FILES)
    max_bytes: int = Field(default=MAX_BUNDLE_BYTES, ge=1, le=MAX_BUNDLE_BYTES)
    review: bool = Field(default=False, description="Whether someone else must approve a version.")


class TenantPolicy(BaseModel):
    """What the people of a tenant may do, whatever their namespaces say."""

    discoverable: bool = Field(
        description="Whether all publishers may show skills to the world; administrators of the tenant always may."
    )


class NamespaceCreate(Request):
    name: str = _NAME


class MemberSet(Request):
    role: Role = Field(examples=["editor"])


class PersonCreate(Request):
    name: str = Field(min_length=1, max_length=64, examples=["jane"])
    admin: bool = Field(default=False, description="Whether they administer the tenant.")
    tenant: str | None = Field(default=None, max_length=64, description="Another tenant; for the operator.")


class TenantCreate(Request):
    name: str = Field(min_length=1, max_length=64, examples=["acme"])


class TokenCreate(Request):
    label: str = Field(min_length=1, max_length=200, description="What it is for.", examples=["ci"])
    scope: Scope = Field(default=Scope.READ, description="What it may be used for, at most.")
    expires_in_days: int | None = Field(
        default=None, ge=1, le=MAX_TOKEN_DAYS, description="None: with the token that it is made with, if that ends."
    )
    person: str | None = Field(default=None, max_length=64, description="Whose it is; others' for administrators.")
    tenant: str | None = Field(default=None, max_length=64, description="Their tenant; for the operator.")


class TenantSchema(BaseModel):
    id: str
    name: str
    created_at: datetime

    @classmethod
    def of(cls, tenant: Tenant) -> Self:
        return cls(id=tenant.id, name=tenant.name, created_at=tenant.created_at)


class PersonSchema(BaseModel):
    id: str
    name: str
    admin: bool
    disabled: bool
    created_at: datetime

    @classmethod
    def of(cls, person: Person) -> Self:
        return cls(
            id=person.id,
            name=person.name,
            admin=person.admin,
            disabled=person.disabled_at is not None,
            created_at=person.created_at,
        )


class NamespaceSchema(BaseModel):
    id: str
    name: str
    kind: Literal["person", "team", "system"]
    role: Role
    """The caller's."""
    policy: PolicyBody
    created_at: datetime

    @classmethod
    def of(cls, namespace: Namespace, role: Role) -> Self:
        return cls(
            id=namespace.id,
            name=namespace.name,
            kind=namespace.kind.value,
            role=role,
            policy=PolicyBody(**namespace.policy.as_dict()),
            created_at=namespace.created_at,
        )


class MemberSchema(BaseModel):
    person_id: str
    name: str
    role: Role

    @classmethod
    def of(cls, member: Member) -> Self:
        return cls(person_id=member.person_id, name=member.name, role=member.role)


class MeSchema(BaseModel):
    """Who the caller is, and what they may do."""

    id: str
    name: str
    tenant: TenantSchema
    scope: Scope
    admin: bool
    operator: bool
    token_id: str | None
    namespaces: list[NamespaceSchema]


class TokenSchema(BaseModel):
    """What is known of a token; never the token itself."""

    id: str
    person: str
    label: str
    scope: Scope
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    parent_id: str | None = Field(description="The token it was made with, and ends with.")

    @classmethod
    def of(cls, token: Token) -> Self:
        return cls(**_token_fields(token))


class NewTokenSchema(TokenSchema):
    secret: str = Field(description="The token. It is shown this once.", examples=["sky_…"])

    @classmethod
    def shown_once(cls, token: Token, secret: str) -> Self:
        return cls(**_token_fields(token), secret=secret)


def _token_fields(token: Token) -> dict[str, Any]:
    return {
        "id": token.id,
        "person": token.person,
        "label": token.label,
        "scope": token.scope,
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "last_used_at": token.last_used_at,
        "revoked_at": token.revoked_at,
        "parent_id": token.parent_id,
    }
