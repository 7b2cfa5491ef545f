"""Filters of system calls: rules in a table, assembled into the program that the kernel runs."""

import errno
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from skillyard.sandbox.local.syscalls import LAST_KNOWN, Architecture

_LOAD: Final = 0x20  # BPF_LD | BPF_W | BPF_ABS
_AND: Final = 0x54  # BPF_ALU | BPF_AND | BPF_K
_JUMP_EQUAL: Final = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_JUMP_GREATER: Final = 0x25  # BPF_JMP | BPF_JGT | BPF_K
_RETURN: Final = 0x06  # BPF_RET | BPF_K

_NUMBER: Final = 0  # offsets in struct seccomp_data
_ARCHITECTURE: Final = 4
_ARGUMENTS: Final = 16

_ALLOW: Final = 0x7FFF0000
_ERRNO: Final = 0x00050000
_ASK: Final = 0x7FC00000
_KILL: Final = 0x80000000

_ALL_BITS: Final = 0xFFFFFFFF


@dataclass(frozen=True, kw_only=True)
class Argument:
    """A condition on half of an argument: the low one is all that the kernel looks at in most of those named here."""

    index: int
    value: int
    mask: int = _ALL_BITS
    high: bool = False
    equal: bool = True
    """Whether the masked argument must be the value, or must not."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A call that is answered with an error when all conditions hold."""

    call: str
    when: tuple[Argument, ...] = ()
    error: int = errno.EPERM
    asks: bool = False
    """Whether someone outside does it instead, or refuses it."""


def _denied(*calls: str, error: int = errno.EPERM) -> tuple[Rule, ...]:
    return tuple(Rule(call=call, error=error) for call in calls)


def _is(index: int, value: int, mask: int = _ALL_BITS) -> Argument:
    return Argument(index=index, value=value, mask=mask)


def _is_not(index: int, value: int, mask: int = _ALL_BITS) -> Argument:
    return Argument(index=index, value=value, mask=mask, equal=False)


_NEW_NAMESPACES: Final = (
    0x00020000,  # CLONE_NEWNS
    0x02000000,  # CLONE_NEWCGROUP
    0x04000000,  # CLONE_NEWUTS
    0x08000000,  # CLONE_NEWIPC
    0x10000000,  # CLONE_NEWUSER
    0x20000000,  # CLONE_NEWPID
    0x40000000,  # CLONE_NEWNET
)
_TIOCSTI: Final = 0x5412
_TIOCLINUX: Final = 0x541C
_TIOCSETD: Final = 0x5423
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_STREAM, _DATAGRAM, _SEQPACKET, _TYPE = 1, 2, 5, 0xF
_SET_DUMPABLE: Final = 4
_PERSONALITY_QUERY: Final = 0xFFFFFFFF

