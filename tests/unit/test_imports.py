import importlib
import sys
import threading

import pytest

from skillyard.imports import begin_late

NAMES = ("yard_late", "yard_late.inner", "yard_late.inner.tools")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that gathers names from within, and one within it that does the same."""
    inner = tmp_path / "yard_late/inner"
    inner.mkdir(parents=True)
    (tmp_path / "yard_late/__init__.py").write_text("from .inner import tool\nfrom . import inner\nBEGAN = True\n")
    (inner / "__init__.py").write_text("from .tools import tool\nBEGAN = True\n")
    (inner / "tools.py").write_text("def tool():\n    return 'used'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "yard_late"
    for name in NAMES:
        sys.modules.pop(name, None)


def test_a_module_is_imported_without_the_packages_it_is_in(package):
    begin_late(package, f"{package}.inner")
    tools = importlib.import_module(f"{package}.inner.tools")
    assert tools.tool() == "used"
    assert all("BEGAN" not in vars(sys.modules[name]) for name in NAMES[:2])


def test_a_package_begins_when_a_name_of_its_own_is_asked_for(package):
    begin_late(package, f"{package}.inner")
    outer = importlib.import_module(package)
    assert outer.tool() == "used"
    assert outer.BEGAN
    assert outer.inner is sys.modules[f"{package}.inner"]
    assert outer.inner.BEGAN


def test_a_name_that_is_not_there_is_missed_as_in_any_package(package):
    begin_late(package)
    with pytest.raises(AttributeError, match="module 'yard_late' has no attribute 'other'"):
        importlib.import_module(package).other  # noqa: B018
    assert not hasattr(importlib.import_module(package), "another")


def test_what_was_imported_before_or_is_not_there_stays_as_it_is(package):
    outer = importlib.import_module(package)
    begin_late(package, "yard_that_is_not_there")
    assert sys.modules[package] is outer
    assert "yard_that_is_not_there" not in sys.modules


def test_whoever_asks_while_it_begins_waits_for_it(package):
    begin_late(package)
    outer = importlib.import_module(package)
    seen = []
    asking = [threading.Thread(target=lambda: seen.append(outer.BEGAN)) for _ in range(8)]
    for each in asking:
        each.start()
    for each in asking:
        each.join()
    assert seen == [True] * 8
