"""Who may see a skill, as requests say it: by `is_public`, or more exactly by `visibility`."""

from skillyard.registry.skills import Visibility


def contradiction(is_public: bool | None, visibility: Visibility | None) -> str | None:
    """What is wrong when both are given and do not agree."""
    if is_public is None or visibility is None or is_public == shows(visibility):
        return None
    return f"'is_public' is {str(is_public).lower()}, but 'visibility' is '{visibility}'"


def wanted(is_public: bool | None, visibility: Visibility | None, present: Visibility | None) -> Visibility | None:
    """The visibility that is asked for; None leaves it as it is. What is shown to the world is public, too."""
    if visibility is not None or is_public is None:
        return visibility
    if not is_public:
        return Visibility.PRIVATE
    return present if present is not None and shows(present) else Visibility.PUBLIC


def shows(visibility: Visibility) -> bool:
    return visibility is not Visibility.PRIVATE
