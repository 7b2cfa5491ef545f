"""Importing a lot at once, and no more than is needed."""

import gc
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from types import ModuleType


@contextmanager
def uncollected() -> Generator[None]:
    """Looks for no garbage where there is none: doing so takes a tenth of the time of large imports."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def begin_late(*packages: str) -> None:
    """Have packages begin when a name of their own is first asked for, not when a module within them is imported.

    A package whose `__init__` gathers names from all its modules costs all of them to whoever needs one. Those that
    were imported before, or are not there, stay as they are.
    """
    for name in packages:
        if name not in sys.modules and (spec := find_spec(name)) is not None:
            package = sys.modules[name] = _late(spec)
            outer, _, inner = name.rpartition(".")
            if outer:
                setattr(sys.modules[outer], inner, package)


def _late(spec: ModuleSpec) -> ModuleType:
    """A package that has not begun: it knows where its modules are."""
    package = module_from_spec(spec)
    names = vars(package)
    beginning = threading.RLock()  # it asks for names of its own while it begins
    has_begun = False

    def begin(name: str) -> object:
        nonlocal has_begun
        with beginning:
            if not has_begun and spec.loader is not None:
                has_begun = True
                spec.loader.exec_module(package)
        if name in names:
            return names[name]
        raise AttributeError(f"module {spec.name!r} has no attribute {name!r}", name=name, obj=package)

    names["__getattr__"] = begin
    return package
