"""What the toolsets are called, and which of them a client asked for."""

from typing import Final

from skillyard.errors import UsageError

SKILLS: Final = "skills"
OF_YARDS: Final = ("registry", "sandbox", "releases", "learning")
TOOLSETS: Final = (SKILLS, *OF_YARDS)
DEFAULT: Final = (SKILLS,)
ALL: Final = "all"
_SHOWN: Final = 100


def chosen_toolsets(text: str | None) -> tuple[str, ...]:
    """The toolsets that a list with commas names, each once; without any, the default."""
    names = list(dict.fromkeys(name for part in (text or "").split(",") if (name := part.strip().lower())))
    if not names:
        return DEFAULT
    if ALL in names:
        return TOOLSETS
    unknown = next((name for name in names if name not in TOOLSETS), None)
    if unknown is not None:
        raise UsageError(
            f"There is no toolset {unknown[:_SHOWN]!r}.",
            hint=f"Choose of: {', '.join(TOOLSETS)}; or {ALL}.",
            details={"field": "toolsets", "value": unknown[:_SHOWN]},
        )
    return tuple(names)
