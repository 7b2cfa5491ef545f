"""Changing the skills of a yard; every change is in its history, and can be undone."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

from pydantic import Field

from skillyard.agents.tool import Answer
from skillyard.agents.toolsets.bounds import picked
from skillyard.errors import FileMissingError
from skillyard.remote.client import YardClient

_KEPT: Final = ("id", "full_name", "visibility", "latest", "digest", "findings")

SkillName = Annotated[str, Field(description="`namespace/name`, its name alone, or its id.", min_length=1)]
Reason = Annotated[str, "Why: kept in the history."]
Base = Annotated[
    str,
    Field(
        description="The digest of the working copy that you read: refused if somebody changed it since.",
        pattern="^(sha256:[0-9a-f]{64})?$",
    ),
]
Files = Annotated[dict[str, str], "Further text files: path below the skill's folder -> text."]
Visibility = Annotated[Literal["private", "public", "discoverable"] | None, "Who may see it; private unless said."]


class RegistryEdits:
    """What can be done with the skills of a yard."""

    def __init__(self, yard: YardClient) -> None:
        self._yard = yard

    def create_skill(
        self,
        name: Annotated[str, Field(description="Lower-case words joined by hyphens.", min_length=1)],
        description: Annotated[str, Field(description="What it does and when to use it.", min_length=1)],
        content: Annotated[str, "The Markdown below the frontmatter of SKILL.md."],
        files: Files = {},  # noqa: B006
        tags: Annotated[list[str], "Words to find it by."] = [],  # noqa: B006
        namespace: Annotated[str | None, "A team of yours; without it, your own."] = None,
        visibility: Visibility = None,
        reason: Reason = "",
    ) -> Answer:
        """Make a skill as a working copy. Agents get it once publish_skill made a version of it."""
        body: dict[str, Any] = {
            "name": name,
            "description": description,
            "content": content,
            "tags": tags,
            "namespace": namespace,
            "visibility": visibility,
            "files": [{"path": path, "content": text} for path, text in files.items()],
        }
        return picked(self._send("POST", "/skills", body, reason=reason), *_KEPT)

    def update_skill(
        self,
        skill: SkillName,
        description: Annotated[str | None, "Another description."] = None,
        content: Annotated[str | None, "Another Markdown below the frontmatter."] = None,
        tags: Annotated[list[str] | None, "Other tags."] = None,
        visibility: Visibility = None,
        base: Base = "",
        reason: Reason = "",
    ) -> Answer:
        """Change the working copy of a skill; what is not given stays."""
        changed = {"description": description, "content": content, "tags": tags, "visibility": visibility}
        body = {key: value for key, value in changed.items() if value is not None}
        return picked(self._send("PUT", self._path(skill), body, base=base, reason=reason), *_KEPT)

    def write_skill_file(
        self,
        skill: SkillName,
        path: Annotated[str, Field(description="Below the skill's folder, such as scripts/fill.py.", min_length=1)],
        content: Annotated[str, "The whole text of the file."],
        executable: Annotated[bool, "Whether it may be run."] = False,
        base: Base = "",
        reason: Reason = "",
    ) -> Answer:
        """Write a text file into the working copy of a skill, or replace the one that is there."""
        body = {"path": path, "content": content, "executable": executable}
        written = self._send("POST", f"{self._path(skill)}/files", body, base=base, reason=reason)
        return {"path": path, "size": written["file"]["size"], "digest": written["digest"]}

    def delete_skill_file(
        self, skill: SkillName, path: Annotated[str, "As get_skill lists it."], base: Base = "", reason: Reason = ""
    ) -> Answer:
        """Take a file out of the working copy of a skill."""
        files = self._yard.skill(skill)["files"]
        file = next((each for each in files if each["path"] == path), None)
        if file is None:
            some = ", ".join(each["path"] for each in files[:20])
            raise FileMissingError(f"{skill!r} has no file {path[:200]!r}.", hint=f"Its files: {some}")
        gone = self._send("DELETE", f"/skills/files/{file['id']}", base=base, reason=reason)
        return {"path": gone["path"], "digest": gone["digest"]}

    def publish_skill(
        self,
        skill: SkillName,
        version: Annotated[str | None, "Such as 1.2.0; without it, the next one."] = None,
        notes: Annotated[str, "What is new in it."] = "",
        reason: Reason = "",
        allow_risky: Annotated[bool, "Accept serious findings, for the reason; administrators only."] = False,
    ) -> Answer:
        """Publish the working copy as a version that never changes. Publishing the same again changes nothing.

        The answer lists what was found in the skill. A version with serious findings of the scan is refused.
        """
        made = self._yard.release(skill, version=version, notes=notes, reason=reason, allow_risky=allow_risky)
        return picked(made, "version", "state", "digest", "tags", "requires", "waiver", "findings")

    def yank_skill_version(
        self,
        skill: SkillName,
        version: Annotated[str, Field(description="Such as 1.2.0.", min_length=1)],
        reason: Annotated[str, Field(description="Why nobody should get it.", min_length=1)],
    ) -> Answer:
        """Ship a version no more, but to those who ask for it by number."""
        return picked(self._yard.yank(skill, version, reason=reason), "version", "yanked", "yank_reason")

    def delete_skill(
        self, skill: SkillName, reason: Annotated[str, Field(description="Why: kept in the history.", min_length=1)]
    ) -> Answer:
        """Take a skill away. undo_change brings it back."""
        gone = self._yard.delete(skill, reason=reason)
        number = (self._yard.last_change(gone["id"]) or {}).get("number")
        return f"{skill} is gone. To bring it back: undo_change with number={number}."

    def undo_change(
        self,
        number: Annotated[int, Field(description="Of a change, as get_skill_history tells it.", ge=1)],
        reason: Reason = "",
    ) -> Answer:
        """Take one change back. That is a change too, and can be undone."""
        done = self._yard.undo(number, reason=reason)
        subject: Mapping[str, Any] = done.get("subject") or {}
        return picked(done, "number", "action", "outcome", "undoes") | {"subject": subject.get("label")}

    def attach_skill(
        self,
        skill: SkillName,
        agent: Annotated[str | None, "Its id; without it, every agent."] = None,
        version: Annotated[str, "A version, a tag or a range; without it, the latest."] = "",
        reason: Reason = "",
    ) -> Answer:
        """Give a skill to an agent, or to every agent."""
        self._yard.attach(skill, agent, version=version, reason=reason)
        return f"{skill} is attached to {agent or 'every agent'}."

    def detach_skill(
        self,
        skill: SkillName,
        agent: Annotated[str | None, "Its id; without it, every agent."] = None,
        reason: Reason = "",
    ) -> Answer:
        """Take a skill from an agent, or from what every agent gets."""
        self._yard.detach(skill, agent, reason=reason)
        return f"{skill} is no longer attached to {agent or 'every agent'}."

    def _path(self, skill: str) -> str:
        return f"/skills/{quote(self._yard.skill(skill)['id'], safe='')}"

    def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, base: str = "", reason: str = ""
    ) -> Any:  # noqa: ANN401 -- JSON
        condition = {"If-Match": f'"{base}"'} if base else None
        query = {"reason": reason or None}
        return self._yard.connection.send(method, path, query=query, body=body, headers=condition)["data"]
