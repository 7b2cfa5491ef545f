"""All scan rules, and the patterns and detectors by which they see."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from skillyard.skill.scan.anchors import Anchors
from skillyard.skill.scan.page import Page
from skillyard.skill.scan.rule import Hit, Pattern, Rule
from skillyard.skill.scan.rules import (
    content,
    credentials,
    destruction,
    downloads,
    encoded,
    exfiltration,
    hidden,
    homoglyphs,
    instructions,
    obfuscation,
    permissions,
    persistence,
    remote_control,
    secrets,
)

INCOMPLETE: Final = Rule(
    code="scan-incomplete",
    looks_for="A bundle stuffed with so many suspicious words that reading it in full would take too long.",
    why="What follows has not been checked, and honest skills are nowhere near this.",
    fix="Remove the generated or repeated text.",
)

PATTERNS: Final[tuple[Pattern, ...]] = (
    *hidden.PATTERNS,
    *instructions.PATTERNS,
    *exfiltration.PATTERNS,
    exfiltration.CARRIED,
    *credentials.PATTERNS,
    *downloads.PATTERNS,
    *remote_control.PATTERNS,
    *obfuscation.PATTERNS,
    *encoded.PATTERNS,
    *secrets.PATTERNS,
    *destruction.PATTERNS,
    *persistence.PATTERNS,
    *permissions.PATTERNS,
)
DETECTORS: Final[tuple[Callable[[Page], Iterator[Hit]], ...]] = (hidden.find, homoglyphs.find, content.find)
RULES: Final[tuple[Rule, ...]] = (
    *dict.fromkeys(pattern.rule for pattern in PATTERNS),
    *content.RULES,
    INCOMPLETE,
)
SCAN_CODES: Final = frozenset(rule.code for rule in RULES)


@cache
def anchors() -> Anchors:
    """The index of all patterns, built when a bundle is first scanned."""
    return Anchors(PATTERNS)
