"""The labels by which a yard knows which skills a sandbox is to have."""

from collections.abc import Sequence

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
