"""Data that leaves the machine: keys, files, the environment or the conversation sent to a stranger."""

import re
from string import ascii_lowercase, digits
from typing import Final

from skillyard.skill.models import Severity
from skillyard.skill.scan.rule import Level, Pattern, Rule, compiled, line_end, line_start
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

SEND: Final = r"\b(?:curl|wget|nc|ncat|netcat|socat|invoke-webrequest|invoke-restmethod)(?=\s|\Z)"
_UPLOAD: Final = (
    r"(?:\s-d|--data[a-z-]{0,12}|\s-f|--form|\s-t|--upload-file|--post-file|-infile|<)[\s=]{0,3}\S{0,80}+\Z"
)
_CALL: Final = (
    r"(?:(?:requests|httpx|session|client|axios|http)\.(?:post|put|request)|urlopen|\bfetch|"
    r"\.(?:sendall|sendto|send))\("
)
NEVER_SENT: Final = (
    r"(?:aws_secret_access_key|aws_session_token|gh_token|github_token|gitlab_token|npm_token|pypi_token|twine_password|"
    r"ssh_private_key|docker_password)"
)
"""Variables whose values belong only in a header of a request to their own service."""
LOGIN_PRINTERS: Final = (
    r"gh auth token|aws configure (?:get|export)|gcloud auth (?:application-default )?print-access-token|"
    r"az account get-access-token|op read|pass show|security find-(?:generic|internet)-password|npm config get"
)
"""Commands that print a login of another tool."""
DATA_FLAG: Final = (
    r"(?:\s-d|--data[a-z-]{0,12}|\s-f|--form|\s-t|--upload-file|--post-data|--post-file|[?&][\w-]{1,40}+=|<<<)"
)
"""Where the data of a request starts."""
UP_TO_HEADER: Final = r"(?:(?!\s-h[\s\"']|--header)(?:\\\n|[^\n]))"
"""One more character of it, up to a header, which authenticates."""
_OWNERS: Final = r"github\.com|gitlab\.com|amazonaws\.com|googleapis\.com|azure\.com|npmjs\.org"
_PRIVATE_DATA: Final = (
    r"(?:passwords?(?! (?:reset|manager|polic|protected|field|change|hint|strength|reminder|requirement))|"
    r"pass ?phrases?|api[ _-]?keys?|(?:access|auth|session|bearer|refresh) tokens?|credentials?|secret keys?|"
    r"private keys?|ssh keys?|seed phrases?|(?:credit )?card numbers?|\.env\b|environment variables?)"
)
_SECRETS: Final = (
    r"(?:api[ _-]?keys?|credentials?|secrets|access tokens?|auth tokens?|passwords?|private keys?|ssh keys?|"
    r"environment variables?|env vars?|\.env\b|conversation history|chat history|system prompt)"
)
_DATA: Final = (
    r"(?:secret|token|api_?key|password|credential|conversation|history|chat|system_?prompt|context|"
    r"user_?data|session|base64|messages?)"
)


_MAILED: Final = (
    rf"\b(?:send|e-?mail|forward|mail|post|submit|transmit|report|cc|bcc|copy|share)(?:s|ing)?\s[^.\n]{{0,120}}?{_PRIVATE_DATA}"
    r"[^.\n]{0,80}?\b(?:to|cc|bcc|at|with)\s[^\n]{0,60}?[\w.+-]\Z"
)


def goes_to_owner(text: bytes, start: int, end: int) -> bool:
    """Whether a command goes to one of the services whose logins it may carry."""
    return compiled(_OWNERS).search(text, line_start(text, start), line_end(text, end)) is not None


def _grade_stranger(match: re.Match[bytes]) -> Level | None:
    return None if goes_to_owner(match.string, match.start(), match.end()) else _CERTAIN


def _grade_secret(match: re.Match[bytes]) -> Level | None:
    return _COMMAND if host_in(match[0]) is Host.SUSPECT else None


