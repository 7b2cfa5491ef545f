"""Holding a version against the policy of its namespace."""

from pathlib import PurePosixPath

from skillyard.errors import InputError
from skillyard.identity.directory import Namespace
from skillyard.identity.policy import Policy, ScanRule
from skillyard.registry.drafts import Draft
from skillyard.skill.bundle import SKILL_FILE
from skillyard.skill.document import parse
from skillyard.skill.models import Finding, Profile, Severity, has_errors
from skillyard.skill.scan import SCAN_CODES


def require_policy(namespace: Namespace, draft: Draft) -> None:
    """Refuses a version that breaks a rule of its namespace; every broken rule is named."""
    problems = [*_broken_sizes(namespace.policy, draft), *_broken_profile(namespace.policy, draft)]
    findings = _broken_scan(namespace.policy, draft)
    problems.extend(f"{finding.file}:{finding.line}: {finding.message}" for finding in findings)
    if problems:
        more = f" ({len(problems) - 1} more.)" if len(problems) > 1 else ""
        raise PolicyError(
            f"The policy of {namespace.name!r} refuses this version: {problems[0]}{more}",
            hint="Fix what is named, or ask an administrator of the namespace to change its policy.",
            details={
                "namespace": namespace.name,
                "problems": problems,
                "findings": [finding.as_dict() for finding in findings],
            },
        )


def ships_draft(policy: Policy, *, has_versions: bool) -> bool:
    """Whether a working copy is shipped: where nothing was ever published, and the namespace demands nothing."""
    return not has_versions and policy == Policy()


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


def _broken_scan(policy: Policy, draft: Draft) -> list[Finding]:
    if policy.scan is ScanRule.INFORM:
        return []
    refused = {Severity.ERROR} if policy.scan is ScanRule.REFUSE_ERRORS else {Severity.ERROR, Severity.WARNING}
    return [finding for finding in draft.findings if finding.code in SCAN_CODES and finding.severity in refused]
