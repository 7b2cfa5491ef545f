"""Finds destinations and credentials in a text, which a person must approve before the text is learned."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from skillyard.learning.kept_texts import kept
from skillyard.sandbox.capture.secret_names import is_secret_name
from skillyard.skill.bundle import Bundle

_SHOWN: Final = 5
_LONGEST: Final = 200
_DIGIT: Final = re.compile(r"\d")
_URL: Final = re.compile(r"(?i)(?<![a-z0-9_+.-])(?:[a-z][a-z0-9+.-]{0,20}:)?//[^\s<>\"'`|,;]{1,2000}")
_PARTICLE: Final = re.compile(r"(?<=[a-z0-9])[^\x00-\x7f]+$")
"""Particles that some languages append to a name."""
_MAIL: Final = re.compile(r"(?<![a-zA-Z0-9_.%+-])[\w.%+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[a-zA-Z][a-zA-Z0-9-]{1,62}")
_LOGIN: Final = re.compile(r"(?<![a-zA-Z0-9_.%+-])[\w.%+-]{1,64}@([\w.-]{1,253}):(?!\d)")
"""As in `scp file user@host:`."""
_COMMAND: Final = re.compile(
    r"(?i)(?<![\w./-])(?:curl|wget|ssh|scp|sftp|rsync|ftp|telnet|nc|ncat|netcat|ping|dig|nslookup)(?:\.exe)?"
    r"[ \t]([^\n]{1,500})"
)
_TOKEN: Final = re.compile(r"(?<![a-zA-Z0-9_./@$-])(?:[\w-]{1,63}\.){1,8}[a-zA-Z][a-zA-Z0-9-]{1,62}")
_HOST: Final = re.compile(
    # Endings that hardly anything but a host has; the others where a port or a path follows, or in quotes.
    r"(?i)(?<![a-z0-9_./@$-])((?:[\w-]{1,63}\.){1,8}(?:"
    r"(?:com|net|org|edu|gov|mil|biz|xyz|onion|example|kr|jp|cn|tw|ru|uk|de|fr|eu|us)(?![a-z0-9_(=-]|\.\w)|"
    r"(?:io|ai|co|app|dev|info|me|tv|cc|in|sg|hk|site|online|top|cloud|club|shop|link|internal|local|test|invalid)"
    r"(?=:\d|/[\w?]|[\"'](?!\s*:))))"
)
_FOUR: Final = re.compile(r"(?<![a-zA-Z0-9_.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?[a-zA-Z0-9_])")
_SIX: Final = re.compile(r"(?<![a-zA-Z0-9_:.])[0-9a-fA-F:]{4,45}(?![a-zA-Z0-9_:])")
_NUMBER: Final = re.compile(
    r"(?<![a-zA-Z0-9_+.-])(?:\+\d[\d ().-]{7,20}\d|\(?0\d{1,3}\)?[ -]\d{3,4}[ -]\d{4}|\d{3,6}-\d{2,6}-\d{4,8})"
    r"(?![a-zA-Z0-9_-])"
)
_ACCOUNT: Final = re.compile(
    r"(?i)(?:account|iban|wallet|계좌|账号|账户|帳戶|口座)[^\n\d]{0,30}?((?:[a-z]{2}\d{2}[ ]?)?\d[\d -]{6,40}\d)"
)
_WALLET: Final = re.compile(r"(?<![a-zA-Z0-9_])(?:0x[0-9a-fA-F]{40}|bc1[0-9a-z]{25,60})(?![a-zA-Z0-9_])")
_CHANNEL: Final = re.compile(
    r"(?i)(?:slack|telegram|discord|teams|channel|kakao|wechat|line|signal)\b[^\n#@]{0,30}([#@]\w[\w-]{1,40})"
)
_VARIABLE: Final = re.compile(r"(?<![a-zA-Z0-9_.])([A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){0,6})(?![a-zA-Z0-9_])")
_KEY_FILE: Final = re.compile(
    r"(?i)(?:~|\$HOME|/root|/home/[\w.-]{1,32})?/?(?:\.ssh/[\w.-]{1,64}|\.aws/credentials|\.netrc|\.npmrc|\.pypirc"
    r"|\.pgpass|\.docker/config\.json|\.kube/config|\.git-credentials)(?![a-z0-9_])"
    r"|(?<![a-z0-9_./-])id_(?:rsa|ed25519|ecdsa)(?![a-z0-9_])"
)
_DEFANGED: Final = (
    (re.compile(r"(?i)hxxp"), "http"),
    (re.compile(r"(?i)[\[({]\s?(?:\.|dot)\s?[\])}]"), "."),
    (re.compile(r"(?i)[\[({]\s?(?:@|at)\s?[\])}]"), "@"),
)
_FILE: Final = re.compile(
    r"(?i)\.(?:pyc?|sh|bash|js|ts|json|ya?ml|toml|md|txt|[ct]sv|html?|xml|css|log|zip|t?gz|tar|pdf|png|jpe?g|svg|sql|db"
    r"|ini|cfg|conf|lock|pem|key|crt|docx|xlsx|pptx|bin|out|exe)$"
)
_SECRET: Final = "********"  # noqa: S105 -- what stands in the place of one


def new_destinations(old: Iterable[tuple[str, str]], new: Iterable[tuple[str, str]]) -> str:
    """What the new texts, each with its name, add to the old ones, for a person to read; empty if nothing."""
    before = [text for _, text in old]
    same = {line for text in before for line in text.splitlines()}
    named: dict[str, str] = {}
    for name, text in new:
        for key, (shown, line) in _find(text, but=same).items():
            named.setdefault(key, f"{shown} ({name}:{line})" if "\n" in text.strip("\n") else f"{shown} ({name})")
    if named:  # the old texts are read only if there is something new
        known = {key for text in before for key in _find(text)}
        named = {key: shown for key, shown in named.items() if key not in known}
    listed = ", ".join(list(named.values())[:_SHOWN])
    return f"{listed}, + {len(named) - _SHOWN}" if len(named) > _SHOWN else listed


def review_of(brought: str) -> str:
    """Why a person must approve what is added."""
    return f"It adds {brought}: a person must approve new destinations and credentials."


def texts_of_bundle(bundle: Bundle | None) -> Iterator[tuple[str, str]]:
    """The files of a skill that are text."""
    for file in bundle or ():
        try:
            yield file.path, file.data.decode()
        except UnicodeDecodeError:
            continue


def _find(text: str, *, but: Collection[str] = ()) -> Mapping[str, tuple[str, int]]:
    """What a text names outside the lines in `but`: by key, how it is shown and the first line that has it."""
    found: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line in but:
            continue
        plain = _normalize(line)
        for key in (*_places(plain), *_numbers(plain), *_credentials(plain)):
            found.setdefault(key, (key[:_LONGEST], number))
        if kept(line) != line:
            found.setdefault(f"secret:{line.strip()}", (_SECRET, number))
    return found


def _normalize(line: str) -> str:
    """A line as a reader would follow it: in normalized letters, and not defanged."""
    plain = line
    if not line.isascii():
        plain = unicodedata.normalize("NFKC", line)
        plain = "".join(each for each in plain if unicodedata.category(each) != "Cf")
    for pattern, instead in _DEFANGED:
        plain = pattern.sub(instead, plain)
    return plain


def _places(line: str) -> Iterator[str]:
    """Hosts, addresses and recipients."""
    if "//" in line:
        for url in _URL.findall(line):
            yield from _host_of(url)
    if "@" in line:
        yield from (mail.casefold() for mail in _MAIL.findall(line))
        yield from (host.casefold().rstrip(".") for host in _LOGIN.findall(line))
    for arguments in _COMMAND.findall(line):
        yield from (host.casefold() for host in _TOKEN.findall(arguments) if not _FILE.search(host))
    bare = _URL.sub(" ", line)
    yield from (host.casefold() for host in _HOST.findall(bare))
    yield from (found[0] for found in _FOUR.finditer(bare) if _is_address(found[0]))
    yield from (found[0].casefold() for found in _SIX.finditer(bare) if _is_address(found[0]))
    yield from _CHANNEL.findall(line)


def _host_of(url: str) -> Iterator[str]:
    try:
        host = urlsplit(url.replace("\\", "/")).hostname or ""
    except ValueError:
        host = url
    host = _PARTICLE.sub("", host).rstrip(".")
    is_comment = url.startswith("//") and "." not in host and ":" not in host  # of a program
    if any(each.isalnum() for each in host) and not is_comment:
        yield host


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _numbers(line: str) -> Iterator[str]:
    """Telephones, accounts and wallets."""
    if _DIGIT.search(line):
        yield from (_digits(found) for found in (*_NUMBER.findall(line), *_ACCOUNT.findall(line)))
        yield from _WALLET.findall(line)


def _digits(text: str) -> str:
    return "".join(each for each in text if each.isalnum() or each == "+")


def _credentials(line: str) -> Iterator[str]:
    """Variables that hold secrets, and files of keys."""
    yield from (name for name in _VARIABLE.findall(line) if is_secret_name(name))
    yield from _KEY_FILE.findall(line)
