"""The `registry` toolset: the skills of a yard, read as a skill server gives them, kept and published."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from skillyard.agents.tool import Answer, Tool
from skillyard.agents.toolsets.bounds import MAX_TEXT, cut, listed, picked, within
from skillyard.agents.toolsets.registry_edits import RegistryEdits, SkillName
from skillyard.agents.toolsets.skill_server import skill_server_tools
from skillyard.agents.toolsets.yard_tool import yard_tool
from skillyard.agents.yard_source import YardSource
from skillyard.remote.client import YardClient
from skillyard.skill.limits import MAX_DESCRIPTION
from skillyard.skill.prompt import one_line, shortened

_SKILL: Final = (
    *("id", "full_name", "description", "tags", "visibility", "latest", "digest", "license", "compatibility"),
    *("allowed_tools", "requires", "metadata", "findings", "updated_at"),
)
_VERSION: Final = ("version", "state", "tags", "notes", "requires", "yanked", "yank_reason", "digest", "published_at")
_CHANGE: Final = ("number", "at", "action", "outcome", "reason", "undoable", "undone_by")


def registry_tools(
    yard: YardClient, source: YardSource | None = None, *, session: str = "", agent: str = ""
) -> list[Tool]:
    """The skills of a yard; `session` and `agent` say whose use of them is counted."""
    registry, edits = Registry(yard), RegistryEdits(yard)
    changes: Any = {"read_only": False, "idempotent": False}
    writes: Any = {"read_only": False, "destructive": True}
    return [
        *skill_server_tools(source or YardSource(yard), session=session, agent=agent),
        yard_tool(registry.whoami),
        yard_tool(registry.search_registry),
        yard_tool(registry.get_skill),
        yard_tool(registry.list_skill_versions),
        yard_tool(registry.diff_skill_versions),
        yard_tool(registry.find_similar_skills),
        yard_tool(registry.get_skill_references),
        yard_tool(registry.get_skill_history),
        yard_tool(registry.get_skill_usage),
        yard_tool(registry.list_agents),
        yard_tool(registry.get_agent_skills),
        yard_tool(edits.create_skill, **changes),
        yard_tool(edits.update_skill, **writes),
        yard_tool(edits.write_skill_file, **writes),
        yard_tool(edits.delete_skill_file, **writes),
        yard_tool(edits.publish_skill, read_only=False),
        yard_tool(edits.yank_skill_version, **writes),
        yard_tool(edits.delete_skill, **writes),
        yard_tool(edits.undo_change, **writes, idempotent=False),
        yard_tool(edits.attach_skill, read_only=False),
        yard_tool(edits.detach_skill, **writes),
    ]


class Registry:
    """What can be asked about the skills of a yard."""

    def __init__(self, yard: YardClient) -> None:
        self._yard = yard

    def whoami(self) -> Answer:
        """Who you are in the yard, and what you may do there."""
        me = self._yard.me()
        namespaces = [picked(each, "name", "kind", "role") for each in me["namespaces"]]
        told: dict[str, Any] = {"namespaces": listed(namespaces)["items"]}
        return picked(me, "name", "scope", "admin", "operator") | told

    def search_registry(
        self,
        query: Annotated[str, Field(description="What a skill should do, in any language.", min_length=1)],
        namespace: Annotated[str | None, "Only of this person or team."] = None,
        tags: Annotated[list[str], "Only with all of these tags."] = [],  # noqa: B006
        stage: Annotated[
            Literal["draft", "pending", "published", "yanked"] | None, "Only what has come so far."
        ] = None,
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> Answer:
        """Search the skills that you can see, best first, without their texts."""
        hits = self._yard.search(query, namespace=namespace, tags=tags, stage=stage, limit=limit)
        return listed(
            {
                **picked(hit, "full_name", "tags", "latest"),
                "description": shortened(hit["description"], MAX_DESCRIPTION),
                "snippet": one_line(hit["snippet"]["text"]),
            }
            for hit in hits
        )

    def get_skill(self, skill: SkillName) -> Answer:
        """What is known about a skill: its fields, its files, what scanning it found. read_skill_document reads it."""
        found = self._yard.skill(skill)
        files = [picked(file, "path", "size", "executable") for file in found["files"]]
        told: dict[str, Any] = {"files": listed(files)}
        return within(picked(found, *_SKILL)) | told

    def list_skill_versions(self, skill: SkillName) -> Answer:
        """The versions of a skill, the highest first."""
        return listed(picked(version, *_VERSION) for version in self._yard.versions(skill))

    def diff_skill_versions(
        self,
        skill: SkillName,
        from_version: Annotated[str | None, "A version, a tag or `draft`; without it, the latest version."] = None,
        to_version: Annotated[str | None, "A version, a tag or `draft`; without it, the working copy."] = None,
    ) -> Answer:
        """What differs between two states of a skill, file by file."""
        found = self._yard.diff(skill, from_version, to_version)
        room = MAX_TEXT // max(len(found["files"]), 1)
        files = [
            {**picked(file, "path", "change", "binary"), "diff": cut(file["diff"], room)} for file in found["files"]
        ]
        told: dict[str, Any] = {"files": listed(files)}
        return {"from": found.get("from"), "to": found.get("to")} | told

    def find_similar_skills(self, skill: SkillName) -> Answer:
        """What is like a skill: copies, variants, others of its name. Look before you make another one."""
        return within(self._yard.similar(skill))

    def get_skill_references(self, skill: SkillName) -> Answer:
        """Which skills and files a skill refers to, who refers to it, and what of that is broken."""
        return within(self._yard.references(skill))

    def get_skill_history(
        self,
        skill: Annotated[str | None, "Only of this skill, by its id or `namespace/name`."] = None,
        limit: Annotated[int, Field(ge=1, le=100)] = 20,
    ) -> Answer:
        """The newest changes: what, when, by whom and why. undo_change takes one back."""
        wanted = None if skill is None else self._yard.skill(skill)["full_name"]
        rows = (
            {**picked(each, *_CHANGE), "subject": each["subject"]["label"], "by": each["actor"]["name"]}
            for each in self._yard.history(skill=wanted, limit=limit)
        )
        return listed(rows)

    def get_skill_usage(
        self,
        skill: Annotated[str | None, "Of this skill; without it, which are never used, and which fail often."] = None,
        days: Annotated[int, Field(ge=1, le=3650)] = 30,
    ) -> Answer:
        """How often skills were used, and how that went."""
        if skill is not None:
            return listed(self._yard.usage_of(skill, days=days))
        report = self._yard.usage_report(days=days)
        told: dict[str, Any] = {"days": days, "never_used": listed(report["never_used"])}
        return told | {"often_failing": listed(report["often_failing"])}

    def list_agents(self) -> Answer:
        """The agents that skills can be attached to."""
        return listed(picked(agent, "id", "name", "role", "goal") for agent in self._yard.agents())

    def get_agent_skills(
        self, agent: Annotated[str | None, "Its id; without it, what every agent gets."] = None
    ) -> Answer:
        """The skills that an agent gets, in which versions, and what is wrong with that."""
        return within(self._yard.agent_skills(agent))
