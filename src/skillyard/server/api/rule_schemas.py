"""The JSON of decision rules; their tables come as DMN XML, too."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self, TypeAlias, TypeVar

from fastapi import Depends
from fastapi import Request as HttpRequest
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError

from skillyard.errors import InputError, LimitError
from skillyard.identity.agents import MAX_ID
from skillyard.learning.drafts import CommitResult, Draft
from skillyard.learning.rules.dmn_read import MAX_XML, read_dmn
from skillyard.learning.rules.preview import Preview
from skillyard.learning.rules.rule import MAX_DESCRIPTION, MAX_NAME, DecisionRule
from skillyard.learning.rules.table import table_document
from skillyard.server.api.caller import principal_of, yard_of
from skillyard.server.api.learning_shapes import HandChange, Namespace, ShownNamespace, Told, Visibility
from skillyard.server.api.shapes import Request

XML: Final = "application/xml"
TABLE: Final[dict[str, Any]] = {
    "hit_policy": "F",
    "inputs": [{"id": "tier", "type": "string"}],
    "outputs": [{"id": "percent", "type": "number"}],
    "rules": [{"when": ['"gold"'], "then": [10]}, {"when": ["-"], "then": [0]}],
}
Mode: TypeAlias = Literal["REPLACE", "EXTEND", "REFINE"]
Table = Annotated[dict[str, Any], Field(description="A decision table.", examples=[TABLE])]


class RuleCreate(Request):
    name: str = Field(min_length=1, max_length=MAX_NAME, examples=["Discount"])
    description: str = Field(default="", max_length=MAX_DESCRIPTION)
    agent_id: str | None = Field(default=None, max_length=MAX_ID, description="Null: for every agent.")
    table: Table
    namespace: Namespace = None
    visibility: Visibility = "public"


class RuleUpdate(Request):
    """What is left out stays."""

    name: str | None = Field(default=None, min_length=1, max_length=MAX_NAME)
    description: str | None = Field(default=None, max_length=MAX_DESCRIPTION)
    table: Table | None = None
    merge_mode: Mode = Field(default="REPLACE", description="How `table` and the present one become one.")
    locked: bool | None = Field(default=None, description="Whether lessons are only proposed against it.")


class RuleCheck(Request):
    table: Table
    rule_id: str | None = Field(default=None, max_length=64, description="Look at what this rule would become.")
    merge_mode: Mode = "REPLACE"


class RuleCase(Request):
    inputs: dict[str, Any] = Field(examples=[{"tier": "gold"}])
    keep: bool = Field(default=True, description="Whether the case is tried on what would replace the rule.")


class CasePin(Request):
    pinned: bool = True


class RuleSchema(Told):
    id: str
    agent_id: str | None
    name: str
    description: str
    version: str
    digest: str
    locked: bool
    namespace: ShownNamespace
    visibility: Visibility
    table: dict[str, Any]
    created_at: datetime
    updated_at: datetime

    @classmethod
    def told(cls, rule: DecisionRule) -> Self:
        return cls(
            id=rule.id,
            agent_id=rule.agent_id,
            name=rule.name,
            description=rule.description,
            version=rule.version,
            digest=rule.digest,
            locked=rule.locked,
            namespace=rule.place.namespace,
            visibility="private" if rule.place.private else "public",
            table=dict(rule.document),
            created_at=rule.created_at,
            updated_at=rule.updated_at,
        )


class RuleChange(HandChange):
    rule: RuleSchema | None = Field(description="As it is now; null where it is gone, or only proposed.")

    @classmethod
    def made(cls, result: CommitResult, draft: Draft, rule: DecisionRule | None) -> Self:
        return cls(**cls.values(result, draft), rule=rule and RuleSchema.told(rule))


class RemarkSchema(BaseModel):
    kind: str = Field(description="`conflict`, `overlap`, `gap`, `unreachable` or `impossible`.")
    seriousness: str = Field(description="`error`: the table would not decide; `warning` or `note`.")
    message: str
    rules: list[str]
    case: dict[str, Any] | None = Field(description="Inputs for which it is so.")
    where: dict[str, str] | None = Field(description="All such inputs, as cells.")


class ChangedCaseSchema(Told):
    id: str
    inputs: dict[str, Any]
    before: Any
    after: Any
    pinned: bool = Field(description="Such a rule would be refused.")


class RuleReport(BaseModel):
    """What there is to say about a table before it goes in."""

    decides: bool = Field(description="Whether it gives one answer for whatever it answers.")
    complete: bool = Field(description="False: there is more to look through than was looked through.")
    remarks: list[RemarkSchema]
    more: int = Field(description="Further remarks, which are only counted.")
    table: dict[str, Any] = Field(description="The table as the rule would have it.")
    added: list[str]
    changed: list[str]
    removed: list[str]
    cases: list[ChangedCaseSchema] = Field(
        description="Past cases that would be decided otherwise, the pinned ones first."
    )
    more_cases: int = Field(description="Further such cases, which are only counted.")
    untried_cases: int = Field(description="Past cases that were not tried: the table is too large for all of them.")

    @classmethod
    def of(cls, found: Preview) -> Self:
        return cls(
            **found.report.as_dict(),
            table=table_document(found.table),
            added=list(found.added),
            changed=list(found.changed),
            removed=list(found.removed),
            cases=[ChangedCaseSchema.of(case) for case in found.cases.changed],
            more_cases=found.cases.more,
            untried_cases=found.cases.untried,
        )


class DecidedSchema(Told):
    """What a rule says to a case."""

    outputs: dict[str, Any] | list[dict[str, Any]] | None = Field(description="Null: no rule holds.")
    matched: list[str] = Field(description="The rows that hold.")
    counted: list[str] = Field(description="Those of them that the answer is from.")
    by_default: bool
    version: str


class RuleVersionSchema(Told):
    version: str
    digest: str
    table: dict[str, Any]
    lesson_id: str | None
    created_by: str | None
    created_at: datetime


class RuleCaseSchema(Told):
    id: str
    inputs: dict[str, Any]
    outputs: Any
    version: str
    times: int
    pinned: bool
    last_at: datetime


Body = TypeVar("Body", bound=Request)


async def _read(request: HttpRequest, kind: type[Body]) -> Body:
    data = await request.body()
    if len(data) > MAX_XML:
        raise LimitError(
            f"The body has {len(data):,} bytes; at most {MAX_XML:,} are read of a rule.",
            hint="Split the table into several rules.",
            details={"field": "body", "value": len(data), "limit": MAX_XML},
        )
    yard, principal = await yard_of(request), await principal_of(request)
    return await yard.learning.turns.run(principal, lambda: _body(request.headers, data, kind))


def _body(headers: Mapping[str, str], data: bytes, kind: type[Body]) -> Body:
    """A body as JSON or, where its type says so, as DMN XML: its one decision is the name and the table."""
    media_type = headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if media_type.endswith(("/xml", "+xml")):
        name, table = read_dmn(data)
        given: dict[str, Any] = {"table": table_document(table)}
        return kind(**given, **({"name": name} if kind is RuleCreate else {}))
    if not media_type.endswith(("/json", "+json")):
        raise InputError(
            f"A rule does not come as {media_type[:100]!r}.",
            hint=f"Send application/json, or {XML} for DMN.",
            details={"field": "Content-Type", "value": media_type[:100]},
        )
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_context=False)) from error


async def _create(request: HttpRequest) -> RuleCreate:
    return await _read(request, RuleCreate)


async def _update(request: HttpRequest) -> RuleUpdate:
    return await _read(request, RuleUpdate)


async def _check(request: HttpRequest) -> RuleCheck:
    return await _read(request, RuleCheck)


NewRule = Annotated[RuleCreate, Depends(_create)]
ChangedRule = Annotated[RuleUpdate, Depends(_update)]
CheckedRule = Annotated[RuleCheck, Depends(_check)]


def either(kind: type[Request]) -> dict[str, Any]:
    """What the contract says of a body that is JSON or XML."""
    schema = kind.model_json_schema()
    content = {"application/json": {"schema": schema}, XML: {"schema": {"type": "string"}}}
    return {"requestBody": {"required": True, "content": content}}
