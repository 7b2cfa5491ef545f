"""The attempts as one program, which needs no file and nothing of Skillyard where it runs."""

from functools import cache
from pathlib import Path
from typing import Final

_PACKAGE: Final = "skillyard.sandbox.escapes"
_MODULES: Final = ("ground", "files", "processes", "kernel", "network", "bounds", "run")
_LOADER: Final = """\
import sys, types
def load(name, source):
    module = types.ModuleType(name)
    module.__path__ = []
    sys.modules[name] = module
    exec(compile(source, name, "exec"), module.__dict__)
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)
for name, source in SOURCES.items():
    load(name, source)
sys.modules[PACKAGE + ".run"].main(TOLD)
"""


def program(told: str) -> bytes:
    """Python source that makes the attempts that it is told of: in its text, as arguments can be seen."""
    return f"PACKAGE = {_PACKAGE!r}\nSOURCES = {_sources()!r}\nTOLD = {told!r}\n{_LOADER}".encode()


@cache
def _sources() -> dict[str, str]:
    parents = _PACKAGE.split(".")
    empty = {".".join(parents[: n + 1]): "" for n in range(len(parents))}
    folder = Path(__file__).parent
    return empty | {f"{_PACKAGE}.{name}": (folder / f"{name}.py").read_text(encoding="utf-8") for name in _MODULES}
