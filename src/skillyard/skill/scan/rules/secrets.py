"""Keys and tokens left in a bundle, and how they are masked wherever text of it is shown."""

import base64
import math
import re
from collections import Counter
from typing import Final, NamedTuple

from skillyard.skill.models import Severity
from skillyard.skill.scan.rule import Level, Pattern, Rule, compiled

RULE: Final = Rule(
    code="scan-secret",
    looks_for="Keys and tokens of well-known services, private keys and signed tokens; placeholders are left alone.",
    why="Everyone who gets the bundle can use it, and its history keeps it after it is removed.",
    fix="Revoke it, then read it from an environment variable by name.",
)

_LEAKED: Final = Level(Severity.ERROR, Severity.ERROR, Severity.ERROR)
_LIKELY: Final = Level(Severity.WARNING, Severity.WARNING, Severity.WARNING)
_SHOWN: Final = 4
_MIN_ENTROPY: Final = 3.0
_PLACEHOLDER: Final = (
    r"(?i)example|sample|your|dummy|fake|placeholder|redacted|change.?me|insert|replace|secret|token|test|payload|john|"
    r"xxxx|0000|1111|\*\*\*|\.\.\.|…|123456|abcdef|qwerty|(.)\1{4}"
)
_KEY_BODY: Final = r"(-----BEGIN [A-Z ]{0,30}+-----)[\s\S]+"
_TAIL: Final = r"[\w.+/=-]{0,4000}+"
_LABELLED: Final = (
    r"(?i)((?:key|token|secret|passw(?:or)?d|authorization|bearer|credential)s?[\"']?\s{0,3}[=: ]\s{0,3}[\"']?)"
    r"([^\s\"'$<{]{8,200}+)"
)


class _Kind(NamedTuple):
    name: str
    anchors: tuple[str, ...]
    expression: str
    level: Level = _LEAKED


_KINDS: Final = (
    _Kind("an AWS access key", ("AKIA",), r"AKIA[A-Z2-7]{16}\b"),
    _Kind("a GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{36,255}+"),
    _Kind("a GitHub token", ("github_pat_",), r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    _Kind("a GitLab token", ("glpat-",), r"glpat-[\w-]{20,64}+"),
    _Kind("a Slack token", ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-"), r"xox[baprs]-\d{9,14}-[\w-]{20,120}+"),
    _Kind("a Slack webhook", ("hooks.slack.com/services/",),
          r"hooks\.slack\.com/services/T\w{8,12}/B\w{8,12}/\w{20,32}+"),
    _Kind("a Discord webhook", ("/api/webhooks/",), r"/api/webhooks/\d{17,20}/[\w-]{60,80}+"),
    _Kind("a Telegram bot token", ("api.telegram.org/bot",), r"api\.telegram\.org/bot\d{8,10}:[\w-]{35}"),
    _Kind("an Anthropic key", ("sk-ant-",), r"sk-ant-[a-z0-9]{3,8}-[\w-]{80,120}+"),
    _Kind("an OpenAI key", ("sk-proj-", "sk-svcacct-"), r"sk-(?:proj|svcacct)-[\w-]{40,200}+"),
    _Kind("an OpenAI key", ("T3BlbkFJ",), r"T3BlbkFJ[A-Za-z0-9]{20}"),
    _Kind("an API key", ("sk-",),
          r"sk-(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[A-Za-z0-9]{32,64}+)(?![\w-])", _LIKELY),
    _Kind("a Google API key", ("AIza",), r"AIza[\w-]{35}(?![\w-])"),
    _Kind("a Google OAuth token", ("ya29.",), r"ya29\.[\w-]{60,300}+"),
    _Kind("a Stripe key", ("sk_live_", "rk_live_"), r"[sr]k_live_[A-Za-z0-9]{24,120}+"),
    _Kind("a SendGrid key", ("SG.",), r"SG\.[\w-]{22}\.[\w-]{43}"),
    _Kind("an npm token", ("npm_",), r"npm_[A-Za-z0-9]{36}\b"),
    _Kind("a PyPI token", ("pypi-AgEIcHlwaS5vcmc",), r"pypi-AgEIcHlwaS5vcmc[\w-]{50,200}+"),
    _Kind("a Hugging Face token", ("hf_",), r"hf_[A-Za-z]{34}\b"),
    _Kind("an age key", ("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _Kind("a private key", ("-----BEGIN ",), r"-----BEGIN (?:[A-Z]{2,9} ){0,2}PRIVATE KEY(?: BLOCK)?-----"
          r"(?:\\n|\s){1,4}(?:[\w-]{3,20}: [^\n]{1,80}\n){0,4}\s{0,2}[A-Za-z0-9+/=]{40,80}+(?!\.\.|…)"),
    _Kind("a signed token (JWT)", ("eyJ",), r"eyJ[\w-]{15,100}+\.eyJ[\w-]{20,240}+", _LIKELY),
)  # fmt: skip


def mask(text: bytes) -> bytes:
    """The text with every secret in it cut to its first characters."""
    text = compiled(_KEY_BODY).sub(rb"\1***", text)
    for kind in _KINDS:
        if any(anchor.encode() in text for anchor in kind.anchors):
            text = compiled(kind.expression + _TAIL).sub(lambda found: _masked(found[0]), text)
    return compiled(_LABELLED).sub(lambda found: found[1] + _masked(found[2]), text)


def _masked(secret: bytes) -> bytes:
    return secret[:_SHOWN] + b"***"


def _pattern(kind: _Kind) -> Pattern:
    def grade(match: re.Match[bytes]) -> Level | None:
        return None if _is_placeholder(match[0]) else kind.level

    return Pattern(
        rule=RULE,
        anchors=kind.anchors,
        expression=rf"(?<![A-Za-z0-9]){kind.expression}" if kind.anchors[0][0].isalpha() else kind.expression,
        says=f"There is {kind.name} in the file",
        level=kind.level,
        grade=grade,
        cased=True,
        firm=True,
    )


def _is_placeholder(secret: bytes) -> bool:
    """Whether a value only shows the shape of a secret: real ones are random."""
    value = secret.rpartition(b"KEY-----")[2] if secret.startswith(b"-----") else secret[_SHOWN:]
    if secret.startswith(b"eyJ"):
        value += _payload(secret)
    return compiled(_PLACEHOLDER).search(value) is not None or _entropy(value) < _MIN_ENTROPY


def _payload(token: bytes) -> bytes:
    """What a signed token says in its middle part."""
    part = token.split(b".")[1]
    return base64.urlsafe_b64decode(part[: len(part) // 4 * 4])


def _entropy(value: bytes) -> float:
    """Bits of information for each character."""
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values())


PATTERNS: Final = tuple(_pattern(kind) for kind in _KINDS)
