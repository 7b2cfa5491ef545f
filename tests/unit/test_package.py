import subprocess
import sys

import pytest

import skillyard


@pytest.mark.parametrize("name", skillyard.__all__)
def test_every_exported_name_is_there(name):
    assert getattr(skillyard, name).__name__ == name
    assert name in dir(skillyard)


def test_the_exports_stay_few():
    assert len(skillyard.__all__) <= 10


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        skillyard.nothing  # noqa: B018


def test_importing_the_package_imports_no_room():
    code = "import sys, skillyard; print([name for name in sys.modules if name.startswith('skillyard.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
