"""Reading the keys, passwords and sessions of the person at the machine."""

from typing import Final

from skillyard.skill.models import Severity
from skillyard.skill.scan.rule import Level, Pattern, Rule
from skillyard.skill.scan.rules.private_files import KEYS, LOGINS

RULE: Final = Rule(
    code="scan-credential-access",
    looks_for="Reading private keys, cloud credentials, keychains, browser profiles, wallets, password hashes, "
    "`.env` files or a cloud machine's own tokens.",
    why="They give access to the user's other accounts, and what is read is shown to the agent.",
    fix="Ask for the one credential the task needs, by name, or use a tool's own login.",
)

_READ: Final = Level(Severity.WARNING, Severity.WARNING, Severity.WARNING)
_MENTION: Final = Level(Severity.WARNING, Severity.INFO, None)
_READER: Final = (
    r"(?:\b(?:cat|less|more|head|tail|cp|scp|tar|zip|base64|xxd|strings|grep|type|get-content|copy|read|open|"
    r"collect|print|show|display|include|contents of)\s|(?:open|read_text|read_bytes|readfile|readfilesync|"
    r"path|expanduser|join)\()[^\n]{0,60}\Z"
)

PATTERNS: Final = (
    Pattern(
        rule=RULE,
        anchors=KEYS.anchors,
        expression=KEYS.expression,
        leads=(_READER,),
        says="A file that holds credentials is read",
        level=_READ,
    ),
    Pattern(
        rule=RULE,
        anchors=LOGINS.anchors,
        expression=LOGINS.expression,
        leads=(
            r"\b(?:cat|less|head|tail|base64|xxd|strings|get-content|collect|print|display|contents of)\s[^\n]{0,60}\Z",
        ),
        says="A file that holds a login is read",
        level=Level(Severity.WARNING, Severity.INFO, Severity.INFO),
    ),
    Pattern(
        rule=RULE,
        anchors=("dump-keychain", "find-generic-password", "find-internet-password"),
        expression=r"dump-keychain|find-(?:generic|internet)-password",
        leads=(r"\bsecurity\s{1,4}\Z",),
        says="A password is read from the keychain",
        level=_MENTION,
    ),
    Pattern(
        rule=RULE,
        anchors=("cryptunprotectdata", "mimikatz", "lazagne", "sekurlsa::", "ntds.dit", "browser_cookie3"),
        expression=r"[a-z0-9_:.]{8,24}",
        says="A tool that extracts stored passwords or sessions is used",
        level=_MENTION,
    ),
    Pattern(
        rule=RULE,
        anchors=("169.254.169.254/", "metadata.google.internal/"),
        expression=r"[a-z0-9.]{15,24}/[^\s\"'`]{0,100}?(?:iam|credential|token|user-data)",
        says="The machine's cloud credentials are read",
        level=_MENTION,
    ),
    Pattern(
        rule=RULE,
        anchors=(".env",),
        expression=r"\.env(?![\w.-])",
        leads=(r"\b(?:cat|base64|less|head|tail|type|get-content)\s{1,4}(?:-\S{1,10}+\s{1,4})?[\w./~$-]{0,60}+\Z",),
        says="An `.env` file is printed",
        level=Level(Severity.INFO, Severity.INFO, None),
    ),
    Pattern(
        rule=RULE,
        anchors=("find / ", "find ~ ", "find ~/ ", "find $home "),
        expression=r"find\s{1,4}\S{1,8}\s[^\n]{0,160}?(?:id_rsa|\.pem\b|\.env\b|\.key\b|wallet|credentials)",
        says="The machine is searched for credentials",
        level=_READ,
    ),
)
