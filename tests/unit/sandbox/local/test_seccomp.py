"""The filters, run by a small interpreter of the kernel's instructions on both architectures."""

import errno
import struct

import pytest

from skillyard.errors import UnavailableError
from skillyard.sandbox.local import syscalls
from skillyard.sandbox.local.seccomp import KERNEL, NAMESPACED, UNNAMESPACED, UNNAMESPACED_SAME_USER, assemble
from skillyard.sandbox.local.syscalls import AARCH64, NUMBERS, X86_64

ALLOWED, ASKED, KILLED = "allowed", "asked", "killed"
BOTH = pytest.mark.parametrize("architecture", [X86_64, AARCH64], ids=lambda each: each.name)


def decide(program: bytes, audit: int, number: int, *arguments: int):
    """What the kernel would do: allow, ask, kill, or the number of an error."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=IIQ6Q", number, audit, 0, *(value & (2**64 - 1) for value in padded))
    code = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    register, at = 0, 0
    while True:
        kind, matched, otherwise, value = code[at]
        at += 1
        if kind == 0x20:
            register = struct.unpack_from("=I", data, value)[0]
        elif kind == 0x54:
            register &= value
        elif kind in {0x15, 0x25}:
            at += matched if (register == value if kind == 0x15 else register > value) else otherwise
        else:
            assert kind == 0x06
            actions = {0x7FFF0000: ALLOWED, 0x7FC00000: ASKED, 0x80000000: KILLED}
            return actions.get(value) or value - 0x00050000


class Filter:
    def __init__(self, rules, architecture):
        self._program = assemble(rules, architecture)
        self._architecture = architecture

    def __call__(self, call, *arguments):
        number = self._architecture.number(call) if isinstance(call, str) else call
        return decide(self._program, self._architecture.audit, number, *arguments)


@BOTH
def test_what_no_rule_names_is_allowed(architecture):
    decision = Filter(NAMESPACED, architecture)
    named = {NUMBERS[rule.call][architecture.column] for rule in NAMESPACED}
    for number in set(range(457)) - named:
        assert decision(number) == ALLOWED


@BOTH
@pytest.mark.parametrize("rule", [rule for rule in KERNEL if not rule.when], ids=lambda rule: rule.call)
def test_a_call_that_is_denied_without_condition_gets_its_error(architecture, rule):
    if architecture.number(rule.call) is not None:
        for rules in (NAMESPACED, UNNAMESPACED, UNNAMESPACED_SAME_USER):
            assert Filter(rules, architecture)(rule.call, 1, 2, 3) == rule.error


@BOTH
def test_calls_newer_than_the_rules_do_not_exist(architecture):
    decision = Filter(NAMESPACED, architecture)
    assert [decision(number) for number in (457, 470, 2**31)] == [errno.ENOSYS] * 3


def test_the_second_table_of_calls_does_not_exist():
    assert Filter(NAMESPACED, X86_64)(0x40000000 + X86_64.number("ptrace")) == errno.ENOSYS


@pytest.mark.parametrize("audit", [0x40000003, 0xC00000B7, 0])
def test_a_call_of_another_architecture_ends_the_process(audit):
    assert decide(assemble(NAMESPACED, X86_64), audit, 0) == KILLED


@BOTH
def test_processes_and_threads_can_be_made_but_no_namespaces(architecture):
    decision = Filter(NAMESPACED, architecture)
    threads, fork = 0x3D0F00, 0x01200011
    assert decision("clone", threads) == decision("clone", fork) == ALLOWED
    for flag in (0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert decision("clone", fork | flag) == errno.EPERM
    assert decision("clone3", 0, 0) == errno.ENOSYS


@BOTH
def test_only_the_common_sockets_can_be_opened_with_a_network_of_its_own(architecture):
    decision = Filter(NAMESPACED, architecture)
    nonblocking = 0o4000
    for family, kind, protocol in [(1, 1, 0), (1, 2, 0), (1, 5, 0), (2, 1, 6), (10, 2, 17), (16, 3, 0)]:
        assert decision("socket", family, kind | nonblocking, protocol) == ALLOWED
    for family in (2, 10):
        assert decision("socket", family, 3 | nonblocking, 1) == errno.EPERM
    assert decision("socket", 16, 3, 12) == errno.EPERM
    for family in (17, 38, 40, 44, 0):
        assert decision("socket", family, 1, 0) == errno.EAFNOSUPPORT
    assert decision("socket", 40 + 2**32, 1, 0) == errno.EAFNOSUPPORT


@BOTH
def test_without_a_network_of_its_own_there_are_only_pairs_that_stay_pairs(architecture):
    decision = Filter(UNNAMESPACED, architecture)
    assert decision("socket", 1, 1, 0) == decision("socket", 2, 1, 0) == errno.EPERM
    assert decision("socketpair", 1, 1 | 0o2000000, 0) == decision("socketpair", 1, 5, 0) == ALLOWED
    assert decision("socketpair", 1, 2, 0) == decision("socketpair", 1, 3, 0) == errno.EPERM


@BOTH
def test_limits_and_priorities_can_be_set_for_itself_only(architecture):
    decision = Filter(UNNAMESPACED, architecture)
    for call in ("prlimit64", "sched_setaffinity"):
        assert decision(call, 0) == ALLOWED
        assert decision(call, 4711) == errno.EPERM
    assert decision("setpriority", 0, 0, 5) == ALLOWED
    assert decision("setpriority", 0, 4711, 5) == decision("setpriority", 2, 0, 5) == errno.EPERM


@BOTH
def test_a_terminal_cannot_be_typed_into_whatever_is_in_the_upper_half(architecture):
    decision = Filter(NAMESPACED, architecture)
    assert decision("ioctl", 0, 0x5401) == ALLOWED
    for request in (0x5412, 0x541C, 0x5423, 0x5412 + 2**32):
        assert decision("ioctl", 0, request) == errno.EPERM


@BOTH
def test_the_personality_can_be_asked_for_but_not_changed(architecture):
    decision = Filter(NAMESPACED, architecture)
    assert decision("personality", 0) == decision("personality", 0xFFFFFFFF) == ALLOWED
    assert decision("personality", 0x0040000) == errno.EPERM


@BOTH
def test_modes_and_times_by_path_are_asked_for_outside_when_the_user_is_the_servers(architecture):
    decision = Filter(UNNAMESPACED_SAME_USER, architecture)
    path = 0x7F0000001000
    assert decision("fchmodat", -100, path, 0o600) == decision("fchmodat2", -100, path) == ASKED
    assert decision("utimensat", -100, path) == decision("utimensat", -100, 0x100000000) == ASKED
    assert decision("utimensat", 3, 0) == ALLOWED
    assert decision("fchownat", -100, path) == errno.EPERM
    assert Filter(UNNAMESPACED, architecture)("fchmodat", -100, path, 0o600) == ALLOWED


def test_an_architecture_without_rules_is_refused_with_a_way_on(monkeypatch):
    monkeypatch.setattr(syscalls.platform, "machine", lambda: "riscv64")
    with pytest.raises(UnavailableError) as refused:
        syscalls.this_architecture()
    assert "riscv64" in refused.value.message
    assert "DOCKER" in refused.value.hint
