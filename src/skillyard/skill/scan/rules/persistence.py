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
_FILES: Final = (
    r"(?:\.claude(?:\.json|/settings[\w.]{0,20}\.json|/claude\.md)|claude\.md|agents\.md|gemini\.md|soul\.md|\.cursorrules|"
    r"(?:claude_desktop_config|mcp)\.json|\.codex/config\.toml|settings\.json|(?:bash|zsh)rc)"
)
_SAME_PARAGRAPH: Final = r"(?:(?!\n[ \t]{0,8}\n)[\s\S])"
_UNSAID: Final = (
    r"(?:no need to (?:mention|tell|ask|say|inform|announce)|(?:do not|don[^a-z\s]{0,3}t|never|must not|without) "
    r"(?:mention|tell|show|reveal|announc|disclos|inform|ask|say|notify)\w{0,8}|"
    r"\b(?:silently|quietly|secretly|covertly)\b|(?:不要|无需|不必|切勿|别)(?:告诉|告知|提及|提到|询问|显示|展示)|悄悄|偷偷|"
    r"(?:말하|알리|언급하|보여주|묻)지 ?(?:마|말|않)|몰래|조용히)"
)
_CHANGED: Final = (
    r"(?:\b(?:add|append|write|insert|edit|put|register|install|modify|update|change|save|include)\b|"
    r"添加|追加|写入|加入|修改|추가|수정|등록|삽입|써)"
)
_UNASKED: Final = Level(Severity.ERROR, Severity.WARNING, Severity.ERROR)
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
        leads=(r"\|\s{0,4}(?:sudo\s{1,4})?\Z", r"\b(?:curl|wget|nc|ncat|base64)\s|/dev/tcp/"),
        says="A scheduled job that loads code is installed",
        level=Level(Severity.ERROR, Severity.ERROR, Severity.WARNING),
    ),
    Pattern(
        rule=RULE,
        anchors=("git config", 'git", "config'),
        expression=r"git(?:\s|\", \")config[^\n]{0,20}?--(?:global|system)[^\n]{0,8}?(?:"
        r"core\.(?:hookspath|fsmonitor|sshcommand)|alias\.\w{1,20}[\s\"',]{1,6}!)",
        says="Every repository of the user is made to run a program",
        level=Level(Severity.WARNING, Severity.WARNING, None),
    ),
    Pattern(
        rule=RULE,
        anchors=(
            ".claude",
            "claude.md",
            "agents.md",
            "gemini.md",
            "soul.md",
            ".cursorrules",
            "_config.json",
            "mcp.json",
            ".codex/",
            "settings.json",
            "bashrc",
            "zshrc",
        ),
        expression=rf"{_FILES}(?={_SAME_PARAGRAPH}{{0,300}}?{_UNSAID})",
        nearby=rf"{_CHANGED}{_SAME_PARAGRAPH}{{0,200}}\Z",
        says="The agent is asked to change its settings or memory without a word to the user",
        level=_UNASKED,
    ),
    Pattern(
        rule=RULE,
        anchors=(
            ".claude",
            "claude.md",
            "agents.md",
            "gemini.md",
            "soul.md",
            ".cursorrules",
            "_config.json",
            "mcp.json",
            ".codex/",
            "settings.json",
            "bashrc",
            "zshrc",
        ),
        expression=rf"{_FILES}(?={_SAME_PARAGRAPH}{{0,100}}?(?:추가|수정|등록|삽입|쓰|기록))(?={_SAME_PARAGRAPH}{{0,200}}?{_UNSAID})",
        says="The agent is asked to change its settings or memory without a word to the user",
        level=_UNASKED,
    ),
    Pattern(
        rule=RULE,
        anchors=(
            ".claude",
            "claude.md",
            "agents.md",
            "gemini.md",
            "soul.md",
            ".cursorrules",
            "_config.json",
            "mcp.json",
            ".codex/",
            "settings.json",
            "bashrc",
            "zshrc",
        ),
        expression=_FILES,
        nearby=rf"{_UNSAID}{_SAME_PARAGRAPH}{{0,200}}?{_CHANGED}{_SAME_PARAGRAPH}{{0,80}}\Z",
        says="The agent is asked to change its settings or memory without a word to the user",
        level=_UNASKED,
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
