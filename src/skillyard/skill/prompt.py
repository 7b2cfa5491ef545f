"""A catalog as models read it: escaped, so that no description can break out of its place or forge another."""

import html
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from skillyard.skill.library import SkillEntry
from skillyard.skill.names import replace_hidden

_XML_START: Final = "<available_skills>"
_XML_END: Final = "</available_skills>"
_UNKNOWN: Final = "\N{REPLACEMENT CHARACTER}"
_ELLIPSIS: Final = "…"
_WORDS_KEPT: Final = 0.7
"""A text is cut between two words unless that would take more than the rest away."""
_AMBIGUOUS: Final = frozenset('",:')
"""What ends a name in a list."""
_TAG: Final = re.compile(r"<(?=[/!?A-Za-z])")
_HIDDEN_TAG: Final = re.compile(r"&lt;(?=[/!?A-Za-z])")


class Described(Protocol):
    """Whatever goes by a name and says what it is for."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...


def available_skills_xml(entries: Iterable[SkillEntry]) -> str:
    """The `<available_skills>` block of the reference library, each tag and each text on a line of its own."""
    return "\n".join([_XML_START, *(skill_xml(entry, entry.description) for entry in entries), _XML_END])


def tool_description_list(entries: Iterable[Described]) -> str:
    """The skills as the description of a tool names them: `- name: description`, one line each."""
    return "\n".join(skill_line(entry, entry.description) for entry in entries)


def skill_xml(entry: SkillEntry, description: str) -> str:
    """One skill of the block, with this description; with its location if there is one."""
    lines = ["<skill>"]
    lines += ["<name>", html.escape(one_line(entry.name)), "</name>"]
    lines += ["<description>", html.escape(one_line(description)), "</description>"]
    if entry.location:
        # A location is opened as it stands: nothing is taken out of it that would make it name another file.
        lines += ["<location>", html.escape(replace_hidden(entry.location, _UNKNOWN)), "</location>"]
    return "\n".join([*lines, "</skill>"])


def skill_line(entry: Described, description: str) -> str:
    """One skill of the list, with this description."""
    return f"- {listed_name(entry.name)}: {without_tags(one_line(description))}"


def listed_name(name: str) -> str:
    """A name in a line; in quotes where it could be taken for more than a name."""
    return without_tags(_quoted(name))


def without_tags(text: str) -> str:
    """The text with nothing in it that reads as a tag: a list may stand between tags."""
    return _TAG.sub("&lt;", text)


def with_tags(text: str) -> str:
    """The text as it was before that, for what escapes all of it."""
    return _HIDDEN_TAG.sub("<", text)


def one_line(text: str) -> str:
    """The text without line breaks and without what cannot be seen."""
    return replace_hidden(" ".join(text.split()), "")


def shortened(text: str, limit: int) -> str:
    """The text in one line of at most so many characters; what was cut ends in an ellipsis, between words if it can."""
    line = one_line(text)
    if len(line) <= limit:
        return line
    cut = line[: limit - len(_ELLIPSIS)]
    words, _, _ = cut.rpartition(" ")
    kept = words if len(words) >= limit * _WORDS_KEPT else cut
    return f"{kept.rstrip(' ,;:.')}{_ELLIPSIS}"


def _quoted(name: str) -> str:
    shown = one_line(name)
    return json.dumps(shown, ensure_ascii=False) if not shown or _AMBIGUOUS & set(shown) else shown


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """The pieces of a catalog, of which each has lines of its own: skills, names without descriptions, a note."""

    start: tuple[str, ...]
    end: tuple[str, ...]
    skill: Callable[[SkillEntry, str], str]
    name: Callable[[str], str]
    names: str
    note: str


SEPARATOR: Final = ", "
"""What stands between two names."""
XML: Final = Layout(
    start=(_XML_START,),
    end=(_XML_END,),
    skill=skill_xml,
    name=lambda name: html.escape(_quoted(name), quote=False),
    names="<more_skills>\n{}\n</more_skills>",
    note="<note>\n{}\n</note>",
)
MARKDOWN: Final = Layout(start=(), end=(), skill=skill_line, name=listed_name, names="More: {}", note="{}")
