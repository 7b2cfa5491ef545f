"""Switching off the checks that stand between the agent and the machine."""

from typing import Final

from skillyard.skill.models import Severity
from skillyard.skill.scan.rule import Level, Pattern, Rule

RULE: Final = Rule(
    code="scan-permission-bypass",
    looks_for="Agents started with their permission checks off, protections of the operating system switched off.",
    why="Without the checks any hidden instruction runs unasked.",
    fix="Name the few tools the task needs in `allowed-tools` and leave the checks on.",
)

_LEVEL: Final = Level(Severity.WARNING, Severity.INFO, None)
_SKIPPED: Final = Level(Severity.WARNING, Severity.WARNING, None)

PATTERNS: Final = (
    Pattern(
        rule=RULE,
        anchors=("--dangerously-", " --yolo", "bypasspermissions"),
        expression=r"--dangerously-(?:skip-permissions|bypass-approvals)|\s--yolo\b|bypasspermissions\b",
        says="Permission checks are switched off",
        level=_SKIPPED,
    ),
    Pattern(
        rule=RULE,
        anchors=("csrutil disable", "spctl --master-disable", "setenforce 0", "set-mppreference ", "xattr -"),
        expression=r"csrutil disable|spctl --master-disable|setenforce 0|set-mppreference\s[^\n]{0,60}?-disable|"
        r"xattr\s-(?:c|cr|rc)\s|xattr\s-(?:d|dr|rd)\s[^\n]{0,40}?com\.apple\.quarantine",
        says="A protection of the operating system is switched off",
        level=_LEVEL,
    ),
)
