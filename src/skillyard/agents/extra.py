"""The frameworks that an extra of this package brings along."""

from typing import Final

EXTRA: Final = "agents"


def missing_extra(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """The same error with what to install."""
    return ModuleNotFoundError(
        f"There is no module {error.name!r} here. Install it: pip install 'skillyard[{EXTRA}]'",
        name=error.name,
        path=error.path,
    )
