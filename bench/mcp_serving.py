"""Serving many skills over MCP: Skillyard and FastMCP's provider of skills, each a process asked over stdio.

`python bench/mcp_serving.py` takes some minutes; `--quick` shows that it works.
"""

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from generate import generate, sentence
from results import table, write_part

from skillyard.server.mcp.wanted import BUDGET

T = TypeVar("T")

SKILLS = 10_000
ROUNDS = 3
PAGE = 100
HERE = Path(__file__).parent
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {
        "name": "claude-code",
        "title": "Claude Code",
        "version": "2.1.287",
        "description": "Anthropic's agentic coding tool",
        "websiteUrl": "https://claude.com/claude-code",
    },
    "io.modelcontextprotocol/clientCapabilities": {
        "roots": {"listChanged": True},
        "elicitation": {"form": {}, "url": {}},
    },
}
"""What every request says of the client, as Claude Code says it: what it sends decides how soon it is answered."""
NONE = "-"
REPORT = """## MCP

{count:,} generated skills in one folder, served over stdio by a process of each subject, asked by the same client, one
request after another; figures are by the clock, as the client sees them. Everyone is asked for pages of 100. The
subjects take turns in {rounds} rounds with other skills each time, the slow ones in the first only; a figure is the
median over all requests, the one in brackets the 95th percentile. Skillyard's index was made by an earlier process.
"First answer" is from starting the process to its answer to the first request, with which a connection begins; a server
that serves nothing, made with the MCP SDK alone, took {floor:,.0f} ms for that in the same rounds, {starts} starts
each. The client introduces itself as Claude Code does. "First page" is from starting the process to the first skills
that it lists, asked for next. "Load" reads a `SKILL.md` by its address; "find" is a query of eight words, for which a
client of FastMCP has to list all skills and look for itself, which was measured with all of them on one page: page by
page it takes minutes. "Seen" says whether a skill that was added while the server runs is served. FastMCP loads all
skills at the start, and never again unless it is told to reload with every request. Its experimental mode, which serves
the extension, reads all of them to list any, and to load one looks only where it must be.

{figures}

The description of `skill`, which tells a model of all of them, has {prompt:,} characters; its budget is {budget:,}. The
load average of the machine was {load:.1f} when this began.

### How many times as long FastMCP takes

{ratios}
"""


@dataclass
class Figures:
    """Milliseconds of every request, by kind; None for what a subject does not do."""

    times: dict[str, list[float]] = field(default_factory=dict)
    peak_mb: float = 0.0
    prompt: int = 0
    """Characters of the description of `skill`."""
    sees_changes: bool = False

    def add(self, kind: str, took: float) -> None:
        self.times.setdefault(kind, []).append(took * 1000)

    def median(self, kind: str) -> float | None:
        return statistics.median(self.times[kind]) if kind in self.times else None

    def shown(self, kind: str) -> str:
        if kind not in self.times:
            return NONE
        worst = sorted(self.times[kind])[int(len(self.times[kind]) * 0.95)]
        return f"{statistics.median(self.times[kind]):,.1f} ({worst:,.1f})"


