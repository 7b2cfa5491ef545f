"""Data that leaves the machine: keys, files, the environment or the conversation sent to a stranger."""

import re
from typing import Final

from skillyard.skill.models import Severity
from skillyard.skill.scan.rule import Level, Pattern, Rule
from skillyard.skill.scan.rules.hosts import COLLECTORS, TUNNELS, Host, host_in
from skillyard.skill.scan.rules.private_files import ALL

RULE: Final = Rule(
    code="scan-exfiltration",
    looks_for="Keys, private files, the whole environment or the conversation sent over the network: by `curl`, "
    "`requests`, `fetch`, DNS look-ups, image addresses that carry the data, or by asking the agent to.",
    why="What an agent can read it can be made to send away, and nobody sees it go.",
    fix="Remove the transfer, or send only what the task needs to a service the user has chosen.",
)

_CERTAIN: Final = Level(Severity.ERROR, Severity.ERROR, Severity.ERROR)
_COMMAND: Final = Level(Severity.ERROR, Severity.ERROR, Severity.WARNING)
_REQUEST: Final = Level(Severity.WARNING, Severity.WARNING, Severity.ERROR)
_ASKED: Final = Level(Severity.WARNING, Severity.INFO, Severity.WARNING)

_SEND: Final = r"\b(?:curl|wget|nc|ncat|netcat|socat|invoke-webrequest|invoke-restmethod)(?:\s|\Z)"
_UPLOAD: Final = (
    r"(?:\s-d|--data[a-z-]{0,12}|\s-f|--form|\s-t|--upload-file|--post-file|-infile|<)[\s=]{0,3}\S{0,80}+\Z"
)
_CALL: Final = (
    r"(?:(?:requests|httpx|session|client|axios|http)\.(?:post|put|request)|urlopen|\bfetch|"
    r"\.(?:sendall|sendto|send))\("
)
_SECRETS: Final = (
    r"(?:api[ _-]?keys?|credentials?|secrets|access tokens?|auth tokens?|passwords?|private keys?|ssh keys?|"
    r"environment variables?|env vars?|\.env\b|conversation history|chat history|system prompt)"
)
_DATA: Final = (
    r"(?:secret|token|api_?key|password|credential|conversation|history|chat|system_?prompt|context|"
    r"user_?data|session|base64|messages?)"
)


def _grade_secret(match: re.Match[bytes]) -> Level | None:
    return _COMMAND if host_in(match[0]) is Host.SUSPECT else None


