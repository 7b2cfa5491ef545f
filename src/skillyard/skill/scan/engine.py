"""Running every rule over every byte of a bundle, within bounds."""

from dataclasses import replace
from typing import Final

from skillyard.skill.bundle import Bundle
from skillyard.skill.models import Finding, Severity
from skillyard.skill.scan.catalogue import DETECTORS, INCOMPLETE, anchors
from skillyard.skill.scan.context import is_about_security, severity, soften
from skillyard.skill.scan.page import Page, read_page
from skillyard.skill.scan.report import findings_of
from skillyard.skill.scan.rule import Hit, Pattern, line_end
from skillyard.skill.scan.rules import carried, exfiltration, python_code

MAX_WORK: Final = 600_000
"""What a bundle may cost, in units of a microsecond or two. Honest bundles of the largest size stay below."""
_SEE: Final = 4
_TRY: Final = 5
_LOOK_AROUND: Final = 10
_JUDGE: Final = 20
_FOLLOWED: Final = 3
"""Bytes of followed Python that cost one unit of work."""


def scan(bundle: Bundle) -> tuple[Finding, ...]:
    """Everything in a bundle that looks hidden, hostile or leaked, by file and line.

    It informs: an honest skill may have findings, and a policy decides what they mean.
    An error is nearly surely hostile or a leak, a warning deserves a look, an info is worth knowing.
    """
    security_topic = is_about_security(bundle)
    findings: list[Finding] = []
    work = MAX_WORK
    for file in bundle:
        page = read_page(file)
        hits, met, work = _matched(page, security_topic=security_topic, work=work)
        followed = [*carried.find(page)] if exfiltration.CARRIED in met else []
        for code in python_code.code_in(page) if work > 0 else ():
            work -= len(code.text) // _FOLLOWED
            followed.extend(python_code.find(code))
        for hit in followed:
            found = soften(page, hit.severity, hit.position, security_topic=security_topic)
            hits.extend([replace(hit, severity=found)] if found else [])
        findings.extend(findings_of(page.path, page.text, hits))
        for detect in DETECTORS:
            findings.extend(findings_of(page.path, page.utf8, detect(page)))
        if work <= 0:
            findings.extend(findings_of(page.path, b"", [_STOPPED]))
            break
    return tuple(sorted(findings, key=lambda finding: (finding.file, finding.line, finding.code)))


def _matched(page: Page, *, security_topic: bool, work: int) -> tuple[list[Hit], set[Pattern], int]:
    """The patterns' hits in one file, the patterns one of whose literals it has, and the work left for the next."""
    hits: list[Hit] = []
    met: set[Pattern] = set()
    resume: dict[Pattern, int] = {}
    for position, pattern in anchors().candidates(page.lower):
        if work <= 0:
            break
        work -= _SEE
        met.add(pattern)
        if position < resume.get(pattern, 0):
            continue
        work -= _TRY
        text = page.text if pattern.cased else page.lower
        match = pattern.match(text, position)
        if match is None:
            continue
        work -= _LOOK_AROUND
        if not pattern.holds(match):
            continue
        work -= _JUDGE
        resume[pattern] = line_end(text, match.end())
        found = severity(page, pattern, match, security_topic=security_topic)
        if found is not None:
            hits.append(
                Hit(
                    rule=pattern.rule,
                    severity=found,
                    says=pattern.says,
                    position=match.start(),
                    end=match.end(),
                    alone=pattern.firm,
                )
            )
    return hits, met, work


_STOPPED: Final = Hit(
    rule=INCOMPLETE,
    severity=Severity.ERROR,
    position=0,
    says="The scan stopped in this file: there are too many suspicious places",
)
