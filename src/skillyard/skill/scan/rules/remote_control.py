"""A shell opened to somebody else."""

from typing import Final

from skillyard.skill.models import Severity
from skillyard.skill.scan.rule import Level, Pattern, Rule

RULE: Final = Rule(
    code="scan-remote-control",
    looks_for="Reverse shells: a shell whose input and output are a network connection.",
    why="It hands the machine to whoever is at the other end.",
    fix="Remove it; no task of a skill needs a shell for somebody else.",
)

_LEVEL: Final = Level(Severity.ERROR, Severity.ERROR, Severity.WARNING)
_SAYS: Final = "A reverse shell is opened"

PATTERNS: Final = (
    Pattern(
        rule=RULE,
        anchors=("/dev/tcp/", "/dev/udp/"),
        expression=r"/dev/(?:tcp|udp)/",
        leads=(r"(?:sh\s{1,4}-i\b|exec\s{1,4}\d{1,3}\s?<>|0<&\d{1,3}|>&)[^\n]{0,20}\Z",),
        says=_SAYS,
        level=_LEVEL,
    ),
    Pattern(
        rule=RULE,
        anchors=("/bin/sh", "/bin/bash", "/bin/zsh"),
        expression=r"/bin/(?:ba|z|)sh\b",
        leads=(
            r"(?<![\w-])(?:nc|ncat|netcat)\s[^\n]{0,80}?(?<=\s)(?:-[a-z]{0,6}[ec]|--exec|--sh-exec)\s{1,4}[\"']?(?:/usr)?\Z",
        ),
        says=_SAYS,
        level=_LEVEL,
    ),
    Pattern(
        rule=RULE,
        anchors=(" -e sh", " -e bash", " -e cmd", " -e powershell", "exec:"),
        expression=r"\s-e (?:(?:ba|)sh|cmd|powershell)\b|exec:[^\n]{0,20}?sh\b",
        leads=(r"(?<![\w-])(?:nc|ncat|netcat|socat)\s",),
        says=_SAYS,
        level=_LEVEL,
    ),
    Pattern(
        rule=RULE,
        anchors=("os.dup2(", "pty.spawn("),
        expression=r"(?:os\.dup2|pty\.spawn)\([\s\S]{0,200}?\b(?:ba|z|)sh\b",
        nearby=r"socket\.socket\(|\.connect\(\(",
        says=_SAYS,
        level=_LEVEL,
    ),
    Pattern(
        rule=RULE,
        anchors=("mkfifo ",),
        expression=r"mkfifo\s[^\n|]{0,120}+\|\s{0,4}(?:/bin/)?(?:ba|z|)sh\s{1,4}-i[^\n|]{0,80}+\|\s{0,4}(?:nc|ncat|openssl|telnet)\b",
        says=_SAYS,
        level=_LEVEL,
    ),
)