class Client:
    """The least that speaks MCP: a line out, a line in."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._number = 0

    def ask(self, method: str, **params: Any) -> dict[str, Any]:  # noqa: ANN401 -- JSON
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": {**params, "_meta": ENVELOPE}}
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        while True:
            answer = json.loads(self._process.stdout.readline())
            if answer.get("id") == self._number:
                break
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]


@dataclass(frozen=True, kw_only=True)
class Subject:
    name: str
    command: Callable[[Path], list[str]]
    search: bool = False
    extension: bool = False
    slow: bool = False
    """Whether it takes part in the first round only."""
    whole: bool = True
    """Whether all skills are listed: page by page that takes minutes for some."""
    requests: int = 20


def _skillyard(root: Path) -> list[str]:
    return [str(Path(sys.executable).with_name("skillyard")), "mcp", "serve", "--root", str(root)]


def _fastmcp(mode: str) -> Callable[[Path], list[str]]:
    return lambda root: [sys.executable, str(HERE / "fastmcp_skills.py"), mode, str(root)]


OURS = "skillyard"
SUBJECTS = (
    Subject(name=OURS, command=_skillyard, search=True, extension=True, requests=100),
    Subject(name="fastmcp", command=_fastmcp("plain"), whole=False, requests=5),
    Subject(name="fastmcp, one page", command=_fastmcp("unpaged"), slow=True, requests=1),
    Subject(name="fastmcp, reload", command=_fastmcp("reload"), slow=True, whole=False, requests=1),
    Subject(
        name="fastmcp, experimental",
        command=_fastmcp("experimental"),
        extension=True,
        slow=True,
        whole=False,
        requests=1,
    ),
)
FLOOR = [sys.executable, str(HERE / "mcp_floor.py")]
STARTS = 3
"""Starts of a process in each round: the first answer comes but once."""
KINDS = ("first answer", "first page", "list a page", "list all", "load", "find", "skills/list, a page")


@contextmanager
def running(command: Sequence[str], home: Path) -> Generator[tuple[Client, subprocess.Popen[bytes], float]]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SKILLYARD_")}
    settings = {"HOME": str(home), "SKILLYARD_HOME": str(home / "yard")}
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=home, env={**clean, **settings}
    ) as process:
        try:
            yield Client(process), process, began
        finally:
            process.stdin.close()
            process.wait(60)


def start(command: Sequence[str], home: Path) -> float:
    """The seconds from starting a server to its first answer."""
    with running(command, home) as (client, _, began):
        client.ask("server/discover")
        return time.perf_counter() - began


def measure(subject: Subject, root: Path, home: Path, figures: Figures, rng: random.Random) -> None:
    names = sorted(folder.name for folder in root.iterdir())
    with running(subject.command(root), home) as (client, process, began):
        client.ask("server/discover")
        figures.add("first answer", time.perf_counter() - began)
        client.ask("resources/list")
        figures.add("first page", time.perf_counter() - began)
        for _ in range(subject.requests):
            _timed(figures, "list a page", lambda: client.ask("resources/list"))
        for name in rng.sample(names, subject.requests):
            answer = _timed(figures, "load", partial(client.ask, "resources/read", uri=_uri(name)))
            assert f"name: {name}" in answer["contents"][0]["text"], name
        if subject.whole:
            listed = _timed(figures, "list all", lambda: _all(client))
            assert len(listed) >= len(names), len(listed)
        if subject.search:
            [skill] = [tool for tool in client.ask("tools/list")["tools"] if tool["name"] == "skill"]
            figures.prompt = len(skill["description"])
            client.ask("tools/call", name="search_skills", arguments={"query": "warm"})
            for _ in range(subject.requests):
                query = {"query": sentence(rng, 8)}
                _timed(
                    figures, "find", lambda given=query: client.ask("tools/call", name="search_skills", arguments=given)
                )
        elif subject.whole:
            _timed(figures, "find", lambda: _fitting(_all(client), sentence(rng, 8)))
        if subject.extension:
            client.ask("skills/list")
            for _ in range(subject.requests):
                page = _timed(figures, "skills/list, a page", lambda: client.ask("skills/list"))
                assert len(page["skills"]) == PAGE
        figures.sees_changes = _sees_a_new_skill(client, root)
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
        figures.peak_mb = max(figures.peak_mb, int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024)


def _uri(name: str) -> str:
    return f"skill://{name}/SKILL.md"


def _timed(figures: Figures, kind: str, work: Callable[[], T]) -> T:
    began = time.perf_counter()
    result = work()
    figures.add(kind, time.perf_counter() - began)
    return result


def _all(client: Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = client.ask("resources/list", **cursor)
        found += page["resources"]
        if not page.get("nextCursor"):
            return found
        cursor = {"cursor": page["nextCursor"]}


def _fitting(listed: list[dict[str, Any]], query: str) -> list[dict[str, Any]]:
    words = query.lower().split()
    return sorted(listed, key=lambda each: -sum(word in (each.get("description") or "") for word in words))[:5]


def _sees_a_new_skill(client: Client, root: Path) -> bool:
    folder = root / "added-meanwhile"
    folder.mkdir()
    text = "---\nname: added-meanwhile\ndescription: Added while the server runs.\n---\nDo it.\n"
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    try:
        return bool(client.ask("resources/read", uri=_uri(folder.name))["contents"])
    except RuntimeError:
        return False
    finally:
        (folder / "SKILL.md").unlink()
        folder.rmdir()


def report(measured: dict[str, Figures], floor: list[float], *, count: int, rounds: int, load: float) -> str:
    rows = [
        [
            name,
            *(figures.shown(kind) for kind in KINDS),
            f"{figures.peak_mb:.0f}",
            "yes" if figures.sees_changes else "no",
        ]
        for name, figures in measured.items()
    ]
    ours = measured[OURS]
    ratios = [
        [
            name,
            *(_ratio(figures.median(kind), ours.median(kind)) for kind in KINDS),
            f"{figures.peak_mb / ours.peak_mb:.1f}",
        ]
        for name, figures in measured.items()
        if name != OURS
    ]
    columns = ["subject", *(f"{kind}" for kind in KINDS), "peak MB"]
    return REPORT.format(
        count=count,
        rounds=rounds,
        floor=statistics.median(floor) * 1000,
        starts=STARTS,
        prompt=ours.prompt,
        budget=BUDGET,
        load=load,
        figures=table([*columns[:1], *(f"{kind}, ms" for kind in KINDS), "peak MB", "seen"], rows),
        ratios=table(columns, ratios),
    )


def _ratio(theirs: float | None, ours: float | None) -> str:
    return NONE if theirs is None or ours is None else f"{theirs / ours:,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="also write the results to this file")
    parser.add_argument("--quick", action="store_true", help="300 skills, one round")
    options = parser.parse_args()
    count, rounds = (300, 1) if options.quick else (SKILLS, ROUNDS)
    rng = random.Random(11)
    load = os.getloadavg()[0]
    measured = {subject.name: Figures() for subject in SUBJECTS}
    floor: list[float] = []
    with tempfile.TemporaryDirectory(prefix="skillyard-bench-") as scratch:
        home = Path(scratch)
        root = generate(home / "skills", count)
        with running(_skillyard(root), home) as (client, _, _):  # makes the index
            client.ask("tools/call", name="search_skills", arguments={"query": "extract tables"})
        for number in range(rounds):
            for _ in range(STARTS):
                floor.append(start(FLOOR, home))
                measured[OURS].add("first answer", start(_skillyard(root), home))
            for subject in SUBJECTS:
                if subject.slow and number:
                    continue
                measure(subject, root, home, measured[subject.name], rng)
                print(f"round {number + 1}: {subject.name}", file=sys.stderr, flush=True)
    text = report(measured, floor, count=count, rounds=rounds, load=load)
    print(text)
    if options.write:
        write_part(options.write, "mcp", text)


if __name__ == "__main__":
    main()
