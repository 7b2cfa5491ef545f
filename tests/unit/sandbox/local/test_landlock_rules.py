import pytest

from skillyard.sandbox.local.landlock_rules import Landlock, landlock_here

ALL_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16, 6: 16, 7: 16}


@pytest.mark.parametrize(("version", "rights"), ALL_RIGHTS.items())
def test_every_right_that_the_kernel_knows_is_closed(version, rights):
    rules = Landlock(version=version).rules({})
    assert rules.handled[0] == 2**rights - 1
    assert len(rules.handled) == 1 + (version >= 4) + (version >= 6)


@pytest.mark.parametrize("version", ALL_RIGHTS)
def test_only_what_is_given_can_be_written_and_nothing_asks_for_unknown_rights(version):
    landlock = Landlock(version=version)
    rules = landlock.rules({"/work": landlock.work})
    writing = 0b10
    written = {path for path, rights in rules.paths if rights & writing and not path.startswith("/dev/")}
    assert written == {"/work"}
    assert all(rights & ~rules.handled[0] == 0 for _, rights in rules.paths)


def test_devices_cannot_be_made_in_the_workspace():
    assert Landlock(version=7).work & (1 << 6 | 1 << 11) == 0


def test_nothing_about_people_or_other_processes_can_be_read():
    opened = {path for path, _ in Landlock(version=7).rules({}).paths}
    assert not opened & {"/", "/etc", "/etc/passwd", "/proc", "/home", "/root", "/var", "/run", "/tmp", "/dev"}


def test_the_kernel_is_asked_for_its_version():
    assert landlock_here().version >= 0
