"""Finds what the Python of a skill, in files and in code blocks, does with its data."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from textwrap import dedent
from typing import Final, NamedTuple

from skillyard.skill.models import Severity
from skillyard.skill.python_trees import tree_of
from skillyard.skill.scan.page import Form, Page
from skillyard.skill.scan.rule import Hit, Rule
from skillyard.skill.scan.rules import downloads, exfiltration, obfuscation, persistence
from skillyard.skill.scan.rules.python_flow import DANGEROUS, Arrival, Flows, Sink
from skillyard.skill.scan.rules.python_values import Origin

MAX_CODE: Final = 512 * 1024
"""Bytes of Python in one file that are followed; scripts of skills usually have a hundredth of that."""
_PYTHON: Final = frozenset({".py", ".pyw"})
_WORTH: Final = re.compile(
    rb"environ|getenv|\.ssh|\.aws|\.gnupg|\.netrc|\.kube|cookie|cookies|login data|wallet|\.claude|\.codex|"
    rb"\.cursor|\.gemini|\.openclaw|urlopen|requests\.get|httpx\.get|pyperclip|clipboard|getattr|__import__|import_module|"
    rb"authorized_keys|/etc/shadow|\.git-credentials|\.pypirc|\.docker|hosts\.yml|gcloud|solana|electrum|key4\.db|logins\.json"
)
_ARRIVES: Final = re.compile(
    rb"\.post|\.put|\.patch|\.request|\.send|sendall|urlopen|gethostby|getaddrinfo|upload_file|exec\(|eval\(|loads?\(|system\(|"
    rb"popen|subprocess|write_|open\(|copy|getattr|__import__|import_module|\.dump|\.replace|\.rename"
)
_PLANTED: Final = re.compile(rb"\b(?:curl|wget|nc|ncat|base64|nohup)\s|/dev/tcp/|bypasspermissions|skip-permissions")


class _Flow(NamedTuple):
    origins: tuple[Origin, ...]
    sinks: tuple[Sink, ...]
    rule: Rule
    says: str
    severity: Severity = Severity.ERROR


_SEND: Final = (Sink.NETWORK,)
_FLOWS: Final = (
    _Flow((Origin.ENVIRONMENT,), _SEND, exfiltration.RULE, "The whole environment is sent over the network"),
    _Flow((Origin.SECRET,), _SEND, exfiltration.RULE, "A secret of the environment is sent over the network"),
    _Flow((Origin.KEYS, Origin.LOGINS), _SEND, exfiltration.RULE, "A private file is sent over the network"),
    _Flow((Origin.COOKIES,), _SEND, exfiltration.RULE, "The browser's sessions are sent over the network"),
    _Flow((Origin.DOWNLOAD, Origin.FETCHED), (Sink.CODE, Sink.SHELL), downloads.RULE, "A download is run as code"),
    _Flow((Origin.DOWNLOAD,), (Sink.OBJECTS,), downloads.RULE, "A download is unpickled, which runs what it says"),
    _Flow(
        (Origin.FETCHED,), (Sink.OBJECTS,), downloads.RULE, "A download is unpickled, which runs what it says",
        Severity.WARNING,
    ),
    _Flow(
        (Origin.SETTINGS_PATH,), (Sink.FILE,), persistence.RULE, "The agent's own settings or memory are changed",
        Severity.WARNING,
    ),
    _Flow((Origin.LOGIN_KEYS_PATH,), (Sink.FILE,), persistence.RULE, "A login key is added"),
    _Flow((Origin.WALLET,), (Sink.CLIPBOARD,), exfiltration.RULE, "A wallet's address replaces what was copied"),
)  # fmt: skip
_BY_FLOW: Final = {(origin, sink): flow for flow in _FLOWS for origin in flow.origins for sink in flow.sinks}


class Code(NamedTuple):
    """A piece of Python, and where it starts in its file."""

    start: int
    text: bytes


def code_in(page: Page) -> Iterator[Code]:
    """The Python of a file that reads something valuable and also sends, runs or writes."""
    for code in _pieces(page):
        lower = code.text.lower()
        if _WORTH.search(lower) and _ARRIVES.search(lower):
            yield code


def find(code: Code) -> Iterator[Hit]:
    if len(code.text) > MAX_CODE:
        says = f"The code has {len(code.text):,} bytes; what it does with data is not followed beyond {MAX_CODE:,}"
        yield Hit(rule=obfuscation.RULE, severity=Severity.WARNING, says=says, position=code.start)
        return
    tree = tree_of(dedent(code.text.decode(errors="replace")))
    if tree is None:
        return
    lower = code.text.lower()
    lines = [code.start, *(code.start + match.end() for match in re.finditer(rb"\n", code.text))]
    for arrival in Flows().read(tree):
        hit = _hit(arrival, lower, lines)
        if hit is not None:
            yield hit


def _pieces(page: Page) -> Iterator[Code]:
    text = page.text
    if page.form is Form.CODE and (PurePosixPath(page.path).suffix.lower() in _PYTHON or _runs_python(text)):
        yield Code(0, text)
    elif page.form is Form.MARKDOWN:
        for span in page.blocks:
            opening, _, code = text[span.start : span.end].partition(b"\n")
            if opening.strip(b"`~ >\t").lower().startswith((b"python", b"py")) and code:
                body, _, closing = code.rstrip().rpartition(b"\n")
                yield Code(span.start + len(opening) + 1, code if closing.strip(b"`~ >\t") else body + b"\n")


def _runs_python(text: bytes) -> bool:
    return text.startswith(b"#!") and b"python" in text.partition(b"\n")[0]


def _hit(arrival: Arrival, lower: bytes, lines: list[int]) -> Hit | None:
    position = lines[min(arrival.line, len(lines)) - 1]
    end = position + 1
    if arrival.sink is None:
        severity = Severity.ERROR if arrival.name.lower() in DANGEROUS else Severity.WARNING
        says = "A function is named in pieces"
        return Hit(rule=obfuscation.RULE, severity=severity, says=says, position=position, end=end)
    flow = _BY_FLOW.get((Origin(arrival.origin), arrival.sink))
    if flow is None:
        return None
    severity = flow.severity
    if Origin.SETTINGS_PATH in flow.origins and _PLANTED.search(lower):
        severity = Severity.ERROR
    return Hit(rule=flow.rule, severity=severity, says=flow.says, position=position, end=end)
