"""The program that turns itself into a sandboxed one; run by its path, as a process of its own.

Standard library only, and nothing is decided here: what to do is read from a descriptor, as `launch.Launch` wrote it.
The order is what matters: places are prepared while the rights to do so are there, then the rights go, then the bounds
that cannot be taken back close. Every sandbox waits for this, so it imports as little as it can.
"""

# ruff: noqa: PTH102, PTH112, PTH120, PTH123, PTH208 (pathlib takes longer to import than all that happens here)
import contextlib
import ctypes
import importlib
import marshal
import os
import resource
import select
import signal
import stat
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import Any, NoReturn

    from skillyard.sandbox.local.metadata_broker import Broker

_CLONE_NEWNS, _CLONE_NEWIPC, _CLONE_NEWNET = 0x00020000, 0x08000000, 0x40000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REMOUNT, _MS_BIND = 1, 2, 4, 8, 32, 4096
_MS_REC, _MS_PRIVATE = 16384, 1 << 18
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 36, 38
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SECCOMP_SET_MODE_FILTER, _SECCOMP_NEW_LISTENER = 1, 8
_LANDLOCK_CREATE_RULESET, _LANDLOCK_ADD_RULE, _LANDLOCK_RESTRICT_SELF = 444, 445, 446
_LANDLOCK_RULE_PATH_BENEATH = 1
_LANDLOCK_FILE_RIGHTS = 0xC007
"""Those that mean something for a file: execute, write, read, truncate, device commands."""
_FAILED = 125

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        error = ctypes.get_errno()
        sys.exit(f"{what}: {os.strerror(error)}")
    return result


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    arguments = (source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode())
    _check(_libc.mount(*arguments), f"mount {target}")


def _join(cgroups: "list[str]") -> None:
    for file in cgroups:
        with open(file, "w", encoding="ascii") as entrance:
            entrance.write("0")


def _stage(stage: "dict[str, Any]") -> None:
    """Bring what is needed to where the sandbox's user can reach it, seen by this process and its children only."""
    root: str = stage["root"]
    os.makedirs(root, mode=0o755, exist_ok=True)  # noqa: PTH103
    if not stat.S_ISDIR(os.lstat(root).st_mode):
        sys.exit(f"{root} is no folder")
    namespaces = _CLONE_NEWNS | (_CLONE_NEWIPC | _CLONE_NEWNET if stage["alone"] else 0)
    _check(_libc.unshare(namespaces), "a view of its own")
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE)
    _mount("skillyard", root, "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=0755,size=1m")
    for source, name, writable in stage["binds"]:
        target = f"{root}/{name}"
        if os.path.isdir(source):
            os.mkdir(target)
        else:
            os.close(os.open(target, os.O_CREAT | os.O_RDONLY))
        _mount(source, target, "", _MS_BIND)
        _mount("none", target, "", _MS_BIND | _MS_REMOUNT | _MS_NOSUID | _MS_NODEV | (0 if writable else _MS_RDONLY))
    for path, size in stage["tmpfs"]:
        _mount("skillyard", path, "tmpfs", _MS_NOSUID | _MS_NODEV, f"mode=1777,size={size}")
    if stage["alone"]:
        _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, "hidepid=2")


def _become(uid: int) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _landlock(rules: "dict[str, Any]") -> None:
    attributes = struct.pack(f"={len(rules['handled'])}Q", *rules["handled"])
    what = "landlock"
    ruleset = _check(_libc.syscall(_LANDLOCK_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0), what)
    for path, rights in rules["paths"]:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        allowed = rights if stat.S_ISDIR(os.fstat(place).st_mode) else rights & _LANDLOCK_FILE_RIGHTS
        rule = struct.pack("=Qi", allowed, place)
        _check(_libc.syscall(_LANDLOCK_ADD_RULE, ruleset, _LANDLOCK_RULE_PATH_BENEATH, rule, 0), f"{what}: {path}")
        os.close(place)
    _check(_libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0), what)
    os.close(ruleset)