KERNEL: Final[tuple[Rule, ...]] = (
    # other processes' memory and handles
    *_denied("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease"),
    *_denied("kcmp", "pidfd_getfd", "move_pages", "migrate_pages"),
    # mounts, roots and namespaces
    *_denied("mount", "umount2", "pivot_root", "chroot", "setns", "unshare"),
    *_denied("open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"),
    *(Rule(call="clone", when=(_is(0, flag, flag),)) for flag in _NEW_NAMESPACES),
    *_denied("clone3", error=errno.ENOSYS),  # its flags are in memory, where a filter cannot look; libraries use clone
    # large parts of the kernel that a program does without
    *_denied("keyctl", "add_key", "request_key", "bpf", "perf_event_open", "userfaultfd", "fanotify_init"),
    *_denied("io_uring_setup", "io_uring_enter", "io_uring_register", error=errno.ENOSYS),
    *_denied("memfd_secret", error=errno.ENOSYS),
    *_denied("open_by_handle_at", "name_to_handle_at", "lookup_dcookie"),
    # the machine
    *_denied("kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd"),
    *_denied("init_module", "finit_module", "delete_module", "create_module", "query_module", "get_kernel_syms"),
    *_denied("syslog", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname"),
    *_denied("iopl", "ioperm", "modify_ldt", "uselib", "ustat", "sysfs", "vhangup", "nfsservctl"),
    # writing into the terminal of somebody else
    *(Rule(call="ioctl", when=(_is(1, request),)) for request in (_TIOCSTI, _TIOCLINUX, _TIOCSETD)),
    Rule(call="personality", when=(_is_not(0, 0), _is_not(0, _PERSONALITY_QUERY))),
)
"""What no sandboxed process may do, whatever else confines it."""

NAMESPACED: Final[tuple[Rule, ...]] = (
    *KERNEL,
    Rule(
        call="socket",
        when=(_is_not(0, _UNIX), _is_not(0, _INET), _is_not(0, _INET6), _is_not(0, _NETLINK)),
        error=errno.EAFNOSUPPORT,
    ),
    *(
        Rule(call="socket", when=(_is(0, family), _is_not(1, _STREAM, _TYPE), _is_not(1, _DATAGRAM, _TYPE)))
        for family in (_INET, _INET6)
    ),
    Rule(call="socket", when=(_is(0, _NETLINK), _is_not(2, 0))),  # routes only: libraries list interfaces by them
)
"""For a sandbox with namespaces of its own: the sockets of the common kinds reach nothing outside."""

UNNAMESPACED: Final[tuple[Rule, ...]] = (
    *KERNEL,
    # No sockets at all: Landlock does not stop one from reaching the bus or the agents of a user by their path.
    *_denied("socket"),
    # Unnamed pairs only, of the kinds that cannot be turned to another address.
    Rule(call="socketpair", when=(_is_not(1, _STREAM, _TYPE), _is_not(1, _SEQPACKET, _TYPE))),
    # What is shared by all processes of a user or a machine.
    *_denied("shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl"),
    *_denied("msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink"),
    # Limits and priorities of others.
    *(
        Rule(call=call, when=(_is_not(0, 0),))
        for call in ("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr")
    ),
    *(Rule(call=call, when=(_is_not(1, 0),)) for call in ("setpriority", "ioprio_set")),
    Rule(call="setpriority", when=(_is_not(0, 0),)),  # PRIO_PROCESS, so of itself
    Rule(call="ioprio_set", when=(_is_not(0, 1),)),  # IOPRIO_WHO_PROCESS
    # Hiding its descriptors from the watch over removed files.
    Rule(call="prctl", when=(_is(0, _SET_DUMPABLE), _is(1, 0))),
)
"""For a sandbox that shares the host's namespaces."""

UNNAMESPACED_SAME_USER: Final[tuple[Rule, ...]] = (
    *UNNAMESPACED,
    # Landlock does not stop these on files that it lets nobody open, and all files of the user would be in reach.
    *_denied("chown", "lchown", "fchownat", "utime", "utimes", "futimesat"),
    *_denied("setxattr", "lsetxattr", "removexattr", "lremovexattr"),
    *_denied("getxattr", "lgetxattr", "listxattr", "llistxattr", error=errno.ENOTSUP),
    *_denied("inotify_init", "inotify_init1", error=errno.ENOSYS),
    *(Rule(call=call, asks=True) for call in ("chmod", "fchmodat", "fchmodat2")),
    Rule(call="utimensat", when=(_is_not(1, 0),), asks=True),  # a path; without one it is about an open file
    Rule(call="utimensat", when=(Argument(index=1, value=0, high=True, equal=False),), asks=True),
)
"""For a sandbox that runs as the user of the server."""


def assemble(rules: Sequence[Rule], architecture: Architecture) -> bytes:
    """The program of a filter: what no rule denies is allowed, what the architecture does not know ends the process."""
    program = [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_JUMP_EQUAL, architecture.audit, matched=1),
        _instruction(_RETURN, _KILL),
        _instruction(_LOAD, _NUMBER),
        _instruction(_JUMP_GREATER, LAST_KNOWN, otherwise=1),  # the second table of x86-64 is up there too
        _instruction(_RETURN, _ERRNO | errno.ENOSYS),
    ]
    for rule in rules:
        number = architecture.number(rule.call)
        if number is not None:
            program.extend(_block(rule, number))
    program.append(_instruction(_RETURN, _ALLOW))
    return b"".join(program)


def _block(rule: Rule, number: int) -> Iterator[bytes]:
    """Load, compare, and leave the block at the first condition that does not hold."""
    tests = [(_NUMBER, Argument(index=0, value=number))]
    # Both architectures are little-endian: the low half comes first.
    tests += [(_ARGUMENTS + 8 * argument.index + 4 * argument.high, argument) for argument in rule.when]
    remaining = sum(2 + (test.mask != _ALL_BITS) for _, test in tests) + 1
    for offset, test in tests:
        yield _instruction(_LOAD, offset)
        remaining -= 1
        if test.mask != _ALL_BITS:
            yield _instruction(_AND, test.mask)
            remaining -= 1
        remaining -= 1
        if test.equal:
            yield _instruction(_JUMP_EQUAL, test.value, otherwise=remaining)
        else:
            yield _instruction(_JUMP_EQUAL, test.value, matched=remaining)
    yield _instruction(_RETURN, _ASK if rule.asks else _ERRNO | rule.error)


def _instruction(code: int, value: int, *, matched: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, matched, otherwise, value)
