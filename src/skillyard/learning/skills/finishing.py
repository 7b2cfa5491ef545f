"""What a skill is given before it is looked over: pointers to related skills, and the number of its next version."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from skillyard.errors import InputError
from skillyard.learning.skills.inspection import VERSION
from skillyard.registry.drafts import document_of, edited_bundle
from skillyard.skill.bundle import SKILL_FILE, Bundle
from skillyard.skill.references import find_references
from skillyard.skill.requires import name_key
from skillyard.skill.versions import Version

_TITLE: Final = "## Related skills"
_SECTION: Final = re.compile(rf"^{_TITLE}[ \t]*\n+", re.MULTILINE)


def with_related(bundle: Bundle, name: str, related: Mapping[str, str]) -> Bundle:
    """The skill with a line for each related skill, by name its description, that it does not point to yet."""
    there = {name_key(each.target_skill or "") for each in find_references(bundle, name, list(related))}
    missing = [each for each in related if name_key(each) not in there and name_key(each) != name_key(name)]
    if not missing:
        return bundle
    document = document_of(bundle, folder=name)
    lines = "".join(f"- `{each}/{SKILL_FILE}`: {_sentence(related[each])}\n" for each in missing)
    body = document.body.removeprefix("\n")
    section = _SECTION.search(body)
    if section:
        body = f"{body[: section.end()]}{lines}{body[section.end() :]}"
    else:
        body = f"{body.rstrip()}\n\n{_TITLE}\n\n{lines}"
    return edited_bundle(bundle, document, {}, body)


def with_next_version(bundle: Bundle, published: Sequence[str]) -> tuple[Bundle, str | None]:
    """The skill with the next number where its SKILL.md states one, and that number."""
    document = document_of(bundle)
    stated = document.metadata.get(VERSION) or document.extra.get(VERSION)
    try:
        number = max(map(Version.parse, [str(stated), *published])).bump("patch") if stated else None
    except InputError:
        number = None  # the wild writes "1.0" and "latest" there
    if number is None or VERSION not in document.metadata:
        return bundle, number and str(number)
    metadata = {**document.metadata, VERSION: str(number)}
    return edited_bundle(bundle, document, {"metadata": metadata}, None), str(number)


def _sentence(description: str) -> str:
    return " ".join(description.split())[:160]