PATTERNS: Final = (
    Pattern(
        rule=RULE,
        anchors=ALL.anchors,
        expression=ALL.expression,
        leads=(_SEND, _UPLOAD),
        says="A private file is sent over the network",
        level=_CERTAIN,
    ),
    Pattern(
        rule=RULE,
        anchors=ALL.anchors,
        expression=ALL.expression,
        leads=(r"\b(?:cat|tar|zip|base64|gzip|xxd|head|tail|cut|grep)\s",),
        follows=(rf"\|[^|\n]{{0,120}}?{_SEND}",),
        says="A private file is piped to the network",
        level=_CERTAIN,
    ),
    Pattern(
        rule=RULE,
        anchors=ALL.anchors,
        expression=ALL.expression,
        leads=(_SEND, r"(?:\$\(|`)[^)`\n]{1,120}+\Z"),
        says="A private file is sent over the network",
        level=_CERTAIN,
    ),
    Pattern(
        rule=RULE,
        anchors=ALL.anchors,
        expression=ALL.expression,
        inside=_CALL,
        says="A private file is sent over the network",
        level=_CERTAIN,
    ),
    Pattern(
        rule=RULE,
        anchors=("printenv", "env |", "env|", "export -p", "/proc/self/environ"),
        expression=r"(?<![\w.-])(?:env|printenv|export -p|/proc/self/environ)\s{0,4}\|",
        follows=(_SEND,),
        says="The whole environment is sent over the network",
        level=_CERTAIN,
    ),
    Pattern(
        rule=RULE,
        anchors=("$(env", "`env", "$(printenv", "`printenv", "$(cat /proc/self/environ"),
        expression=r"(?:\$\(|`)(?:env|printenv|cat /proc/self/environ)\s{0,4}[|)`]",
        leads=(_SEND,),
        says="The whole environment is sent over the network",
        level=_CERTAIN,
    ),
    Pattern(
        rule=RULE,
        anchors=("os.environ", "process.env"),
        expression=r"os\.environ(?:\s{0,4}[,)}]|\.copy\(|\.items\()|process\.env\s{0,4}[,)}]",
        inside=_CALL,
        says="The whole environment is sent over the network",
        level=_CERTAIN,
    ),
    Pattern(
        rule=RULE,
        anchors=("curl ", "wget "),
        expression=r"(?:curl|wget)\s(?>[^\n]{0,300}?\$\{?[a-z_]{0,40}?(?:key|token|secret|passw|credential))[^\n]{0,200}+",
        says="A secret is sent to a suspect address",
        level=_COMMAND,
        grade=_grade_secret,
    ),
    Pattern(
        rule=RULE,
        anchors=("nslookup ", "dig ", "host ", "ping ", "resolve-dnsname "),
        expression=r"(?<![\w-])(?:nslookup|dig|host|ping|resolve-dnsname)\s[^\n$`]{0,60}+(?:\$\(|`)"
        r"(?>[^\n)`]{0,120}?\b(?:cat|base64|whoami|env|printenv|xxd|od|id|head)\b)[^\n)`]{0,120}+[)`]\.[\w$.{}-]",
        says="Data is sent inside a DNS look-up",
        level=_COMMAND,
    ),
    Pattern(
        rule=RULE,
        anchors=("](http",),
        leads=(r"!\[[^\]\n]{0,200}+\Z",),
        expression=rf"\]\(https?://[^)\n{{$<\[]{{1,300}}+(?:\{{\{{?|\$\{{?|<|\[)[ \w.-]{{0,30}}?{_DATA}",
        says="An image address carries data to its host when it is shown",
        level=_REQUEST,
    ),
    Pattern(
        rule=RULE,
        anchors=("://", "endpoint", "webhook"),
        leads=(
            r"\bto\s[^\n.]{0,60}\Z",
            r"(?<![\w-])(?:send|upload|post|transmit|forward|exfiltrate|submit)\s",
            _SECRETS,
        ),
        expression=r"://|endpoint\b|webhook\b",
        says="The agent is asked to send secrets away",
        level=_REQUEST,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("发送", "上传"),
        expression=r"(?:发送|上传)(?:到|至|给)",
        leads=(r"密钥|凭据|凭证|密码|令牌|环境变量",),
        follows=(r"https?://",),
        says="The agent is asked to send secrets away",
        level=_ASKED,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("전송", "업로드", "보내", "送信", "アップロード"),
        expression=r"전송|업로드|보내|送信|アップロード",
        leads=(r"비밀번호|자격 증명|환경 ?변수|api 키|パスワード|認証情報|秘密鍵|環境変数", r"https?://"),
        says="The agent is asked to send secrets away",
        level=_ASKED,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("://",),
        expression=rf"://[a-z0-9.-]{{0,60}}?(?:{COLLECTORS})",
        leads=(rf"{_SEND}|{_CALL}",),
        says="Data is sent to a throw-away collector",
        level=Level(Severity.ERROR, Severity.WARNING, Severity.WARNING),
    ),
    Pattern(
        rule=RULE,
        anchors=("://",),
        expression=rf"://[a-z0-9.-]{{0,60}}?(?:{TUNNELS})",
        leads=(rf"\s(?:-d|--data|-x ?post|-f|--form|-t)\b|{_CALL}",),
        says="Data is sent through a throw-away address",
        level=Level(Severity.WARNING, Severity.INFO, None),
    ),
)
