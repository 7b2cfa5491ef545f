"""Which skills of a yard say the same, told to its client."""

from collections.abc import Mapping
from typing import Any

from skillyard.app.similarity import REGISTRY_FIELDS, Found, Report, checked_threshold, files_key
from skillyard.command_text import command_text
from skillyard.remote.client import YardClient
from skillyard.search.similar import Group, Kind, Sketch, groups, sketch_of
from skillyard.skill.library import SkillEntry


def report_on_yard(client: YardClient, *, threshold: float) -> Report:
    """The groups among all skills that a yard shows to whoever asks."""
    shelf = _Yard(client)
    sketches = [shelf.sketch(skill) for skill in client.skills_with_text()]
    found = groups(sketches, shelf, threshold=checked_threshold(threshold))
    return Report(
        threshold=threshold,
        skills=shelf.entries,
        found=tuple(Found(group, _commands(group, shelf.entries)) for group in found),
    )


class _Yard:
    """The skills of a yard as its client gets them; texts are asked for again when they are needed."""

    def __init__(self, client: YardClient) -> None:
        self._client = client
        self.entries: dict[str, SkillEntry] = {}
        self._files: dict[str, str] = {}

    def sketch(self, skill: Mapping[str, Any]) -> Sketch:
        key = skill["id"]
        label = self._client.connection.url
        self.entries[key] = SkillEntry(skill["full_name"], skill["name"], skill["description"], "", label)
        self._files[key] = files_key((file["path"], file["sha256"], file["executable"]) for file in skill["files"])
        return sketch_of(
            key,
            name=skill["name"],
            description=skill["description"],
            fields={field: skill[field] for field in REGISTRY_FIELDS},
            body=skill["content"],
        )

    def body(self, key: str) -> str:
        return self._client.skill(key)["content"]

    def files(self, key: str) -> str:
        return self._files[key]


def _commands(group: Group, entries: Mapping[str, SkillEntry]) -> tuple[str, ...]:
    """What shows more; which of several skills stays is for a person to choose."""
    others = [entries[other.key].id for other in group.others]
    if group.kind is Kind.TEMPLATE:
        return ()
    return tuple(command_text("registry show", name) for name in (entries[group.first].id, *others[:1]))
