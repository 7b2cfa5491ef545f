import ast
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from skillyard.skill.python_trees import tree_of


@pytest.mark.parametrize("code", ["if", "x = '\0", "a\0b", "(" * 5000, "-" * 100_000 + "1"])
def test_what_cannot_be_read_is_none(code):
    assert tree_of(code) is None


def test_what_is_said_badly_is_read_without_a_word():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(tree_of("x = 1 is 1\ny = '\\d'\n"), ast.Module)


def test_threads_do_not_get_in_each_others_way():
    codes = [f"f({'[' * depth}{depth}{']' * depth})\n" * 20 for depth in range(1, 60)]
    with ThreadPoolExecutor(8) as pool:
        dumped = list(pool.map(lambda code: ast.dump(tree_of(code)), codes))
    assert dumped == [ast.dump(ast.parse(code)) for code in codes]