PATTERNS: Final = (
    Pattern(
        rule=RULE,
        anchors=ALL.anchors,
        expression=ALL.expression,
        leads=(SEND, _UPLOAD),
        says="A private file is sent over the network",
        level=_CERTAIN,
    ),
    Pattern(
        rule=RULE,
        anchors=ALL.anchors,
        expression=ALL.expression,
        leads=(r"\b(?:cat|tar|zip|base64|gzip|xxd|head|tail|cut|grep)\s",),
        follows=(rf"\|[^|\n]{{0,120}}?{SEND}",),
        says="A private file is piped to the network",
        level=_CERTAIN,
    ),
    Pattern(
        rule=RULE,
        anchors=ALL.anchors,
        expression=ALL.expression,
        leads=(SEND, r"(?:\$\(|`)[^)`\n]{1,120}+\Z"),
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
        follows=(SEND,),
        says="The whole environment is sent over the network",
        level=_CERTAIN,
    ),
    Pattern(
        rule=RULE,
        anchors=("$(env", "`env", "$(printenv", "`printenv", "$(cat /proc/self/environ"),
        expression=r"(?:\$\(|`)(?:env|printenv|cat /proc/self/environ)\s{0,4}[|)`]",
        leads=(SEND,),
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
        anchors=tuple("@" + first for first in ascii_lowercase + digits),
        leads=(_MAILED,),
        expression=r"@[a-z0-9-]{1,60}+(?:\.[a-z0-9-]{1,60}+){1,5}",
        says="The agent is asked to send secrets away",
        level=_REQUEST,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=(
            "gh auth ",
            "aws configure ",
            "print-access-token",
            "get-access-token",
            "find-generic-password",
            "op read",
            "pass show",
            "find-internet-password",
        ),
        expression=r"[a-z -]{7,24}+",
        leads=(SEND, rf"{DATA_FLAG}{UP_TO_HEADER}{{0,80}}?(?:\$\(|`)\s{{0,4}}\Z"),
        says="The token of another tool is sent over the network",
        level=_CERTAIN,
        grade=_grade_stranger,
    ),
    Pattern(
        rule=RULE,
        anchors=(
            "gh auth ",
            "aws configure ",
            "print-access-token",
            "get-access-token",
            "find-generic-password",
            "op read",
            "pass show",
            "find-internet-password",
        ),
        expression=r"[a-z -]{7,24}+",
        follows=(rf"\|[^|\n]{{0,120}}?{SEND}",),
        says="The token of another tool is piped to the network",
        level=_CERTAIN,
    ),
    Pattern(
        rule=RULE,
        anchors=(
            "_access_key",
            "_session_token",
            "gh_token",
            "github_token",
            "gitlab_token",
            "npm_token",
            "pypi_token",
            "twine_password",
            "ssh_private_key",
            "docker_password",
        ),
        expression=r"[a-z_]{8,24}\b",
        leads=(SEND, rf"{DATA_FLAG}{UP_TO_HEADER}{{0,80}}?\$\{{?(?:aws(?:_secret)?)?\Z"),
        says="A secret of the environment is sent over the network",
        level=_CERTAIN,
        grade=_grade_stranger,
    ),
    Pattern(
        rule=RULE,
        anchors=("发送", "上传", "发给", "发到", "转发", "抄送"),
        expression=r"(?:发送|上传|转发|抄送)(?:到|至|给)|发给|发到",
        leads=(r"密码(?!重置|策略|管理)|密钥|凭据|凭证|令牌|私钥|助记词|环境变量|银行卡号|信用卡号",),
        follows=(r"[\w.+-]{1,40}@[\w-]{1,60}\.|https?://",),
        says="The agent is asked to send secrets away",
        level=_REQUEST,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=(
            "비밀번호",
            "암호",
            "자격",
            "인증",
            "토큰",
            "개인키",
            "개인 키",
            "환경변수",
            "환경 변수",
            "카드번호",
            "카드 번호",
        ),
        expression=r"비밀번호(?! ?(?:재설정|초기화|변경))|암호(?! ?화)|자격 ?증명|인증 ?정보|토큰|개인 ?키|"
        r"환경 ?변수|카드 ?번호",
        follows=(r"[\w.+-]{1,40}@[a-z0-9-]{1,60}\.|https?://", r"보내|전송|전달|발송|메일하|공유하"),
        says="The agent is asked to send secrets away",
        level=_REQUEST,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("pbcopy", "xclip", "set-clipboard", "clipboard.writetext(", "wl-copy"),
        expression=r"[a-z.-]{5,24}\(?",
        nearby=r"\b(?:bc1[a-z0-9]{25,59}|0x[a-f0-9]{40})\b",
        says="A wallet's address replaces what was copied",
        level=Level(Severity.WARNING, Severity.WARNING, None),
    ),
    Pattern(
        rule=RULE,
        anchors=("送信", "アップロード"),
        expression=r"送信|アップロード",
        leads=(r"パスワード|認証情報|秘密鍵|環境変数", r"[\w.+-]{1,40}@[a-z0-9-]{1,60}\.|https?://"),
        says="The agent is asked to send secrets away",
        level=_REQUEST,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("://",),
        expression=rf"://[a-z0-9.-]{{0,60}}?(?:{COLLECTORS})",
        leads=(rf"{SEND}|{_CALL}",),
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

CARRIED: Final = Pattern(
    rule=RULE,
    anchors=(
        *ALL.anchors,
        "printenv",
        "process.env",
        "/proc/self/environ",
        "gh auth token",
        "env)",
        "env |",
        "env|",
        "env >",
        "env>",
        "export -p",
        "aws configure ",
        "print-access-token",
        "get-access-token",
        "op read",
        "pass show",
        "npm config get",
        "$(cat ",
        "/.ssh ",
        "/.aws ",
        "/.gnupg ",
    ),
    expression=r"[^\s\S]",
    says="",
    level=_CERTAIN,
)
"""Never matches by itself: its anchors mark scripts that may fill a variable with something private."""
