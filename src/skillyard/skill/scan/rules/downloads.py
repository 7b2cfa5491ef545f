"""Code that is fetched from the network, or unpacked from text, and run unseen."""

import re
from typing import Final

from skillyard.skill.models import Severity
from skillyard.skill.scan.rule import REACH, Level, Pattern, Rule, compiled
from skillyard.skill.scan.rules.hosts import Host, host_in

RULE: Final = Rule(
    code="scan-download-run",
    looks_for="Code that is downloaded, or decoded, and run in one go: `curl … | sh`, `iwr … | iex`, "
    "`eval` of a download, `base64 -d | sh`, packages installed from an address.",
    why="What runs is decided by whoever controls its source at that moment, not by what was reviewed.",
    fix="Ship the code in the bundle, or install a pinned version from a package registry.",
)

_SEGMENT: Final = r"(?>(?:[^|\\\n]{1,200}+|\\[\s\S]){0,8}+)"
_SHELL: Final = (
    r"\s{0,4}+(?:sudo\s{1,4}(?:-\S{1,20}+\s{1,4}){0,4}+)?(?:/(?:usr/)?(?:local/)?bin/)?"
    r"(?:(?:ba|z|da|k|fi|)sh\b|(?:python3?|perl|ruby|node|php)[ \t]{0,4}+-?[ \t]{0,4}+(?=[\n;&)`\"']|\Z))"
)
_PIPED: Final = rf"{_SEGMENT}(?:\|{_SEGMENT}){{0,3}}?\|{_SHELL}"

_RUN: Final = Level(Severity.WARNING, Severity.WARNING, Severity.INFO)
_HOSTILE: Final = Level(Severity.ERROR, Severity.ERROR, Severity.WARNING)
_CERTAIN: Final = Level(Severity.ERROR, Severity.ERROR, Severity.ERROR)
_UNSAFE: Final = Level(Severity.WARNING, Severity.WARNING, Severity.WARNING)
_BY_HOST: Final = {
    Host.LOCAL: None,
    Host.NONE: Level(Severity.WARNING, Severity.INFO, None),
    Host.WELL_KNOWN: Level(Severity.INFO, Severity.INFO, Severity.INFO),
    Host.UNKNOWN: Level(Severity.WARNING, Severity.WARNING, Severity.WARNING),
    Host.SUSPECT: _CERTAIN,
}
_PACKAGE_BY_HOST: Final = {
    Host.LOCAL: None,
    Host.NONE: None,
    Host.WELL_KNOWN: None,
    Host.UNKNOWN: Level(Severity.WARNING, Severity.INFO, Severity.INFO),
    Host.SUSPECT: Level(Severity.WARNING, Severity.WARNING, Severity.WARNING),
}
_TYPOSQUATS: Final = (
    "reqeusts", "requsts", "requesrs", "python3-dateutil", "jeilyfish", "colourama", "beautifulsup4", "urlib3",
    "urllib4", "djanga", "diango", "python-sqlite", "libpeshnx", "libhtml5lib", "pytroch", "tensorfow", "numppy",
    "pandsa", "openai-api-key", "crossenv", "cross-env.js", "mongose", "babelcli", "ffmepg", "gruntcli", "mssql.js",
    "mssql-node", "mysqljs", "nodecaffe", "nodeffmpeg", "nodemailer-js", "nodemailer.js", "nodemssql",
    "noderequest", "nodesqlite", "node-openssl", "opencv.js", "openssl.js", "shadowsock", "sqliter", "loadyaml",
    "loadyml", "lodashs", "twilio-npm", "discord.dll", "expresss", "axois", "typescritp",
)  # fmt: skip
"""Names under which malicious packages were published, one letter beside those that are meant."""
_FORGES: Final = r"git\+https://(?:github\.com|gitlab\.com|huggingface\.co)/"

_INSTALLED: Final = (
    r"(?:(?:\b(?:pip3?|uv|pipx|poetry)\s(?:install|add)|\b(?:npm|pnpm|bun|yarn)\s(?:install|i|add)|\bnpx)"
    r"\s(?:[^\n]{0,200}?[\s\"'])?|(?<![^\n])|[{,\n]\s{0,8}\")\Z"
)
"""What stands before the name of a package: a command, the start of a line, or a key of JSON."""


