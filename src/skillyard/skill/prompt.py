"""A catalog as models read it: escaped, so that no description can break out of its place or forge another."""

import html
from collections.abc import Iterable
from typing import Final, Protocol

from skillyard.skill.library import SkillEntry
from skillyard.skill.names import replace_hidden

_UNKNOWN: Final = "\N{REPLACEMENT CHARACTER}"


class Described(Protocol):
    """Whatever goes by a name and says what it is for."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...


def available_skills_xml(entries: Iterable[SkillEntry]) -> str:
    """The `<available_skills>` block of the reference library, each tag and each text on a line of its own."""
    lines = ["<available_skills>"]
    for entry in entries:
        lines += ["<skill>"]
        lines += ["<name>", html.escape(_one_line(entry.name)), "</name>"]
        lines += ["<description>", html.escape(_one_line(entry.description)), "</description>"]
        # A location is opened as it stands: nothing is taken out of it that would make it name another file.
        lines += ["<location>", html.escape(replace_hidden(entry.location, _UNKNOWN)), "</location>"]
        lines += ["</skill>"]
    return "\n".join([*lines, "</available_skills>"])


def tool_description_list(entries: Iterable[Described]) -> str:
    """The skills as the description of a tool names them: `- name: description`, one line each."""
    return "\n".join(f"- {_one_line(entry.name)}: {_one_line(entry.description)}" for entry in entries)


def _one_line(text: str) -> str:
    return replace_hidden(" ".join(text.split()), "")
