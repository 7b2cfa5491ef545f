"""The skills that a sandbox is to have, and the labels by which a yard knows them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from skillyard.agents.materialise import InSandbox
from skillyard.agents.source import Found, SkillSource
from skillyard.command_text import command_text
from skillyard.delivery.bundle_source import AGENT_LABEL, SKILLS_LABEL
from skillyard.errors import LimitError, NotFoundError
from skillyard.remote.client import YardClient
from skillyard.sandbox.place import LABEL_LENGTH


def skill_labels(skills: Sequence[str], agent: str) -> dict[str, str]:
    """Labels for skills of the registry, such as `team/pdf@stable`, and for those of an agent."""
    # Commas separate skills; comparators of a range may as well be separated by spaces.
    picked = {SKILLS_LABEL: ",".join(each.replace(",", " ") for each in skills)} if skills else {}
    return picked | ({AGENT_LABEL: agent} if agent else {})


def checked_labels(yard: YardClient, skills: Sequence[str], agent: str) -> dict[str, str]:
    """The same; what is not there for whoever asks is an error now, and not missing in the sandbox later."""
    if agent:
        yard.agent_skills(agent)
    labels = skill_labels([_full_name(yard, each) for each in dict.fromkeys(skills)], agent)
    length = len(labels.get(SKILLS_LABEL, ""))
    if length > LABEL_LENGTH:
        raise LimitError(
            f"The names of the skills have {length} characters; a sandbox is made with at most {LABEL_LENGTH}.",
            hint="Name some; get_skill_script_path puts any other into the sandbox. Or attach them to an agent.",
            details={"field": "skills", "value": length, "limit": LABEL_LENGTH},
        )
    return labels


@dataclass(frozen=True, kw_only=True)
class SkillRequest:
    """The skills that a new sandbox is to have: those of folders of this machine, and the labels for the others."""

    source: SkillSource | None
    own: Sequence[Found]
    labels: Mapping[str, str]

    @classmethod
    def of(cls, yard: YardClient, source: SkillSource | None, skills: Sequence[str], agent: str) -> Self:
        """Skills in folders of the source come first; a name that exists nowhere is an error, and nothing is done."""
        names = list(dict.fromkeys(skills))
        own = {name: found for name in names if (found := _in_folder(source, name)) is not None}
        labels = checked_labels(yard, [name for name in names if name not in own], agent)
        return cls(source=source, own=list(own.values()), labels=labels)

    def put_into(self, yard: YardClient, sandbox_id: str) -> dict[str, Any]:
        """Send the skills of folders; a sandbox that cannot get all of them is deleted again."""
        if self.source is None or not self.own:
            return {}
        place = InSandbox(yard, sandbox_id)
        try:
            return {"skills": {found.id: place.folder(self.source, found) for found in self.own}}
        except BaseException:
            yard.sandboxes.delete(sandbox_id)
            raise


def _in_folder(source: SkillSource | None, name: str) -> Found | None:
    found = None if source is None else source.find(name.strip())
    return found if found is not None and source is not None and source.folder(found) is not None else None


def _full_name(yard: YardClient, text: str) -> str:
    name, at, version = (part.strip() for part in text.partition("@"))
    skill = yard.skill(name)
    for problem in yard.dependencies(skill["id"], version=version or None, alone=True)["problems"]:
        if not problem["warning"]:
            raise NotFoundError(
                problem["message"],
                hint=f"See what there is: {command_text('registry versions', skill['full_name'])}",
                details={"field": "skills", "value": text[:200]},
            )
    return f"{skill['full_name']}{at}{version}"
