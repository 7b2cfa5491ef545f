"""Holding a version against the policy of its namespace."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, Final

from skillyard.errors import InputError
from skillyard.history.entries import Why
from skillyard.identity.directory import Namespace
from skillyard.identity.namespaces import require_role
from skillyard.identity.policy import Policy, ScanRule
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.registry.drafts import Draft
from skillyard.registry.skills import Version
from skillyard.skill.bundle import SKILL_FILE
from skillyard.skill.document import parse
from skillyard.skill.models import Finding, Profile, Severity, has_errors
from skillyard.skill.scan import SCAN_CODES


def require_policy(
    principal: Principal, namespace: Namespace, draft: Draft, why: Why, *, waiver: str | None = None
) -> str | None:
    """Refuses a version that breaks a rule of its namespace; every broken rule is named.

    People who may change the policy can accept what the scan found, with a reason. Returns the reason that the version
    keeps; `waiver` is the earlier reason for the same files.
    """
    policy = namespace.policy
    problems = [*_broken_sizes(policy, draft), *_broken_profile(policy, draft)]
    findings = [finding for finding in _scan_findings(draft) if policy.refuses(finding.code, finding.severity)]
    waivers = [f"{code}: {reason}" for code, reason in policy.waive.items() if _is_serious(policy, draft, code)]
    if waiver is not None:
        waivers, findings = [waiver], []
    elif why.allow_risky and (findings or has_errors(_scan_findings(draft))):
        _require_waiver(principal, namespace, why)
        waivers, findings = [*waivers, why.reason], []
    problems.extend(f"{finding.file}:{finding.line}: {finding.message}" for finding in findings)
    if problems:
        more = f" ({len(problems) - 1} more.)" if len(problems) > 1 else ""
        raise PolicyError(
            f"The policy of {namespace.name!r} refuses this version: {problems[0]}{more}",
            hint=_WAIVER_HINT if findings else _HINT,
            details={
                "namespace": namespace.name,
                "problems": problems,
                "findings": [finding.as_dict() for finding in findings],
            },
        )
    return "; ".join(waivers) or None


def require_learned(
    principal: Principal, namespace: Namespace, draft: Draft, why: Why, *, waiver: str | None = None
) -> None:
    """The same for a skill that nobody wrote: what the scan calls serious is refused even where it only informs."""
    if namespace.policy.scan is ScanRule.INFORM:
        namespace = replace(namespace, policy=replace(namespace.policy, scan=ScanRule.REFUSE_ERRORS))
    require_policy(principal, namespace, draft, why, waiver=waiver)


def waiver_of(versions: Iterable[Version], digest: str) -> str | None:
    """The reason for which serious findings in these files were accepted before."""
    return next((one.waiver for one in versions if one.digest == digest and one.waiver), None)


def ships_draft(policy: Policy, findings: Iterable[Mapping[str, Any]], *, has_versions: bool) -> bool:
    """Whether a working copy is shipped: where nothing was ever published, and the namespace would refuse nothing."""
    if has_versions or replace(policy, scan=ScanRule.REFUSE_ERRORS, waive={}) != Policy():
        return False
    return policy.scan is not ScanRule.REFUSE_WARNINGS and not any(
        one["code"] in SCAN_CODES and policy.refuses(one["code"], Severity(one["severity"])) for one in findings
    )


def _require_waiver(principal: Principal, namespace: Namespace, why: Why) -> None:
    if not why.reason.strip():
        raise InputError(
            "Accepting serious findings of the scan needs a reason.",
            hint="Read the findings, and say in 'reason' why they do no harm.",
            details={"field": "reason"},
        )
    require_role(principal, namespace, Role.ADMIN, Scope.PUBLISH)


def _scan_findings(draft: Draft) -> list[Finding]:
    return [finding for finding in draft.findings if finding.code in SCAN_CODES]


def _is_serious(policy: Policy, draft: Draft, code: str) -> bool:
    """Whether a rule would keep the draft out, were it not waived."""
    bare = replace(policy, waive={})
    return any(bare.refuses(code, finding.severity) for finding in _scan_findings(draft) if finding.code == code)


_HINT: Final = "Fix what is named, or ask an administrator of the namespace to change its policy."
_WAIVER_HINT: Final = (
    "Fix what is named. An administrator of the namespace can accept it: allow_risky=true with a 'reason' "
    "(--allow-risky -m REASON)."
)


class PolicyError(InputError):
    """A version that can be read, but that its namespace does not take."""

    code = "policy_refused"


def _broken_sizes(policy: Policy, draft: Draft) -> list[str]:
    bundle = draft.bundle
    problems: list[str] = []
    if len(bundle) > policy.max_files:
        problems.append(f"It has {len(bundle)} files; at most {policy.max_files} are allowed.")
    if bundle.size > policy.max_bytes:
        problems.append(f"It has {bundle.size} bytes; at most {policy.max_bytes} are allowed.")
    if policy.file_types:
        allowed = ", ".join(policy.file_types)
        problems.extend(
            f"The file {file.path!r} is of no allowed type ({allowed})."
            for file in bundle
            if PurePosixPath(file.path).suffix.lower() not in policy.file_types
        )
    return problems


def _broken_profile(policy: Policy, draft: Draft) -> list[str]:
    file = draft.bundle.get(SKILL_FILE)
    if policy.profile is Profile.LENIENT or file is None:
        return []
    findings = parse(file.data, folder=draft.name, profile=policy.profile).findings
    return (
        [finding.message for finding in findings if finding.severity is Severity.ERROR] if has_errors(findings) else []
    )
