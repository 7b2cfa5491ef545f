#!/usr/bin/env python3
"""Say what a sandbox offers: Python, packages, commands, limits, network interfaces, files.

Needs Python 3.9 or newer and nothing else. It only reads, and it sends nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import io
import json
import os
import platform
import shutil
import socket
import stat
import sys
from pathlib import Path
from typing import Any

BUILDING = (
    "git",
    "curl",
    "wget",
    "gcc",
    "make",
    "node",
    "npm",
    "uv",
    "pip",
    "java",
    "psql",
    "sqlite3",
    "jq",
    "rg",
)
DOCUMENTS = ("pandoc", "soffice", "pdftotext", "convert", "ffmpeg", "chromium", "agent-browser")
MAX_ENTRIES = 50_000
SHOWN_FILES = 5
SHOWN_PACKAGES = 40


def inspect(root: Path) -> dict[str, Any]:
    """Everything worth knowing before work starts in `root`."""
    return {
        "python": {"version": platform.python_version(), "executable": sys.executable},
        "system": {"platform": platform.platform(), "user": _user_id(), "cpus": _cpus()},
        "memory_mib": _memory_limit_mib(),
        "disk_free_mib": _disk_free_mib(root),
        "network_interfaces": _interfaces(),
        "commands": [name for name in (*BUILDING, *DOCUMENTS) if shutil.which(name)],
        "packages": _packages(),
        "workspace": _workspace(root),
    }


def _user_id() -> int | None:
    return os.getuid() if hasattr(os, "getuid") else None


def _cpus() -> int:
    # A container may be given fewer processors than the machine has.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory_limit_mib() -> int | None:
    """The smaller of the container's limit and the machine's memory."""
    limits: list[int] = []
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limits.append(int(Path(path).read_text(encoding="ascii")))
        except (OSError, ValueError):
            continue
    with contextlib.suppress(AttributeError, OSError, ValueError):
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(limits) // 2**20 if limits else None


def _disk_free_mib(root: Path) -> int | None:
    try:
        return shutil.disk_usage(root).free // 2**20
    except OSError:
        return None


def _interfaces() -> list[str] | None:
    """The network interfaces besides the loopback; empty means that there is surely no network."""
    try:
        return [name for _, name in socket.if_nameindex() if name != "lo"]
    except (AttributeError, OSError):
        return None


def _packages() -> list[str]:
    found = {str(d.metadata["Name"]): d.version for d in importlib.metadata.distributions() if d.metadata["Name"]}
    return [f"{name} {version}" for name, version in sorted(found.items(), key=lambda item: item[0].lower())]


def _workspace(root: Path) -> dict[str, Any]:
    """Counts and the most telling files; links are not followed, and the walk is bounded."""
    files: list[tuple[str, int, float]] = []
    entries = 0
    for parent, folders, names in os.walk(root):
        folders.sort()
        for name in names:
            path = os.path.join(parent, name)  # noqa: PTH118 - Path objects are slow for so many
            try:
                status = os.lstat(path)
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode):
                files.append((os.path.relpath(path, root), status.st_size, status.st_mtime))
        entries += len(names) + len(folders)
        if entries >= MAX_ENTRIES:
            break
    largest = sorted(files, key=lambda file: -file[1])[:SHOWN_FILES]
    newest = sorted(files, key=lambda file: -file[2])[:SHOWN_FILES]
    return {
        "path": str(root),
        "exists": root.is_dir(),
        "writable": os.access(root, os.W_OK),
        "files": len(files),
        "bytes": sum(size for _, size, _ in files),
        "complete": entries < MAX_ENTRIES,
        "largest": [{"path": path, "bytes": size} for path, size, _ in largest],
        "newest": [path for path, _, _ in newest],
    }


def as_text(report: dict[str, Any]) -> str:
    """The report in a few lines for a person or an agent to read."""
    workspace = report["workspace"]
    interfaces = report["network_interfaces"]
    network = "unknown" if interfaces is None else ", ".join(interfaces) or "none: there is no network"
    packages: list[str] = report["packages"]
    more = f" and {len(packages) - SHOWN_PACKAGES} more (--json lists all)" if len(packages) > SHOWN_PACKAGES else ""
    memory, disk = report["memory_mib"], report["disk_free_mib"]
    lines = [
        f"python      {report['python']['version']} at {report['python']['executable']}",
        f"system      {report['system']['platform']}, user {report['system']['user']}",
        f"limits      {report['system']['cpus']} cpus, memory {_mib(memory)}, free disk {_mib(disk)}",
        f"network     interfaces: {network}",
        f"commands    {', '.join(report['commands']) or 'none of the usual ones'}",
        f"packages    {', '.join(packages[:SHOWN_PACKAGES]) or 'none'}{more}",
        f"workspace   {workspace['path']!r}: {_workspace_text(workspace)}",
    ]
    lines += [f"  largest   {file['path']!r} ({file['bytes']} bytes)" for file in workspace["largest"]]
    lines += [f"  newest    {path!r}" for path in workspace["newest"]]
    return "\n".join(lines)


def _mib(value: int | None) -> str:
    return "unknown" if value is None else f"{value} MiB"


def _workspace_text(workspace: dict[str, Any]) -> str:
    if not workspace["exists"]:
        return "does not exist"
    counted = "" if workspace["complete"] else " (only a part was counted)"
    writable = "" if workspace["writable"] else ", NOT writable"
    return f"{workspace['files']} files, {workspace['bytes']} bytes{counted}{writable}"


def main() -> int:
    """Inspect the folder named on the command line."""
    parser = argparse.ArgumentParser(
        description="Say what this sandbox offers. Reads only; sends nothing.",
        epilog="Exit codes: 0 done, 2 wrong usage. Example: inspect_workspace.py /workspace --json",
    )
    parser.add_argument("path", nargs="?", type=Path, default=Path("/workspace"), help="default: /workspace")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    arguments = parser.parse_args()
    output = sys.stdout
    if isinstance(output, io.TextIOWrapper):
        output.reconfigure(errors="backslashreplace")
    report = inspect(arguments.path)
    print(json.dumps(report, indent=2) if arguments.json else as_text(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
