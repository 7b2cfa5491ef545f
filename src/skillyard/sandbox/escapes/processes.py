"""Attempts on processes outside, and on what processes share."""

# ruff: noqa: PTH208 (plain calls, one for each thing that is tried)
from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
import time

from skillyard.sandbox.escapes.ground import SECONDS, call, checked, libc, text_of, world

_PTRACE_ATTACH, _PTRACE_DETACH = 16, 17


def see_processes() -> str:
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                command = text_of(f"/proc/{name}/cmdline")
            except OSError:
                continue
            if world["marker"] in command:
                return "pid " + name
    return ""


def read_environment() -> str:
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                found = text_of(f"/proc/{name}/environ")
            except OSError:
                continue
            if world["marker"] in found:
                return found
    return ""


def signal_process() -> str:
    os.kill(world["sleepers"]["signal_process"], signal.SIGTERM)
    return "sent"


def signal_group() -> str:
    os.killpg(world["sleepers"]["signal_group"], signal.SIGTERM)
    return "sent"


def limit_process() -> str:
    resource.prlimit(world["sleepers"]["limit_process"], resource.RLIMIT_CORE, (0, 0))
    return "limited"


def slow_process() -> str:
    os.setpriority(os.PRIO_PROCESS, world["sleepers"]["slow_process"], 19)
    return "slowed"


def trace_process() -> str:
    child = os.fork()
    if not child:
        time.sleep(SECONDS)
        os._exit(0)
    try:
        checked(libc.ptrace(_PTRACE_ATTACH, child, 0, 0))
        os.waitpid(child, 0)
        libc.ptrace(_PTRACE_DETACH, child, 0, 0)
    finally:
        os.kill(child, signal.SIGKILL)
    return "traced"


def read_memory() -> str:
    target = ctypes.create_string_buffer(b"in another process")
    found = ctypes.create_string_buffer(18)
    child = os.fork()
    if not child:
        time.sleep(SECONDS)
        os._exit(0)
    try:
        here = struct.pack("QQ", ctypes.addressof(found), 18)
        there = struct.pack("QQ", ctypes.addressof(target), 18)
        call(310, 270, child, here, ctypes.c_ulong(1), there, ctypes.c_ulong(1), ctypes.c_ulong(0))
    finally:
        os.kill(child, signal.SIGKILL)
    return found.raw.decode()


def shared_memory() -> str:
    made = call(29, 194, world["key"], ctypes.c_size_t(4096), 0o600)
    return f"segment {made}"
