"""Attempts on the kernel: its settings, privileges, namespaces, and the parts that programs do without."""

# ruff: noqa: PTH109, PTH118 (plain calls, one for each thing that is tried)
from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import struct
import termios

from skillyard.sandbox.escapes.ground import NEWNS, NEWUSER, NEWUTS, call, checked, libc, with_rights, world

_SET_DISCIPLINE = 0x5423


def _writable(path: str) -> str:
    os.close(os.open(path, os.O_WRONLY))
    return path


def core_pattern() -> str:
    return _writable(world["core_pattern"])


def sysrq() -> str:
    return _writable(world["sysrq"])


def kernel_settings() -> str:
    opened: list[str] = []
    for folder, _, names in os.walk(str(world["settings"])):
        for name in names:
            with contextlib.suppress(OSError):
                opened.append(_writable(os.path.join(folder, name)))
        if opened:
            break
    return " ".join(opened)


def cgroup() -> str:
    for folder, _, names in os.walk("/sys/fs/cgroup"):
        if "cgroup.procs" in names:
            with contextlib.suppress(OSError):
                return _writable(folder + "/cgroup.procs")
    return ""


def privileges() -> str:
    header, data = struct.pack("Ii", 0x20080522, 0), ctypes.create_string_buffer(24)
    call(125, 90, header, data)
    held = struct.unpack("6I", data.raw)
    return f"capabilities {held[0]:x}" if held[0] or held[3] else ""


def new_privileges() -> str:
    """Whether a program that belongs to root could give its rights away."""
    return "" if libc.prctl(39, 0, 0, 0, 0) else "allowed"


def mount() -> str:
    with_rights(NEWNS)
    checked(libc.mount(b"none", os.getcwd().encode(), b"tmpfs", 0, None))
    return "mounted"


def mount_anew() -> str:
    with_rights(NEWNS)
    return f"context {call(430, 430, b'tmpfs', 0)}"


def change_root() -> str:
    with_rights(NEWNS)
    os.chroot(".")
    return "changed"


def user_namespace() -> str:
    checked(libc.unshare(NEWUSER))
    return "made"


def user_namespace_by_clone() -> str:
    child = call(56, 220, NEWUSER | signal.SIGCHLD, 0, 0, 0, 0)
    if not child:
        os._exit(0)
    return "made"


def user_namespace_by_clone3() -> str:
    child = call(435, 435, struct.pack("8Q", NEWUSER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0), ctypes.c_size_t(64))
    if not child:
        os._exit(0)
    return "made"


def enter_namespace() -> str:
    with_rights(NEWUTS)
    place = os.open("/proc/self/ns/uts", os.O_RDONLY)
    checked(libc.setns(place, 0))
    return "entered"


def keyring() -> str:
    return f"keyring {call(250, 219, 0, ctypes.c_long(-3), 1)}"


def bpf() -> str:
    return f"map {call(321, 280, 0, struct.pack('4I', 2, 4, 4, 1) + bytes(56), 72)}"


def perf() -> str:
    counted = struct.pack("IIQQQQQ", 1, 112, 0, 0, 0, 0, 0x61) + bytes(64)  # a clock, of this process, in user mode
    return f"counter {call(298, 241, counted, 0, -1, -1, ctypes.c_ulong(0))}"


def page_faults() -> str:
    return f"handle {call(323, 282, 1)}"


def io_ring() -> str:
    return f"ring {call(425, 425, 1, ctypes.create_string_buffer(120))}"


def kernel_log() -> str:
    return f"{call(103, 116, 10, None, 0)} bytes"


def file_handle() -> str:
    handle, mount_id = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136), ctypes.c_int()
    call(303, 264, -100, b".", handle, ctypes.byref(mount_id), 0)
    return "handle"


def fewer_protections() -> str:
    return f"was {checked(libc.personality(0x0040000))}"


def terminal_input() -> str:
    """Type into a terminal; the session needs one of its own for that."""
    os.setsid()
    _, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    fcntl.ioctl(terminal, termios.TIOCSTI, b"x")
    return "typed"


def terminal_discipline() -> str:
    _, terminal = os.openpty()
    fcntl.ioctl(terminal, _SET_DISCIPLINE, struct.pack("i", 0))
    return "changed"
