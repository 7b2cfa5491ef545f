"""How serious a match is where it stands: a command that runs, an example, a warning against it."""

import re
from typing import Final

from skillyard.skill.bundle import Bundle
from skillyard.skill.limits import SKILL_FILE_NAMES
from skillyard.skill.markdown import is_inside
from skillyard.skill.models import Severity
from skillyard.skill.scan.page import Form, Page
from skillyard.skill.scan.rule import Level, Pattern, compiled, line_end, line_start

_LADDER: Final = (None, Severity.INFO, Severity.WARNING, Severity.ERROR)
_NEAR: Final = 300
_HEADING_WITHIN: Final = 4_000
_FRONTMATTER: Final = re.compile(rb"(?:\xef\xbb\xbf)?---\s[\s\S]{0,4000}?\n---")

_TOPIC: Final = (
    r"secur|pentest|penetration|vulnerab|malware|malicious|forensic|red.?team|exploit|attack|threat|"
    r"hacking|bug bounty|injection|intrusion|privilege.escalation|owasp|jailbreak|guardrail|"
    r"安全|渗透|漏洞|攻击|보안|취약|침투|セキュリティ|脆弱"
)
_DEFENCE: Final = (
    r"attack|malicious|malware|inject|exploit|vulnerab|detect|red flag|suspicious|adversar|forbidden|"
    r"prohibit|denied|deny ?list|block ?list|blacklist|dangerous(?!ly-)|unsafe|insecure|threat|hostile|jailbreak|"
    r"phish|sanitiz|untrusted|destructive|anti-?pattern|❌|🚫|⛔|"
    r"攻击|恶意|注入|危险|可疑|检测|禁止|漏洞|공격|악성|위험|탐지|인젝션|취약|금지|攻撃|悪意|危険|検出|脆弱"
)
_NEGATION: Final = (
    r"\bnever\b|\bdo not\b|\bdon[^a-z\s]{0,3}t\b|\bmust not\b|\bavoid|\brefuse|\breject|\bblock|\bflag|\bprevent|"
    r"\bgrep\b|不要|切勿|避免|拒绝|严禁|하지 ?마|않|しない|避け"
)
_QUOTES: Final = ('"', "`")
_QUOTE_PAIRS: Final = (("“", "”"), ("\u2018", "\u2019"), ("「", "」"), ("『", "』"), ("«", "»"))


def is_about_security(bundle: Bundle) -> bool:
    """Whether the skill says of itself that attacks are its subject: its documents will name some."""
    for name in SKILL_FILE_NAMES:
        file = bundle.get(name)
        if file is not None:
            frontmatter = _FRONTMATTER.match(file.data)
            return frontmatter is not None and compiled(_TOPIC).search(frontmatter[0].lower()) is not None
    return False


def severity(page: Page, pattern: Pattern, match: re.Match[bytes], *, security_topic: bool) -> Severity | None:
    """The severity of one match, or `None` where it is not worth a word."""
    level = pattern.judged(match)
    if level is None:
        return None
    found = _by_place(page, level, match.start())
    if pattern.firm:
        return found
    return soften(page, found, match.start(), security_topic=security_topic, quotable=pattern.quotable)


def soften(
    page: Page, found: Severity | None, position: int, *, security_topic: bool, quotable: bool = False
) -> Severity | None:
    """A severity, lowered if the text around the place warns of it."""
    if is_inside(page.comments, position):
        return found
    if not page.is_document:
        return _lowered(found, int(_is_remark(page.lower, position)))
    steps = int(security_topic) + int(_is_warned_of(page.lower, position, quotable=quotable))
    if quotable and _is_quoted(page.lower, position):
        steps += 1
    # The words around are the author's own. They may soften what is said in prose; a command in a code block is what
    # an agent copies and runs, so one that is nearly surely hostile stays a warning whatever they say.
    runnable = found is Severity.ERROR and is_inside(page.blocks, position)
    return _lowered(found, steps, lowest=_LADDER.index(Severity.WARNING) if runnable else 0)


def _lowered(severity: Severity | None, steps: int, *, lowest: int = 0) -> Severity | None:
    return _LADDER[max(lowest, _LADDER.index(severity) - steps)]


def _by_place(page: Page, level: Level, position: int) -> Severity | None:
    if not page.is_document or is_inside(page.comments, position):
        return level.script
    if page.form is not Form.MARKDOWN or is_inside(page.blocks, position):
        return level.block
    return level.prose


def _is_warned_of(lower: bytes, position: int, *, quotable: bool) -> bool:
    """Whether the words around say that the match is a danger, or not to be done."""
    start = line_start(lower, position)
    around = lower[max(0, position - _NEAR) : line_end(lower, position)]
    if compiled(_DEFENCE).search(around) or compiled(_DEFENCE).search(_heading_above(lower, start)):
        return True
    return not quotable and compiled(_NEGATION).search(lower, start, position) is not None


def _is_remark(lower: bytes, position: int) -> bool:
    """Whether the line is a comment of a program, which does not run."""
    before = lower[line_start(lower, position) : position]
    return before.lstrip().startswith((b"#", b"//", b"* ", b"-- "))


def _heading_above(lower: bytes, position: int) -> bytes:
    start = lower.rfind(b"\n#", max(0, position - _HEADING_WITHIN), position)
    if start < 0:
        return b""
    end = lower.find(b"\n", start + 1, start + 1 + _NEAR)
    return lower[start : end if end >= 0 else start + _NEAR]


def _is_quoted(lower: bytes, position: int) -> bool:
    """Whether a quotation that started on the same line is still open."""
    before = lower[line_start(lower, position) : position].decode(errors="ignore")
    if before.rstrip().endswith("'") or any(before.count(mark) % 2 for mark in _QUOTES):
        return True
    return any(before.rfind(opening) > before.rfind(closing) for opening, closing in _QUOTE_PAIRS)
