"""What a browser inside a sandbox is made of: the system's Chromium, and the packages that drive it."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

PACKAGES: Final = "/opt/skillyard/browser"
"""Where the packages are inside."""
_NEEDED: Final = ("playwright", "greenlet")
_USED: Final = ("pyee", "typing_extensions")
"""By some versions of those."""
_PROGRAMS: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""As inside, the shell first."""
_SYSTEM: Final = "/usr"


@dataclass(frozen=True, kw_only=True)
class BrowserParts:
    """Folders and files to show inside, and the variables that name them."""

    binds: tuple[tuple[Path, str], ...]
    """Where each is on the host, and where it is to be."""
    variables: Mapping[str, str]

    @classmethod
    def find(cls, chromium: Path | None = None) -> "BrowserParts | None":
        """Those of this machine: Chromium where a setting says, else the first on the PATH; None without one part."""
        program = chromium or chromium_of_machine()
        packages = [place for name in (*_NEEDED, *_USED) if (place := _place(name))]
        if program is None or not program.exists() or any(_place(name) is None for name in _NEEDED):
            return None
        binds = [(place, f"{PACKAGES}/{place.name}") for place in packages]
        real = program.resolve()
        if not real.is_relative_to(_SYSTEM):
            binds.append((real.parent, str(real.parent)))
            program = real
        variables = {"SKILLYARD_CHROMIUM": str(program), "SKILLYARD_BROWSER_PACKAGES": PACKAGES}
        return cls(binds=tuple(binds), variables=variables)


def chromium_of_machine() -> Path | None:
    """The first Chromium on the PATH."""
    return next((Path(found) for name in _PROGRAMS if (found := shutil.which(name))), None)


def _place(name: str) -> Path | None:
    """The folder of a package, or the file of a module; found without importing it."""
    found = find_spec(name)
    if found is None or found.origin is None:
        return None
    origin = Path(found.origin)
    return origin.parent if found.submodule_search_locations else origin
