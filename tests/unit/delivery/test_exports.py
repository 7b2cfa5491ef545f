from importlib.util import find_spec

import pytest

import skillyard.delivery


@pytest.mark.parametrize("name", skillyard.delivery.__all__)
def test_no_exported_name_hides_the_module_of_that_name(name: str):
    assert find_spec(f"skillyard.delivery.{name}") is None
