"""What is kept until the next change: made once, made anew after it, and forgotten when there is too much of it."""

import pytest

from skillyard.db.until_changed import UntilChanged

pytestmark = pytest.mark.anyio


class Changes:
    """Stands in for a database: all that is asked of it is the number of its last change."""

    last = 1

    async def number(self):
        return self.last


@pytest.fixture
def changes():
    return Changes()


@pytest.fixture
def values(changes):
    """Makes values of keys that tell how often anything was made."""
    kept, made = UntilChanged(changes, size=2), []

    async def get(key):
        async def make():
            made.append(key)
            return f"{key}{len(made)}"

        return await kept.get(key, make)

    return get


async def test_a_value_is_made_once_until_something_changes(values, changes):
    assert [await values("a"), await values("a")] == ["a1", "a1"]
    changes.last += 1
    assert [await values("a"), await values("a")] == ["a2", "a2"]


async def test_the_one_that_was_not_asked_for_longest_is_forgotten(values):
    assert [await values(key) for key in "abacba"] == ["a1", "b2", "a1", "c3", "b4", "a5"]


async def test_what_changes_while_a_value_is_made_is_noticed(changes):
    kept = UntilChanged(changes, size=2)

    async def make():
        changes.last += 1
        return changes.last

    assert await kept.get("a", make) == 2
    assert await kept.get("a", make) == 3
