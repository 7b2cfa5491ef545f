"""What the pages of a large yard take: the time until each is there, and what it weighs.

`python bench/pages.py` serves a yard on this machine and asks for its pages over loopback, one after the other.
"""

import argparse
import gzip
import http.client
import random
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

from generate import WORDS, skill_md
from load import ask, drive, post_archive
from results import table, write_part
from servers import Server, skillyard

from skillyard.skill.archive import pack
from skillyard.skill.bundle import Bundle, BundleFile

REPORT = """## Pages

A yard of {skills:,} published skills on SQLite, a third of which refer to another one, asked for each page {times}
times as a browser asks (`Accept: text/html`, compressed), nothing else under way. The aim is at most 50 ms at the 95th
percentile, and 300 KB with all scripts, styles and pictures that the page names. "First" is the first time that a
server which was just started is asked for the page, one page after the other: it imports what the page needs. "Changed"
is the median of {changes} times, before each of which a skill was published.

{table}
"""
_CHANGES = 7
_REST = 0.3
"""Seconds in which the server does what it does after a change, beside answering: it indexes the skill for search."""
_HEADERS = {"Accept": "text/html", "Accept-Encoding": "gzip"}
_ASSET = re.compile(r'(?:src|href)="(/static/[^"]+)"')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skills", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=60)
    parser.add_argument("--write", type=Path, help="put the results into this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="skillyard-bench-") as scratch:
        report = REPORT.format(
            skills=options.skills,
            times=options.times,
            changes=_CHANGES,
            table=_measured(Path(scratch), options.skills, options.times),
        )
    sys.stdout.write(report)
    if options.write:
        write_part(options.write, "pages", report)


def _measured(home: Path, skills: int, times: int) -> str:
    url = f"sqlite:///{home / 'registry.sqlite'}"
    with skillyard(home, database_url=url) as server:
        name = _publish(server, skills)
    with skillyard(home, database_url=url) as server:
        first = {path: _taken(server, path, 1)[0] for path in _pages(name)}
        rows = [_row(server, path, first[path], times) for path in _pages(name)]
    return table(["page", "first ms", "changed ms", "median ms", "p95 ms", "KB"], rows)


def _pages(name: str) -> list[str]:
    below = ("", "/files", "/versions", "/history", "/edit")
    rooms = ("/", "/skills", "/skills?q=migration+report+for+a+customer", "/graph", "/history", "/settings")
    lists = (
        *rooms,
        "/releases",
        "/releases/candidates",
        "/learning",
        "/learning/rules",
        "/learning/memories",
        "/sandboxes",
    )
    return [*lists, *(f"/skills/{name}{each}" for each in below)]


def _row(server: Server, path: str, first: float, times: int) -> list[str]:
    changed = [_taken_after_change(server, path) for _ in range(_CHANGES)]
    taken = _taken(server, path, times)
    figures = (first, statistics.median(changed), statistics.median(taken), statistics.quantiles(taken, n=20)[-1])
    return [f"`{path}`", *(f"{each:.1f}" for each in figures), f"{_weight(server, path) / 1000:.0f}"]


def _taken_after_change(server: Server, path: str) -> float:
    name = f"new-{time.monotonic_ns()}"
    ask(server.port, post_archive(_archive(random.Random(name), [name], 0)), status=201)
    time.sleep(_REST)
    return _taken(server, path, 1)[0]


def _taken(server: Server, path: str, times: int) -> list[float]:
    """The milliseconds until the whole page was there, each time on the same connection."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.connect()
    taken: list[float] = []
    for _ in range(times):
        begun = time.perf_counter()
        _get(connection, path)
        taken.append((time.perf_counter() - begun) * 1000)
    connection.close()
    return taken


def _weight(server: Server, path: str) -> int:
    """The bytes of a page and of all that it names."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    body = _get(connection, path)
    named = _ASSET.findall(gzip.decompress(body).decode())
    weight = len(body) + sum(len(_get(connection, each)) for each in named)
    connection.close()
    return weight


def _get(connection: http.client.HTTPConnection, path: str) -> bytes:
    connection.request("GET", path, headers=_HEADERS)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != http.client.OK:
        raise SystemExit(f"{path} answered {answer.status}")
    return body


def _publish(server: Server, count: int) -> str:
    """Publish skills of which every third refers to another one, and answer where the first of them is."""
    rng = random.Random(7)
    names = [f"{rng.choice(WORDS)}-{number:05d}" for number in range(count)]
    first, *others = (post_archive(_archive(rng, names, number)) for number in range(count))
    drive([server.port], others, lanes=4, status=201)
    return ask(server.port, first, status=201).data["data"]["full_name"]


def _archive(rng: random.Random, names: list[str], number: int) -> bytes:
    text = skill_md(rng, names[number])
    if number % 3 == 0:
        text += f"\nThen go on with [[{rng.choice(names)}]].\n"
    files = [BundleFile("SKILL.md", text.encode()), BundleFile("scripts/run.py", b"print('done')\n")]
    return pack(Bundle(files), names[number])


if __name__ == "__main__":
    main()
