"""What a namespace demands of everything published in it."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any, Final, Self, TypeVar, cast

from skillyard.errors import InputError
from skillyard.skill.limits import MAX_BUNDLE_BYTES, MAX_BUNDLE_FILES
from skillyard.skill.models import Profile, Severity
from skillyard.skill.scan import SCAN_CODES

Choice = TypeVar("Choice", bound=StrEnum)
MAX_REASON: Final = 1_000


class ScanRule(StrEnum):
    """What a finding of the scan does to a version."""

    INFORM = "inform"
    REFUSE_ERRORS = "refuse-errors"
    REFUSE_WARNINGS = "refuse-warnings"


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """The rules of one namespace; by default, any readable skill without serious findings may be published."""

    profile: Profile = Profile.LENIENT
    scan: ScanRule = ScanRule.REFUSE_ERRORS
    waive: Mapping[str, str] = field(default_factory=dict[str, str])
    """Rules of the scan whose findings refuse nothing here, each with the reason."""
    file_types: tuple[str, ...] = ()
    """The endings that files may have, such as `.md`; none means any."""
    max_files: int = MAX_BUNDLE_FILES
    max_bytes: int = MAX_BUNDLE_BYTES
    review: bool = False
    """Whether someone else than its publisher must approve a version before it is shipped."""

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """The policy that these values mean; the first wrong one is named."""
        known = {field.name for field in fields(cls)}
        for key in values:
            if key not in known:
                raise _wrong(key, values[key], f"The rules are {', '.join(sorted(known))}.")
        return cls(
            profile=_choice(Profile, values, "profile", Profile.LENIENT),
            scan=_choice(ScanRule, values, "scan", ScanRule.REFUSE_ERRORS),
            waive=_reasons(values.get("waive", {})),
            file_types=_endings(values.get("file_types", ())),
            max_files=_count(values, "max_files", MAX_BUNDLE_FILES),
            max_bytes=_count(values, "max_bytes", MAX_BUNDLE_BYTES),
            review=_truth(values, "review"),
        )

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "file_types": list(self.file_types)}

    def refuses(self, code: str, severity: Severity) -> bool:
        """Whether a finding of the scan keeps a version out."""
        if self.scan is ScanRule.INFORM or code in self.waive:
            return False
        return severity is Severity.ERROR or (self.scan is ScanRule.REFUSE_WARNINGS and severity is Severity.WARNING)


def _choice(kind: type[Choice], values: Mapping[str, Any], key: str, default: Choice) -> Choice:
    given = values.get(key, default)
    try:
        return kind(given)
    except ValueError:
        raise _wrong(key, given, f"Use one of: {', '.join(kind)}.") from None


def _reasons(given: object) -> dict[str, str]:
    hint = 'Name rules of the scan, each with its reason: {"scan-archive": "Our test data is packed."}.'
    if not isinstance(given, Mapping):
        raise _wrong("waive", given, hint)
    reasons: dict[str, str] = {}
    for code, reason in cast("Mapping[object, object]", given).items():
        if code not in SCAN_CODES or not isinstance(reason, str) or not 0 < len(reason.strip()) <= MAX_REASON:
            raise _wrong("waive", {str(code): reason}, hint)
        reasons[str(code)] = reason.strip()
    return dict(sorted(reasons.items()))


def _endings(given: object) -> tuple[str, ...]:
    hint = 'Use a list of endings, such as [".md", ".py"].'
    if not isinstance(given, list | tuple):
        raise _wrong("file_types", given, hint)
    endings: set[str] = set()
    for ending in cast("Iterable[object]", given):
        if not isinstance(ending, str) or not ending.startswith(".") or "/" in ending:
            raise _wrong("file_types", ending, hint)
        endings.add(ending.lower())
    return tuple(sorted(endings))


def _count(values: Mapping[str, Any], key: str, most: int) -> int:
    given = values.get(key, most)
    if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= most:
        raise _wrong(key, given, f"Use a whole number from 1 to {most}.")
    return given


def _truth(values: Mapping[str, Any], key: str) -> bool:
    given = values.get(key, False)
    if not isinstance(given, bool):
        raise _wrong(key, given, "Use true or false.")
    return given


def _wrong(key: str, value: object, hint: str) -> InputError:
    return InputError(
        f"The policy has a wrong {key!r}: {value!r}.", hint=hint, details={"field": f"policy.{key}", "value": value}
    )
