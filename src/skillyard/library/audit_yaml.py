"""Skill files whose frontmatter is YAML only once its values are quoted: some agents refuse them."""

import os
from collections.abc import Iterable
from typing import Final

from skillyard.errors import SkillyardError
from skillyard.library.regular import read_regular
from skillyard.skill.document import summarize
from skillyard.skill.limits import MAX_SKILL_MD_BYTES
from skillyard.skill.models import Finding

CODE: Final = "yaml-unquoted"


def unquoted_files(locations: Iterable[str]) -> dict[str, Finding]:
    """Those of the skill files that are read only by quoting their values, and what is wrong with each."""
    found: dict[str, Finding] = {}
    for location in locations:
        try:
            data = read_regular(os.path.realpath(location), MAX_SKILL_MD_BYTES)
        except SkillyardError:
            continue
        finding = next((item for item in summarize(data, folder="").findings if item.code == CODE), None)
        if finding is not None:
            found[location] = finding
    return found
