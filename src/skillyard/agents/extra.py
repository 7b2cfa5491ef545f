"""The frameworks that an extra of this package installs."""

from typing import Final

EXTRA: Final = "agents"


def missing_extra(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """The same error, with the command that installs the module."""
    return ModuleNotFoundError(
        f"There is no module {error.name!r} here. Install it: pip install 'skillyard[{EXTRA}]'",
        name=error.name,
        path=error.path,
    )
