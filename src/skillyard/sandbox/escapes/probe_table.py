"""The escape attempts, and what each of them would break."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from skillyard.sandbox.capabilities import Barrier


class Proof(StrEnum):
    """What shows that an attempt succeeded; what it says itself is not always enough."""

    SAID = "said"
    SECRET = "secret"  # noqa: S105 -- it found the secret
    FELT = "felt"
    """What it did is seen outside."""


class Reach(StrEnum):
    """Who can do it without a sandbox."""

    ANYONE = "anyone"
    NAMESPACES = "namespaces"
    """Root, or whoever may have namespaces of his own."""
    ROOT = "root"
    SYSTEM = "system"
    """Whoever this system lets: it depends on its settings."""


@dataclass(frozen=True, kw_only=True)
class Probe:
    """One attempt."""

    name: str
    """Of the function that makes it."""
    barrier: Barrier
    what: str
    proof: Proof = Proof.SAID
    reach: Reach = Reach.ANYONE
    alone: bool = False
    """Whether it takes its sandbox with it, and so needs one of its own."""


def _probe(barrier: Barrier, name: str, what: str, proof: Proof = Proof.SAID, reach: Reach = Reach.ANYONE) -> Probe:
    return Probe(name=name, barrier=barrier, what=what, proof=proof, reach=reach)


_F, _N, _P, _K = Barrier.FILES, Barrier.NETWORK, Barrier.PROCESSES, Barrier.KERNEL

PROBES: Final[tuple[Probe, ...]] = (
    _probe(_F, "read_secret", "read a file of the server's user", Proof.SECRET),
    _probe(_F, "read_by_link", "read it through a link", Proof.SECRET),
    _probe(_F, "read_shadow", "read the passwords of the machine", Proof.SECRET),
    _probe(_F, "list_home", "list a folder of the server's user", Proof.SECRET),
    _probe(_F, "write_system", "write to /usr"),
    _probe(_F, "write_file", "write to a file of the server's user", Proof.FELT),
    _probe(_F, "write_by_link", "write to it through a link", Proof.FELT),
    _probe(_F, "truncate_file", "truncate it", Proof.FELT),
    _probe(_F, "change_mode", "let everybody read and write it", Proof.FELT),
    _probe(_F, "change_mode_by_link", "do so through a link", Proof.FELT),
    _probe(_F, "change_times", "set its times", Proof.FELT),
    _probe(_F, "change_attributes", "attach something to it", reach=Reach.SYSTEM),
    _probe(_F, "hard_link", "give it a second name in the workspace"),
    _probe(_F, "rename_out", "move a folder out of the workspace"),
    _probe(_F, "open_devices", "open a device", reach=Reach.SYSTEM),
    _probe(_F, "make_device", "make a device", reach=Reach.ROOT),
    _probe(_P, "see_processes", "see a process outside"),
    _probe(_P, "read_environment", "read the environment of a process outside", Proof.SECRET),
    _probe(_P, "signal_process", "end a process outside", Proof.FELT),
    _probe(_P, "signal_group", "end a group of processes outside", Proof.FELT),
    _probe(_P, "limit_process", "set a limit of a process outside"),
    _probe(_P, "slow_process", "set the priority of a process outside"),
    _probe(_K, "trace_process", "trace a process"),
    _probe(_K, "read_memory", "read the memory of a process"),
    _probe(_K, "core_pattern", "name the program that gets crashed processes"),
    _probe(_K, "sysrq", "command the kernel by its emergency key"),
    _probe(_K, "kernel_settings", "change a setting of the kernel"),
    _probe(_K, "cgroup", "move to another control group", reach=Reach.ROOT),
    _probe(_K, "privileges", "have a privilege", reach=Reach.ROOT),
    _probe(_K, "new_privileges", "get one from a program that has it"),
    _probe(_K, "mount", "mount", reach=Reach.NAMESPACES),
    _probe(_K, "mount_anew", "mount by the new calls", reach=Reach.NAMESPACES),
    _probe(_K, "change_root", "change the root folder", reach=Reach.NAMESPACES),
    _probe(_K, "user_namespace", "make a user namespace", reach=Reach.NAMESPACES),
    _probe(_K, "user_namespace_by_clone", "make one by clone", reach=Reach.NAMESPACES),
    _probe(_K, "user_namespace_by_clone3", "make one by clone3", reach=Reach.NAMESPACES),
    _probe(_K, "enter_namespace", "enter a namespace", reach=Reach.NAMESPACES),
    _probe(_K, "keyring", "use the keys that the kernel holds", reach=Reach.SYSTEM),
    _probe(_K, "bpf", "load programs into the kernel", reach=Reach.ROOT),
    _probe(_K, "perf", "measure the kernel", reach=Reach.SYSTEM),
    _probe(_K, "page_faults", "handle page faults", reach=Reach.SYSTEM),
    _probe(_K, "io_ring", "call the kernel through shared memory", reach=Reach.SYSTEM),
    _probe(_K, "kernel_log", "read the log of the kernel", reach=Reach.ROOT),
    _probe(_K, "file_handle", "name files by their handles", reach=Reach.SYSTEM),
    _probe(_K, "fewer_protections", "switch off the randomness of addresses"),
    _probe(_K, "terminal_input", "type into a terminal", reach=Reach.ROOT),
    _probe(_K, "terminal_discipline", "change what a terminal does"),
    _probe(_N, "tcp", "connect to a server on the host", Proof.SECRET),
    _probe(_N, "udp", "ask one by a datagram", Proof.SECRET),
    _probe(_N, "unix_socket", "connect to one by its path", Proof.SECRET),
    _probe(_N, "abstract_socket", "connect to one by its abstract name", Proof.SECRET),
    _probe(_N, "pair_to_socket", "send to one through a pair of sockets", Proof.FELT),
    _probe(_N, "metadata", "connect to the metadata service of a cloud"),
    _probe(_N, "listen_outside", "listen on an interface of the host", reach=Reach.SYSTEM),
    _probe(_N, "raw_socket", "open a raw socket", reach=Reach.NAMESPACES),
    _probe(_N, "packet_socket", "open a packet socket", reach=Reach.NAMESPACES),
    _probe(_N, "odd_socket", "open a socket of another kind", reach=Reach.SYSTEM),
    _probe(_P, "shared_memory", "share memory with a process outside", reach=Reach.SYSTEM),
    _probe(Barrier.FILE_SIZE, "file_size", "write a file larger than allowed"),
    _probe(Barrier.PROCESS_COUNT, "processes", "have more processes than allowed"),
    _probe(Barrier.MEMORY, "memory", "have more memory than allowed"),
    _probe(Barrier.MEMORY_TOTAL, "memory_together", "have more memory than allowed, in several processes"),
    Probe(name="disk", barrier=Barrier.DISK, what="fill the disk", alone=True),
    Probe(name="temporary", barrier=Barrier.DISK, what="fill the folder for temporary files", alone=True),
    Probe(name="disk_in_removed_files", barrier=Barrier.DISK, what="fill it with removed files", alone=True),
    Probe(name="disk_in_closed_folder", barrier=Barrier.DISK, what="fill it in a closed folder", alone=True),
)

QUICK: Final = tuple(probe for probe in PROBES if not probe.alone or probe.name == "disk")
"""Enough to tell of each barrier whether it holds, where an answer is wanted at once."""
