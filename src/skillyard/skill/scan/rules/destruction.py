"""Commands that destroy a disk, a home folder or a running machine."""

from typing import Final

from skillyard.skill.models import Severity
from skillyard.skill.scan.rule import Level, Pattern, Rule

RULE: Final = Rule(
    code="scan-destructive-command",
    looks_for="Deleting the root or home folder, overwriting or formatting a disk, fork bombs, deleting backups.",
    why="One run cannot be undone, and an agent runs what a skill shows it.",
    fix="Name the exact folder to remove; leave disks and whole home folders to a person.",
)

_HOSTILE: Final = Level(Severity.ERROR, Severity.ERROR, Severity.WARNING)
_RISKY: Final = Level(Severity.WARNING, Severity.WARNING, Severity.INFO)
_END: Final = r"(?=[\s;&|`)\"',]|\Z)"
_EVERYTHING: Final = rf"[\"']?(?:/|~/?|\$home/?|\$\{{home\}}/?)\*?[\"']?{_END}"

PATTERNS: Final = (
    Pattern(
        rule=RULE,
        anchors=("rm -",),
        expression=r"(?<![\w-])rm\s(?=(?:-[\w-]{1,24}+\s{1,4}){0,5}?-(?:-recursive|[a-z]{0,4}r))"
        rf"(?:-[\w-]{{1,24}}+\s{{1,4}}){{1,6}}+{_EVERYTHING}",
        says="Everything under the root or home folder is deleted",
        level=_HOSTILE,
    ),
    Pattern(
        rule=RULE,
        anchors=("--no-preserve-root",),
        expression=r"--no-preserve-root",
        leads=(r"\brm\s",),
        says="Deleting the root folder is forced",
        level=_HOSTILE,
    ),
    Pattern(
        rule=RULE,
        anchors=("rmtree(", "rmsync("),
        expression=r"rm(?:tree|sync)\(\s{0,4}(?:[\"'](?:/|~)/?[\"']|(?:os\.path\.)?expanduser\([\"']~/?[\"']\)|"
        r"(?:pathlib\.)?path\.home\(\)|(?:os\.)?homedir\(\))\s{0,4}[,)]",
        says="Everything under the root or home folder is deleted",
        level=_HOSTILE,
    ),
    Pattern(
        rule=RULE,
        anchors=("remove-item ", "rd /s", "rmdir /s", "del /"),
        expression=r"(?:remove-item\s[^\n]{0,60}?(?:c:|\$home|\$env:userprofile)|(?:rd|rmdir|del)\s(?:/[a-z]\s{1,4}){1,4}+"
        rf"[\"']?(?:c:|%userprofile%))\\?\*?[\"']?{_END}",
        says="Everything under the root or home folder is deleted",
        level=_HOSTILE,
    ),
    Pattern(
        rule=RULE,
        anchors=(":(){", ":() {"),
        expression=r":\(\)\s?\{\s?:\s?\|\s?:\s?&\s?\}\s?;\s?:",
        says="A fork bomb stops the machine",
        level=_HOSTILE,
    ),
    Pattern(
        rule=RULE,
        anchors=("of=/dev/", "> /dev/sd", ">/dev/sd", "> /dev/nvme", "mkfs", "wipefs "),
        expression=r"of=/dev/(?:sd|nvme|hd|vd|disk|mmcblk)[a-z0-9]|>\s?/dev/(?:sd[a-z]|nvme\d)|"
        r"(?:mkfs(?:\.[a-z0-9]{2,8})?|wipefs)\s[^\n]{0,60}?/dev/",
        says="A disk is overwritten or formatted",
        level=_RISKY,
    ),
    Pattern(
        rule=RULE,
        anchors=("vssadmin", "wbadmin", "bcdedit", "tmutil delete"),
        expression=r"vssadmin\s{1,4}delete\s{1,4}shadows|wbadmin\s{1,4}delete\s|bcdedit[^\n]{0,60}?recoveryenabled\s{1,4}no|"
        r"tmutil\s{1,4}delete",
        says="Backups or recovery are removed",
        level=_RISKY,
    ),
    Pattern(
        rule=RULE,
        anchors=("chmod -r ", "chown -r "),
        expression=rf"ch(?:mod|own)\s-r\s{{1,4}}\S{{1,24}}+\s{{1,4}}/{_END}",
        says="The permissions of the whole system are changed",
        level=_HOSTILE,
    ),
)
