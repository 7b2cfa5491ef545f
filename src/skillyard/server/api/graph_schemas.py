"""The JSON of references and dependencies."""

from typing import Self

from pydantic import BaseModel, Field

from skillyard.registry.dependents import Dependent
from skillyard.registry.graph import Edge, Graph, Impact, Node, Surroundings, Trouble
from skillyard.registry.shipping import Problem, ProblemCode, Shipment, ShippedSkill
from skillyard.skill.dependencies import Conflict, Missing


class NodeSchema(BaseModel):
    id: str
    full_name: str = Field(examples=["acme/refunds"])

    @classmethod
    def of(cls, node: Node) -> Self:
        return cls(id=node.id, full_name=node.full_name)


class EdgeSchema(BaseModel):
    """One place in a skill, and what it points at; skills go by their ids, which `nodes` explains."""

    source: str
    file: str = Field(examples=["SKILL.md"])
    line: int
    kind: str = Field(description="How it is written: `link`, `image`, `code` or `wiki`.")
    name: str = Field(description="The skill that is meant; empty for the skill itself.")
    path: str = Field(description="The file in it; empty for the skill as a whole.")
    target: str | None
    trouble: Trouble | None = Field(description="Why it leads nowhere; null where it leads somewhere.")

    @classmethod
    def of(cls, edge: Edge) -> Self:
        return cls(
            source=edge.source.id,
            file=edge.file,
            line=edge.line,
            kind=edge.kind,
            name=edge.name,
            path=edge.path,
            target=edge.target.id if edge.target else None,
            trouble=edge.trouble,
        )


class GraphSchema(BaseModel):
    """The references from skill to skill, as far as the caller may see them."""

    nodes: list[NodeSchema]
    edges: list[EdgeSchema]
    broken: list[EdgeSchema] = Field(description="References that lead nowhere, to own files too.")
    cycles: list[list[str]] = Field(description="Groups of skills that all lead to each other, by id.")

    @classmethod
    def of(cls, graph: Graph) -> Self:
        return cls(
            nodes=[NodeSchema.of(node) for node in graph.nodes],
            edges=[EdgeSchema.of(edge) for edge in graph.edges],
            broken=[EdgeSchema.of(edge) for edge in graph.broken],
            cycles=[[node.id for node in cycle] for cycle in graph.cycles],
        )


class DependentSchema(BaseModel):
    id: str
    full_name: str
    version: str | None = Field(description="The published version that requires it; null for the working copy.")
    range: str = Field(examples=[">=1.2"])

    @classmethod
    def of(cls, dependent: Dependent) -> Self:
        return cls(id=dependent.id, full_name=dependent.full_name, version=dependent.version, range=dependent.range)


class ImpactSchema(BaseModel):
    """What deleting a skill would break."""

    references: list[EdgeSchema]
    dependents: list[DependentSchema]

    @classmethod
    def of(cls, impact: Impact) -> Self:
        return cls(
            references=[EdgeSchema.of(edge) for edge in impact.references],
            dependents=[DependentSchema.of(dependent) for dependent in impact.dependents],
        )


class ReferencesSchema(BaseModel):
    nodes: list[NodeSchema] = Field(description="All skills that the references are between.")
    outgoing: list[EdgeSchema]
    incoming: list[EdgeSchema]
    impact: ImpactSchema

    @classmethod
    def of(cls, around: Surroundings) -> Self:
        edges = (*around.outgoing, *around.incoming, *around.impact.references)
        nodes = {node.id: node for edge in edges for node in (edge.source, edge.target) if node}
        return cls(
            nodes=[NodeSchema.of(node) for node in sorted(nodes.values(), key=lambda node: node.full_name)],
            outgoing=[EdgeSchema.of(edge) for edge in around.outgoing],
            incoming=[EdgeSchema.of(edge) for edge in around.incoming],
            impact=ImpactSchema.of(around.impact),
        )


class LockedSchema(BaseModel):
    """A skill that comes along, and as what."""

    skill_id: str
    full_name: str
    version: str | None = Field(description="Null where the working copy is shipped: nothing was ever published.")
    digest: str
    required_by: list[str]

    @classmethod
    def of(cls, item: ShippedSkill) -> Self:
        return cls(
            skill_id=item.skill_id,
            full_name=item.full_name,
            version=item.version,
            digest=item.digest,
            required_by=list(item.required_by),
        )


class MissingSchema(BaseModel):
    name: str
    required_by: list[str]

    @classmethod
    def of(cls, missing: Missing) -> Self:
        return cls(name=missing.name, required_by=list(missing.required_by))


class DemandSchema(BaseModel):
    by: str = Field(description="The skill that asks; empty for the one that was asked for.")
    range: str


class ConflictSchema(BaseModel):
    """A skill of which no version satisfies all who require it."""

    name: str
    message: str
    required: list[DemandSchema]
    available: list[str | None]

    @classmethod
    def of(cls, conflict: Conflict) -> Self:
        return cls(
            name=conflict.name,
            message=conflict.message,
            required=[DemandSchema(by=by, range=range_) for by, range_ in conflict.required],
            available=[str(version) if version else None for version in conflict.available],
        )


class ProblemSchema(BaseModel):
    """Something that stands in the way, or that a person should know."""

    code: ProblemCode
    message: str
    skill: str
    warning: bool

    @classmethod
    def of(cls, problem: Problem) -> Self:
        return cls(code=problem.code, message=problem.message, skill=problem.skill, warning=problem.is_warning)


class DependenciesSchema(BaseModel):
    """A skill with all that it requires, each in the version that suits all."""

    complete: bool
    locked: list[LockedSchema] = Field(description="The skill itself is among them; empty while there is a conflict.")
    missing: list[MissingSchema]
    cycles: list[list[str]]
    conflicts: list[ConflictSchema]
    problems: list[ProblemSchema]

    @classmethod
    def of(cls, shipment: Shipment) -> Self:
        return cls(
            complete=shipment.complete,
            locked=[LockedSchema.of(item) for item in shipment.items],
            missing=[MissingSchema.of(missing) for missing in shipment.resolution.missing],
            cycles=[list(cycle) for cycle in shipment.resolution.cycles],
            conflicts=[ConflictSchema.of(conflict) for conflict in shipment.resolution.conflicts],
            problems=[ProblemSchema.of(problem) for problem in shipment.problems],
        )
