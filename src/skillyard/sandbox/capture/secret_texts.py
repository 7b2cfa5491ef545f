"""Secrets in texts of any kind: those whose form gives them away, and those that stand beside a telling name."""

import re
from collections.abc import Callable
from typing import Final, TypeAlias
from urllib.parse import unquote_plus

from skillyard.sandbox.capture.markers import MARKER, marker
from skillyard.sandbox.capture.secret_names import is_secret_label, is_secret_name, secret_called

Learn: TypeAlias = Callable[[str, str], str]
"""Given a value and a name, knows the value from then on and answers its marker."""

_MARKS: Final = (
    *("pass", "pwd", "secret", "token", "key", "cred", "auth", "cookie", "otp", "code", "pin", "cvv", "cvc", "://"),
    *("senha", "contrase", "kennwort", "hasło", "wachtwoord", "пароль", "비밀", "비번", "암호", "인증", "토큰", "密"),
    *("口令", "验证", "驗證", "令牌", "パスワード", "トークン", "暗証", "akia", "asia", "ghp_", "gho_", "ghu_", "ghs_"),
    *("ghr_", "github_pat", "glpat", "xox", "sk-", "sk_", "rk_", "pk_", "aiza", "ya29", "sg.", "npm_", "pypi-", "hf_"),
    *("age-", "eyj", "-----begin"),
)
"""A text without any of these, in lower case, holds nothing that is looked for here."""
_FORMS: Final = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\Z)"
    r"|(?<![\w-])(?:(?:AKIA|ASIA)[A-Z0-9]{12,}|gh[pousr]_\w{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}|"
    r"xox[abeprs]-[\w-]{10,}|sk-(?=[\w-]{0,100}\d)[\w-]{16,}|[srp]k_(?:live|test)_\w{10,}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|"
    r"SG\.[\w-]{16,}\.[\w-]{16,}|npm_\w{20,}|pypi-[\w-]{20,}|hf_[A-Za-z0-9]{20,}|AGE-SECRET-KEY-1\w{20,}|"
    r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?)"
)
_HEADER: Final = re.compile(
    r"(?i)(?<![\w-])((?:proxy-)?authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:(?:bearer|basic|token|digest|apikey)\s{1,3})?"
    r"|(?:set-)?cookie:\s{0,3}|x-[\w-]{0,40}(?:key|token|secret|auth)[\w-]{0,40}:\s{0,3}|bearer\s{1,3}(?=[\w.~+/=-]{8}))"
    r"(?!\{\{secret|\$|<|none\b|null\b)([^\s\"',;][^\"'\n]{3,8192}+)"
)
_URL_USER: Final = re.compile(r"(://[^\s/:@\"'<>]*:)((?!\{\{secret|\$|\{)[^\s/@\"'<>]+)(?=@)")
_QUERY: Final = re.compile(r"(?<=[?&;])([\w.%\[\]+-]{1,80})=((?!\{\{secret)[^\s&;\"'<>#]+)")
_QUOTED: Final = re.compile(
    r"(?<![\w.\-])([\w.\-\[\]]{1,80})((?P<key>[\"'])?\s{0,3}(?::=|=>|==?|:)\s{0,3})([\"'])((?!\{\{secret)(?:(?!\4)[^\\\n]|\\.){1,4096})\4"
)
"""`name = "value"`, `"name": "value"`."""
_BARE: Final = re.compile(
    r"(?<![\w.\-])([\w.\-]{1,80})(\s{0,2}=\s{0,2})((?!\{\{secret|[\s\"'$(\[{<=])[^\s\"'`&;|<>(){}\[\],]+)"
)
"""`NAME=value`."""
_LINE: Final = re.compile(r"(?m)^([ \t-]{0,40}[\w.\-]{1,80}:[ \t]{1,3})((?!\{\{secret|[\"'$(\[{<|>])\S+)[ \t]*$")
"""A line of YAML."""
_SAID: Final = re.compile(r"(?<![\w.\-])([\w.\-]{1,80})(:\s{1,3})((?!\{\{secret|[\s\"'$(\[{<])[^\s\"'`,;<>(){}\[\]]+)")
"""`name: value`, which may be a sentence about passwords."""
_OPEN: Final = re.compile(r"(?m)(?<![\w.\-])([\w.\-]{1,80})(\s{0,3}[=:]\s{0,3}[\"'])((?!\{\{secret)[^\"'\n]+)$")
"""A quote that nobody closed."""
_FIELD: Final = re.compile(r"((?:textbox|searchbox) \"((?:[^\"\\\n]|\\.)*)\"(?: \[[^\]\n]*\])*: )([^\n]+)")
"""A field with what is in it, as a snapshot shows it."""
_REFERENCE: Final = re.compile(r"\$(?:\w+|\{[^}]*\}|\(.*\))|`.*`|%\w+%|\{[\w.]+\}", re.DOTALL)
"""Only says where the value is to be found."""
_SCHEME: Final = re.compile(r"(?i)(?:bearer|basic|token|digest|apikey)\s+")
_MASKED: Final = re.compile(r"[•*.…x-]+", re.IGNORECASE)
_WORD: Final = re.compile(r"[a-zA-Z]{1,15}[.!?]?|[0-9]{1,3}")
_NOTHING: Final = frozenset({"none", "null", "true", "false", "undefined", "nil", "str", "string", "bytes"})