def _seccomp(program: bytes, broker: "socket.socket | None") -> None:
    """Load a filter; where some calls are to be answered outside, send there what they are heard by."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))

    loaded = ctypes.byref(Program(len(program) // 8, program))
    number = _SECCOMP.get(os.uname().machine, -1)
    flags = 0 if broker is None else _SECCOMP_NEW_LISTENER
    listener = _check(_libc.syscall(number, _SECCOMP_SET_MODE_FILTER, flags, loaded), "seccomp")
    if broker is not None:
        import socket  # noqa: PLC0415 -- slow, and seldom needed

        socket.send_fds(broker, [b"l"], [listener])
        os.close(listener)


def _run(launch: "dict[str, Any]", broker: "socket.socket | None" = None) -> "NoReturn":
    """Become the sandboxed program."""
    _join(launch["cgroups"])
    if launch["stage"] is not None:
        _stage(launch["stage"])
    for name, value in launch["rlimits"].items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bounded, bounded))
    if launch["uid"] is not None:
        _become(launch["uid"])
    if launch["supervised"]:  # after the change of user, which clears it
        _check(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "death signal")
    os.umask(0o077)
    os.chdir(launch["cwd"])
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
    if launch["landlock"] is not None:
        _landlock(launch["landlock"])
    if launch["seccomp"] is not None:
        _seccomp(bytes.fromhex(launch["seccomp"]), broker)
    os.execve(launch["argv"][0], launch["argv"], launch["environment"])  # noqa: S606 -- a list, no shell


def _descendants() -> "list[int]":
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                with open(f"/proc/{entry}/stat", "rb") as file:
                    after_name = file.read().rpartition(b")")[2].split()
                if after_name[0] != b"Z":
                    children.setdefault(int(after_name[1]), []).append(int(entry))
    found: list[int] = []
    unseen = [os.getpid()]
    while unseen:
        below = children.get(unseen.pop(), [])
        found += below
        unseen += below
    return found


def _end_descendants() -> None:
    """End all that came of the sandboxed program, also what made itself a daemon: it became a child of this process.

    Those that are stopped still count against the limit of processes, so a fork bomb runs dry before it is ended.
    """
    stopped: set[int] = set()
    while found := set(_descendants()):
        signalled = signal.SIGSTOP if found - stopped else signal.SIGKILL
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signalled)
        stopped = found
        _reap()


def _reap() -> "dict[int, int]":
    ended: dict[int, int] = {}
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            ended[pid] = status
    return ended


def _supervise(launch: "dict[str, Any]") -> "NoReturn":
    """Stay outside, and end everything when the program ends or the server does."""
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    stopping: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda received, _: stopping.append(received))
    signal.signal(signal.SIGCHLD, lambda _, __: None)
    _check(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "subreaper")
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0), "death signal")
    if os.getppid() != launch["parent"]:
        sys.exit("the server is gone")
    import socket  # noqa: PLC0415 -- slow, and not needed otherwise

    ours, theirs = socket.socketpair()
    program = os.fork()
    if not program:
        ours.close()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        _run(launch, theirs if launch["brokered"] else None)
    theirs.close()
    os.closerange(0, 2)
    code = _watch(program, woken, stopping, _broker(ours, launch["brokered"]))
    _end_descendants()
    os._exit(code & 0xFF)


def _broker(channel: "socket.socket", folders: "list[str]") -> "Broker | None":
    """What answers the calls that the filter holds up, when it is loaded."""
    if not folders:
        return None
    import socket  # noqa: PLC0415 -- as above

    _, received, _, _ = socket.recv_fds(channel, 1, 1)
    if not received:
        return None
    sys.path.append(os.path.dirname(__file__))
    # Seldom needed, and there is no package here.
    return importlib.import_module("metadata_broker").Broker(received[0], folders)


def _watch(program: int, woken: int, stopping: "list[int]", broker: "Broker | None") -> int:
    """Wait for the end of the program, or of the server."""
    waiting = select.poll()
    waiting.register(woken, select.POLLIN)
    if broker is not None:
        waiting.register(broker.listener, select.POLLIN)
    while not stopping:
        ended = _reap()
        if program in ended:
            return os.waitstatus_to_exitcode(ended[program])
        for descriptor, event in waiting.poll():
            if descriptor == woken:
                with contextlib.suppress(BlockingIOError):
                    os.read(woken, 512)
            elif event & select.POLLIN and broker is not None:
                broker.answer_one()
            else:
                waiting.unregister(descriptor)  # nobody is left who could ask
    return _FAILED


def main() -> "NoReturn":
    with open(int(sys.argv[1]), "rb") as file:
        launch = marshal.load(file)  # noqa: S302 -- written by the server, for this process alone
    try:
        if launch["supervised"]:
            _supervise(launch)
        _run(launch)
    except OSError as error:
        sys.exit(f"{error.strerror}: {error.filename}" if error.filename else f"{error.strerror}")


if __name__ == "__main__":
    main()
