import os

import pytest

from skillyard.errors import UnavailableError, UsageError
from skillyard.sandbox.local.uids import DEFAULT_UIDS, Users


def test_each_cargo_of_a_root_server_gets_a_user_that_has_none():
    users = Users(uids=range(10, 13))
    assert users.choose([10, 12, 0]) == 11
    assert users.choose([10, 0]) in {11, 12}


def test_two_yards_of_one_machine_hardly_ever_choose_the_same():
    users = Users(uids=DEFAULT_UIDS)
    assert len({users.choose([]) for _ in range(10)}) > 5


def test_when_all_users_are_taken_it_says_what_to_do():
    with pytest.raises(UnavailableError) as refused:
        Users(uids=range(10, 12)).choose([10, 11])
    assert "sandbox_uids" in refused.value.hint


def test_without_root_there_is_only_oneself():
    users = Users(uids=None)
    assert users.choose([1, 2, 3]) is None
    assert users.owns(os.geteuid())
    assert not users.owns(os.geteuid() + 1)


@pytest.mark.parametrize("uids", [range(10), range(5, 5), range(1, 2**32), range(1, 9, 2)])
def test_a_range_with_root_or_nobody_in_it_is_refused(uids):
    with pytest.raises(UsageError):
        Users.of(uids)


def test_the_range_counts_for_root_only(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert Users.of(DEFAULT_UIDS).uids is None
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert Users.of(DEFAULT_UIDS).uids == DEFAULT_UIDS