def mask_output(text: str) -> str:
    """What came of a run, without what looks like a secret. It is not learned from: it may only look so."""
    return _masked(text, lambda _, name: marker(name), said=True)


def mask_source(text: str, learn: Learn) -> str:
    """What someone wrote to be run, or said of it."""
    return _masked(text, learn, said=False)


def mask_pairs(text: str, learn: Learn) -> str:
    """The same, but only secrets beside a name and a sign: `"password": "…"`, `password=…`."""
    if not _is_suspicious(text):
        return text
    text = _QUOTED.sub(lambda found: _quoted(found, learn), mask_forms(text, learn))
    return _BARE.sub(lambda found: _bare(found, learn), text)


def mask_forms(text: str, learn: Learn) -> str:
    """The same, but only secrets that can be told by themselves: in headers, in addresses, by their form."""
    if not _is_suspicious(text):
        return text
    text = _FORMS.sub(lambda found: learn(found[0], _called_by_form(found[0])), text)
    text = _HEADER.sub(lambda found: _header(found, learn), text)
    text = _URL_USER.sub(lambda found: found[1] + learn(found[2], "password"), text)
    return _QUERY.sub(lambda found: _parameter(found, learn), text)


def _masked(text: str, learn: Learn, *, said: bool) -> str:
    if not _is_suspicious(text):
        return text
    text = mask_pairs(_FIELD.sub(_field, text), learn)
    if said:
        return _SAID.sub(_told, text)
    text = _OPEN.sub(lambda found: _bare(found, learn), text)
    return _LINE.sub(lambda found: _line(found, learn), text)


def is_reference(value: str) -> bool:
    """Whether a value is only the place where one is to be found: `$TOKEN`, `$(pass show)`."""
    return _REFERENCE.fullmatch(value) is not None


def without_scheme(value: str) -> str:
    """What is secret of the value of a header."""
    return _SCHEME.sub("", value, count=1)


def _is_suspicious(text: str) -> bool:
    lower = text.lower()
    return any(mark in lower for mark in _MARKS)


def _called_by_form(value: str) -> str:
    return "private_key" if value.startswith("-----") else "token" if value.startswith("eyJ") else "api_key"


def _header(found: re.Match[str], learn: Learn) -> str:
    value = found[2].rstrip()
    if MARKER.search(value):
        return found[0]
    name = found[1].lower().strip("\"' :=")
    name = secret_called(name) if name.startswith("x-") else "cookie" if "cookie" in name else "authorization"
    return found[1] + learn(value, name) + found[2][len(value) :]


def _parameter(found: re.Match[str], learn: Learn) -> str:
    name = unquote_plus(found[1])
    if not is_secret_name(name):
        return found[0]
    return f"{found[1]}={learn(unquote_plus(found[2]), secret_called(name))}"


def _quoted(found: re.Match[str], learn: Learn) -> str:
    if not is_secret_name(found[1]) or _is_nothing(found[5]):
        return found[0]
    return f"{found[1]}{found[2]}{found[4]}{learn(found[5], secret_called(found[1]))}{found[4]}"


def _bare(found: re.Match[str], learn: Learn) -> str:
    if not is_secret_name(found[1]) or _is_nothing(found[3]):
        return found[0]
    return f"{found[1]}{found[2]}{learn(found[3], secret_called(found[1]))}"


def _line(found: re.Match[str], learn: Learn) -> str:
    name = found[1].strip(" \t-:")
    if not is_secret_name(name) or _is_nothing(found[2]):
        return found[0]
    called = secret_called(name)
    return found[1] + (marker(called) if _WORD.fullmatch(found[2]) else learn(found[2], called))


def _told(found: re.Match[str]) -> str:
    """A value beside a name in a text: one that is a mere word may be what is said about it."""
    if not is_secret_name(found[1]) or _is_nothing(found[3]) or _WORD.fullmatch(found[3]):
        return found[0]
    return f"{found[1]}{found[2]}{marker(secret_called(found[1]))}"


def _field(found: re.Match[str]) -> str:
    if not is_secret_label(found[2]) or _is_nothing(found[3].strip()):
        return found[0]
    return found[1] + marker(secret_called(found[2]))


def _is_nothing(value: str) -> bool:
    if is_reference(value):
        return True
    return value.lower() in _NOTHING or _MASKED.fullmatch(value) is not None or MARKER.search(value) is not None
