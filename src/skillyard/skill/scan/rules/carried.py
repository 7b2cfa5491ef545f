"""Finds variables and temporary files of a script that take in something private and are sent later."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from skillyard.skill.models import Severity
from skillyard.skill.scan.page import Form, Page
from skillyard.skill.scan.rule import Hit, compiled
from skillyard.skill.scan.rules.exfiltration import (
    DATA_FLAG,
    LOGIN_PRINTERS,
    NEVER_SENT,
    RULE,
    SEND,
    UP_TO_HEADER,
    goes_to_owner,
)
from skillyard.skill.scan.rules.private_files import ALL

_MOST: Final = 50
"""How many carriers of one file are followed."""
_MOST_SENT: Final = 200
_READS: Final = r"(?:cat|base64|xxd|head|tail|gzip|grep|sqlite3|strings|tar|zip|jq)\b"
_SHELL_NAME: Final = r"(?<![\w$-])(?P<name>[a-z_]\w{0,60}+)="
_INTO_FILE: Final = r"(?P<name>(?:/tmp|/var/tmp|\$tmpdir|\.)/[\w./-]{1,80}+)"


class _Carrier(NamedTuple):
    filled: str
    """Where something private goes into a variable or a file."""
    sent: str
    """Where it leaves; `NAME` stands for what carries it."""
    says: str


_OUT: Final = rf"{SEND}{UP_TO_HEADER}{{0,200}}?{DATA_FLAG}{UP_TO_HEADER}{{0,80}}?[\"'@$({{=< ]NAME(?![\w-])"
_PIPED: Final = rf"(?:echo|printf|cat)\s[^\n|]{{0,40}}?NAME\b[^\n]{{0,60}}?\|[^\n]{{0,80}}?{SEND}"
_LOOKUP: Final = r"\b(?:dig|nslookup|host|ping)\s[^\n]{0,60}?\$\{?NAME\}?\."
_LEAVES: Final = f"(?:{_OUT}|{_PIPED}|{_LOOKUP})"
_CALL: Final = (
    r"(?:\bfetch|axios\.(?:post|put|request)|https?\.request|\.(?:write|send|post)|sendbeacon)\("
    r"[^;]{0,400}?(?<![\w.])NAME(?![\w:])"
)
_SCRIPT_NAME: Final = r"\b(?:const|let|var)\s{1,4}(?P<name>[a-z_$][\w$]{0,60}+)\s{0,4}=\s{0,4}"

_CARRIERS: Final = (
    _Carrier(
        rf"{_SHELL_NAME}[\"']?(?:\$\(|`)\s{{0,4}}(?:env|printenv|export -p|cat /proc/self/environ)\s{{0,4}}[|)`]",
        _LEAVES,
        "The whole environment is sent over the network",
    ),
    _Carrier(
        rf"(?<![\w.-])(?:env|printenv|export -p)\s{{0,4}}>{{1,2}}\s{{0,4}}{_INTO_FILE}",
        _LEAVES,
        "The whole environment is sent over the network",
    ),
    _Carrier(
        rf"{_SHELL_NAME}[\"']?(?:\$\(|`)[^\n)`]{{0,80}}?{_READS}[^\n)`]{{0,120}}?{ALL.expression}",
        _LEAVES,
        "A private file is sent over the network",
    ),
    _Carrier(
        rf"\bfor\s{{1,4}}(?P<name>[a-z_]\w{{0,60}}+)\s{{1,4}}in\s{{1,4}}(?:\$\(|`)[^\n)`]{{0,120}}?{ALL.expression}",
        _LEAVES,
        "A private file is sent over the network",
    ),
    _Carrier(
        rf"{_READS}[^\n|]{{0,120}}?{ALL.expression}[^\n]{{0,160}}?\|\s{{0,4}}while\s[^\n]{{0,20}}?read\s{{1,4}}(?:-r\s{{1,4}})?(?P<name>[a-z_]\w{{0,60}}+)",
        _LEAVES,
        "A private file is sent over the network",
    ),
    _Carrier(
        rf"\b(?:cp|mv|rsync|{_READS})\s[^\n]{{0,120}}?{ALL.expression}[^\n]{{0,40}}?\s{_INTO_FILE}",
        _LEAVES,
        "A private file is sent over the network",
    ),
    _Carrier(
        rf"\b(?:tar|zip)\s[^\n]{{0,40}}?{_INTO_FILE}[^\n]{{0,120}}?(?:{ALL.expression}|(?:~|\$home)/\.(?:ssh|aws|gnupg)\b)",
        _LEAVES,
        "Private files are sent over the network",
    ),
    _Carrier(
        rf"{_SHELL_NAME}[\"']?(?:\$\(|`)\s{{0,4}}(?:{LOGIN_PRINTERS})[^\n)`]{{0,80}}+",
        _LEAVES,
        "The token of another tool is sent over the network",
    ),
    _Carrier(
        rf"{_SCRIPT_NAME}(?:\{{\s{{0,4}}\.\.\.|object\.(?:assign|entries)\([^;\n]{{0,20}}?|json\.stringify\(|)process\.env\s{{0,4}}[;,)}}\n]",
        _CALL,
        "The whole environment is sent over the network",
    ),
    _Carrier(
        rf"{_SCRIPT_NAME}process\.env(?:\.|\[[\"']){NEVER_SENT}\b",
        _CALL.replace("[^;]{0,400}?", r"[^;]{0,400}?\bbody\b[^;]{0,200}?"),
        "A secret of the environment is sent over the network",
    ),
    _Carrier(
        rf"{_SCRIPT_NAME}[^;\n]{{0,40}}?readfile(?:sync)?\([^;\n]{{0,120}}?{ALL.expression}",
        _CALL,
        "A private file is sent over the network",
    ),
)
_WAYS_OUT: Final = re.compile(
    rb"\b(?:curl|wget|nc|ncat|socat|fetch|axios|dig|nslookup|host|ping|https?\.request|sendbeacon|\.send)\b|\.write\("
)


def find(page: Page) -> Iterator[Hit]:
    if page.form is Form.BINARY or _WAYS_OUT.search(page.lower) is None:
        return
    for start, end in _scripts(page):
        script = page.lower[start:end]
        for carrier in _CARRIERS:
            yield from _find_carried(script, start, carrier)


def _scripts(page: Page) -> Iterator[tuple[int, int]]:
    if page.form is Form.CODE:
        yield 0, len(page.text)
    elif page.form is Form.MARKDOWN:
        yield from page.blocks


def _find_carried(script: bytes, start: int, carrier: _Carrier) -> Iterator[Hit]:
    names: set[bytes] = set()
    for filled in islice(compiled(carrier.filled).finditer(script), _MOST):
        name = filled["name"]
        if name in names:
            continue
        names.add(name)
        leaving = re.compile(carrier.sent.encode().replace(b"NAME", re.escape(name)))
        for sent in islice(leaving.finditer(script, filled.end()), _MOST_SENT):
            if not goes_to_owner(script, sent.start(), sent.end()):
                position = start + sent.start()
                yield Hit(
                    rule=RULE, severity=Severity.ERROR, says=carrier.says, position=position, end=start + sent.end()
                )
                break
