"""Ways to stay after the task: start-up entries, shell profiles, login keys, the agent's own settings."""

from typing import Final

from skillyard.skill.models import Severity
from skillyard.skill.scan.rule import Level, Pattern, Rule

RULE: Final = Rule(
    code="scan-persistence",
    looks_for="Login keys, scheduled jobs, start-up entries, shell profiles or agent settings changed by a script.",
    why="What is planted there keeps running after the task is over and the skill is gone.",
    fix="Tell the user what to add and why, and let them add it.",
)

_SCRIPTED: Final = Level(Severity.WARNING, Severity.INFO, None)
_WRITTEN: Final = (
    r"(?:>>?\s{0,4}|\btee\s(?:-a\s)?|\b(?:cp|mv|ln|install)\s[^\n]{0,100}\s|\breg\s{1,4}add\s|"
    r"(?:open|write_text|writefilesync)\(\s{0,4})[\"']?[^\s\"']{0,80}+\Z"
)

PATTERNS: Final = (
    Pattern(
        rule=RULE,
        anchors=(".ssh/authorized_keys",),
        expression=r"\.ssh/authorized_keys",
        leads=(_WRITTEN,),
        says="A login key is added",
        level=Level(Severity.ERROR, Severity.WARNING, Severity.WARNING),
    ),
    Pattern(
        rule=RULE,
        anchors=("crontab -",),
        expression=r"crontab\s-(?=[\s;&|`)\"']|\Z)",
        leads=(r"\|\s{0,4}(?:sudo\s{1,4})?\Z",),
        says="A scheduled job is installed",
        level=_SCRIPTED,
    ),
    Pattern(
        rule=RULE,
        anchors=(
            "/launchagents/",
            "/launchdaemons/",
            "/etc/cron.",
            "/etc/systemd/system/",
            "/systemd/user/",
            "/etc/rc.local",
            "/etc/profile.d/",
            ".config/autostart/",
            "currentversion\\run",
        ),
        expression=r"[^\s]{8,24}",
        leads=(_WRITTEN,),
        says="A start-up entry is written",
        level=_SCRIPTED,
    ),
    Pattern(
        rule=RULE,
        anchors=(".bashrc", ".zshrc", ".profile", ".bash_profile", ".zprofile", ".zshenv", "config.fish"),
        expression=r"[a-z_.]{6,16}+(?![\w.-])",
        leads=(_WRITTEN, r"\b(?:curl|wget|base64|nohup|python3?\s-c)\s|/dev/tcp/"),
        says="A command is planted in a shell profile",
        level=Level(Severity.ERROR, Severity.WARNING, Severity.WARNING),
    ),
    Pattern(
        rule=RULE,
        anchors=(".claude/", ".cursor/", ".codex/", ".openclaw/", ".gemini/"),
        expression=r"\.\w{5,8}/(?:settings[\w.]{0,20}\.json|mcp\.json|config\.toml|(?:workspace/)?(?:claude|agents|soul|"
        r"memory|gemini)\.md|rules\b|hooks/)",
        leads=(r"(?:>>?\s{0,4}|\btee\s(?:-a\s)?)[\"']?(?:~|\$home|\$\{home\}|/root|/home/[^\s/]{1,40}+)/\Z",),
        says="The agent's own settings or memory are changed",
        level=Level(Severity.WARNING, Severity.WARNING, Severity.INFO),
    ),
)
