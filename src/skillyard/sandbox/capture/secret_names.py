"""Names that promise a secret: labels of fields, options, variables and keys, in the languages of people."""

import re
from typing import Final

from skillyard.sandbox.capture.markers import marker_name

_LONGEST: Final = 200
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BETWEEN: Final = re.compile(r"[\s_\-.:*/()\[\]{}\"'?!,#\u2019]+")
_REMARK: Final = re.compile(r"(?<=\S)\s*[(\uff08].*")

_PASSWORDS: Final = (
    r"\w*pass ?words?|\w*passwd|pass ?phrase|pass ?code|pwd|passwort|kennwort|mot de passe|contrase[nñ]a|clave secreta|"
    r"senha|palavra passe|wachtwoord|has[lł]o|l[öo]senord|adgangskode|salasana|пароль|parola|şifre|mật khẩu"
)
_CODE: Final = (
    r"one time(?: (?:pass ?code|password|code|pin))?|t?otp|(?:verification|security|authentication|authenticator|"
    r"auth|2fa|mfa|sms|two factor|recovery|backup) code|cv[vc]2?"
)
_TOKENS: Final = r"(?<!page )(?<!next )(?<!continuation )(?<!sync )(?<!pad )(?<!mask )(?<!eos )(?<!bos )(?<!unk )token"
_KEY: Final = (
    r"(?:api|access|secret|private|encryption|signing|master|account|storage|auth|service|consumer|client|app|"
    r"application|license|ssh|gpg|pgp|webhook|subscription|shared|session) ?key"
)
_LAST: Final = rf"{_TOKENS}|{_KEY}|secrets?|credentials?|pin|pin code|pass|authorization|auth header"
"""Only where it is the last word: a token's name is no secret."""
_IN_SIGNS: Final = {
    "password": r"비밀 ?번호|비번|패스워드|암호(?!화)|密码|密碼|口令|パスワード|暗証番号|合言葉",
    "code": (
        r"인증 ?(?:번호|코드)|보안 ?(?:번호|코드)|验证码|驗證碼|校验码|动态码|安全码|"
        r"認証(?:コード|番号)|確認コード|ワンタイム"
    ),
    "token": (
        r"토큰|(?:api|비밀|접근|개인|보안|인증) ?키|핀 ?번호|令牌|密钥|密鑰|秘钥|金鑰|權杖|"
        r"トークン|シークレット|api ?キー|秘密鍵"
    ),
}
"""Languages that put nothing between words."""
_SIGNS: Final = "|".join(_IN_SIGNS.values())
_REST: Final = (
    r"(?: (?:\d+|confirm|confirmation|again|repeat|repeated|verify|new|old|current|value|text|plain|plaintext|str|"
    r"string|here|required|optional))*"
)
_NAME: Final = re.compile(rf"(?:^|.* )(?:{_PASSWORDS}|{_CODE}|{_LAST})\d*{_REST}|.*(?:{_SIGNS})\d*{_REST}")
_LABEL: Final = re.compile(
    rf"\b(?:{_PASSWORDS}|{_CODE})\b(?! (?:hint|question|length|policy|manager|expir|strength|reset))"
    rf"|\b(?:{_LAST}){_REST}$|{_SIGNS}"
)
_ELSEWHERE: Final = re.compile(r".* (?:file|stdin|fd|env|command|cmd|path|prompt)")
"""Options that only say where the secret is."""
_NOT_SECRET: Final = frozenset({"pwd", "oldpwd"})
"""`$PWD` is the folder that a shell is in."""
_KINDS: Final = (
    ("password", re.compile(f"{_PASSWORDS}|{_IN_SIGNS['password']}")),
    ("code", re.compile(f"{_CODE}|{_IN_SIGNS['code']}")),
)


def is_secret_name(name: str) -> bool:
    """Whether an option, a variable or a key of this name holds a secret: `DB_PASSWORD`, `apiKey`, `--token`."""
    words = _words(name)
    return words not in _NOT_SECRET and not _ELSEWHERE.fullmatch(words) and _NAME.fullmatch(words) is not None


def is_secret_label(label: str) -> bool:
    """Whether people are to enter a secret into a field with this label."""
    return _LABEL.search(_words(_REMARK.sub("", label[:_LONGEST]))) is not None


def secret_called(label: str) -> str:
    """What to call a secret in a marker: by its own name, where that can be written."""
    if label.isascii() and marker_name(label):
        return marker_name(label if "_" in label or label.isupper() else _words(label))
    words = _words(label)
    return next((kind for kind, pattern in _KINDS if pattern.search(words)), "token")


def _words(name: str) -> str:
    """A name as words with single blanks."""
    return _BETWEEN.sub(" ", _CAMEL.sub(" ", name[:_LONGEST])).strip().lower()
