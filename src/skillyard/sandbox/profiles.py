"""Profiles: what a sandbox of a kind can do and how much it may use, by a name."""

from dataclasses import dataclass, field, fields
from typing import Final

from skillyard.errors import InputError
from skillyard.sandbox.capabilities import Ability
from skillyard.sandbox.place import MIB, Limits

DEFAULT_PROFILE: Final = "python-default"
MAX_SIZE_MB: Final = 65_536
"""Of a cargo."""
HIGHEST: Final = Limits(
    memory_bytes=64 * 1024 * MIB,
    processes=4096,
    open_files=65_536,
    file_bytes=MAX_SIZE_MB * MIB,
    disk_bytes=MAX_SIZE_MB * MIB,
    tmp_bytes=16 * 1024 * MIB,
    cpu_seconds=86_400,
    output_bytes=64 * MIB,
)
"""The highest limits that a yard can allow."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A kind of sandbox."""

    id: str
    description: str
    abilities: tuple[Ability, ...]
    limits: Limits = field(default_factory=Limits)
    cpus: float = 1.0

    @property
    def memory(self) -> str:
        """The limit as people write it."""
        return f"{self.limits.memory_bytes // MIB}m"


_FILES_TOO: Final = (Ability.PYTHON, Ability.SHELL, Ability.FILESYSTEM)
PROFILES: Final = {
    profile.id: profile
    for profile in (
        Profile(id=DEFAULT_PROFILE, description="Python that remembers, a shell, and files.", abilities=_FILES_TOO),
        Profile(
            id="browser-python",
            description="A browser beside Python, a shell, and files.",
            abilities=(*_FILES_TOO, Ability.BROWSER),
            limits=Limits(memory_bytes=2048 * MIB, processes=512, tmp_bytes=512 * MIB),
            cpus=2.0,
        ),
        Profile(
            id="shell-default",
            description="A shell and files, without Python that remembers.",
            abilities=(Ability.SHELL, Ability.FILESYSTEM),
        ),
        Profile(id="python-only", description="Nothing but Python that remembers.", abilities=(Ability.PYTHON,)),
    )
}


def profile_named(name: str) -> Profile:
    """The profile of that name; which there are is said where there is none."""
    if name not in PROFILES:
        raise InputError(
            f"There is no profile {name!r}.",
            hint=f"Use one of: {', '.join(PROFILES)}.",
            details={"field": "profile", "value": name, "known": list(PROFILES)},
        )
    return PROFILES[name]


def limits_of(profile: Profile, wanted: dict[str, int], ceilings: Limits = HIGHEST) -> Limits:
    """The limits of a profile with some of them set otherwise, within what the yard allows."""
    names = [each.name for each in fields(Limits)]
    values: dict[str, int] = {name: min(getattr(profile.limits, name), getattr(ceilings, name)) for name in names}
    for name, value in wanted.items():
        if name not in values:
            raise InputError(
                f"There is no limit {name!r}.",
                hint=f"Set some of: {', '.join(names)}.",
                details={"field": f"limits.{name}", "known": names},
            )
        most = getattr(ceilings, name)
        if not 1 <= value <= most:
            raise InputError(
                f"The limit {name!r} cannot be {value}.",
                hint=f"Use 1 to {most}: more is not allowed here.",
                details={"field": f"limits.{name}", "value": value, "limit": most},
            )
        values[name] = value
    return Limits(**values)