def _grade_download(match: re.Match[bytes]) -> Level | None:
    return _BY_HOST[host_in(match[0])]


def _grade_saved(match: re.Match[bytes]) -> Level | None:
    """A file that is only saved is an ordinary download; one that is run next is not."""
    after = match.string[match.end() : match.end() + REACH]
    name = match["file"].rpartition(b"/")[2]
    is_run = b"sh " + match["file"] in after or (b"chmod +x" in after and b"./" + name in after)
    return _BY_HOST[host_in(match[0])] if is_run else None


def _grade_typosquat(match: re.Match[bytes]) -> Level | None:
    return _CERTAIN if match[0].decode().rstrip(".") in _TYPOSQUATS else None


def _grade_index(match: re.Match[bytes]) -> Level | None:
    """An index without encryption gives whatever the network gives; a private network is its owner's."""
    return _UNSAFE if host_in(match[0]) is Host.SUSPECT else None


def _grade_package(match: re.Match[bytes]) -> Level | None:
    if compiled(_FORGES).search(match[0]):
        return Level(Severity.INFO, None, None)
    return _PACKAGE_BY_HOST[host_in(match[0])]


PATTERNS: Final = (
    Pattern(
        rule=RULE,
        anchors=("curl ", "wget ", "curl.exe "),
        expression=rf"(?:curl|wget)(?:\.exe)?\s{_PIPED}",
        says="A download is piped into an interpreter",
        level=_RUN,
        grade=_grade_download,
    ),
    Pattern(
        rule=RULE,
        anchors=("<(curl", "<(wget", "$(curl", "$(wget", "`curl", "`wget"),
        leads=(r"(?:\b(?:ba|z|da|)sh|\bsource|\beval|\bpython3?|(?:^|\s)\.)\s{1,4}(?:-[a-z]{1,3}\s{1,4})?[\"']?\Z",),
        expression=r"(?:<\(|\$\(|`)(?:curl|wget)\s[^\n]{0,300}+",
        says="A download is run by the shell",
        level=_RUN,
        grade=_grade_download,
    ),
    Pattern(
        rule=RULE,
        anchors=("curl ", "wget "),
        expression=r"(?:curl|wget)[^\n]{0,300}?\s(?:-[a-z]{0,6}o|--output|>)\s{0,4}(?P<file>[^\s;&|\"'<>]{2,80}+)"
        r"[^\n;&|]{0,200}+",
        says="A file is downloaded and run",
        level=_RUN,
        grade=_grade_saved,
    ),
    Pattern(
        rule=RULE,
        anchors=("iwr ", "irm ", "invoke-webrequest ", "invoke-restmethod "),
        expression=r"(?<![a-z])(?:iwr|irm|invoke-webrequest|invoke-restmethod)\s"
        r"[^\n|]{0,300}+\|\s{0,4}(?:iex|invoke-expression)\b",
        says="A download is piped into PowerShell",
        level=_RUN,
        grade=_grade_download,
    ),
    Pattern(
        rule=RULE,
        anchors=("iex", "invoke-expression"),
        expression=r"(?<![a-z])(?:iex|invoke-expression)\s{0,4}[(&{$\"'](?>[^\n]{0,120}?"
        r"(?:downloadstring|downloaddata|invoke-webrequest|invoke-restmethod|\biwr\b|\birm\b))[^\n]{0,200}+",
        says="PowerShell runs what it downloads",
        level=_RUN,
        grade=_grade_download,
    ),
    Pattern(
        rule=RULE,
        anchors=("mshta", "certutil", "bitsadmin", "regsvr32"),
        expression=r"mshta(?:\.exe)?\s{1,4}[\"']?https?://|(?:certutil|bitsadmin|regsvr32)(?>[^\n]{0,80}?"
        r"(?:-urlcache|/transfer|/i:))[^\n]{0,80}?https?://",
        says="A system tool is misused to download code",
        level=_HOSTILE,
    ),
    Pattern(
        rule=RULE,
        anchors=("exec(", "eval("),
        expression=r"(?:exec|eval)\(\s{0,8}+(?:compile\(\s{0,8}+)?(?:\(?await\s{1,4}\(?\s{0,4}){0,3}+"
        r"(?:requests\.get|(?:urllib\.)?(?:request\.)?urlopen|urllib2\.urlopen|httpx\.get|fetch|axios\.get)\(",
        says="A download is run as code",
        level=_HOSTILE,
    ),
    Pattern(
        rule=RULE,
        anchors=(".then(eval", ".then(new function"),
        expression=r"\.then\((?:eval|new function)\b",
        leads=(r"\b(?:fetch|get)\(",),
        says="A download is run as code",
        level=_HOSTILE,
    ),
    Pattern(
        rule=RULE,
        anchors=("base64 -d", "base64 --decode", "xxd -r", "openssl enc -d", "openssl base64 -d"),
        expression=rf"(?:openssl\s)?(?:base64|xxd|enc)\s{_PIPED}",
        says="Decoded text is piped into an interpreter",
        level=_HOSTILE,
    ),
    Pattern(
        rule=RULE,
        anchors=("base64 -d", "base64 --decode"),
        expression=r"base64\s{1,4}-{1,2}d(?:ecode)?\b[^\n]{0,40}?[)`]",
        leads=(r"\b(?:eval|(?:ba|z|da|)sh\s{1,4}-c|source)\s{1,4}[\"']?(?:<\(|\$\(|`)",),
        says="Decoded text is run by the shell",
        level=_HOSTILE,
    ),
    Pattern(
        rule=RULE,
        anchors=("pip install", "pip3 install", "uv add", "pipx install"),
        expression=r"(?:pip3?|uv|pipx)\s(?:install|add)\s(?:[^\n`.]|\.(?! )){0,160}?(?:git\+)?https?://[^\s\"'`)]{1,200}+",
        says="A package is installed from an address",
        level=_RUN,
        grade=_grade_package,
    ),
    Pattern(
        rule=RULE,
        anchors=("--extra-index-url", "--index-url", "--find-links"),
        expression=r"--(?:extra-index-url|index-url|find-links)[\s=]{1,3}http://[^\s\"'`)]{1,200}+",
        says="Packages come from an address without encryption",
        level=_UNSAFE,
        grade=_grade_index,
    ),
    Pattern(
        rule=RULE,
        anchors=('install"',),
        leads=(r"[\"](?:pre|post|)\Z",),
        expression=r"install\"\s{0,4}:\s{0,4}\"(?:[^\"\\\n]|\\.){0,300}?(?:eval\b|new function|"
        r"(?:curl|wget)\s[^\"\n]{0,200}?\||base64\s{1,4}-|child_process|https?\.get\(|fetch\()",
        says="Installing the package runs code that is not in it",
        level=_HOSTILE,
    ),
    Pattern(
        rule=RULE,
        anchors=_TYPOSQUATS,
        expression=r"[a-z0-9.-]{5,24}(?=[\s\"'=<>~!@;`,)\\]|\Z)",
        leads=(_INSTALLED,),
        says="A malicious package is installed by the name of another with a letter changed",
        level=_CERTAIN,
        grade=_grade_typosquat,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("npm install", "npm i ", "npx "),
        expression=r"(?:npm\s(?:install|i)|npx)\s[^\n`]{0,80}?https?://[^\s\"'`)]{1,200}?\.(?:tgz|tar\.gz|zip)\b",
        says="A package is installed from an address",
        level=_RUN,
        grade=_grade_package,
    ),
    Pattern(
        rule=RULE,
        anchors=(".zip", ".7z", ".rar"),
        leads=(r"https?://",),
        expression=r"\.(?:zip|7z|rar)\b",
        follows=(
            r"\bpass(?:word|code)?\b|\bpwd\b|密码|비밀번호|パスワード",
            r"\b(?:run|execute|launch|install)\b|运行|실행|実行",
        ),
        says="A password-protected archive is to be downloaded and run",
        level=_CERTAIN,
    ),
)
