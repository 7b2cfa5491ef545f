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
percentile, and 300 KB with all scripts, styles and pictures that the page names. "First" is the first time that the
page is asked for after a change.

{table}
"""
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
            skills=options.skills, times=options.times, table=_measured(Path(scratch), options.skills, options.times)
        )
    sys.stdout.write(report)
    if options.write:
        write_part(options.write, "pages", report)


def _measured(home: Path, skills: int, times: int) -> str:
    url = f"sqlite:///{home / 'registry.sqlite'}"
    with skillyard(home, database_url=url) as server:
        name = _publish(server, skills)
        rows: list[list[str]] = []
        for number, path in enumerate(_pages(name)):
            ask(server.port, post_archive(_archive(random.Random(number), [f"new-{number}"], 0)), status=201)
            rows.append(_row(server, path, times))
    return table(["page", "first ms", "median ms", "p95 ms", "KB"], rows)


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


def _row(server: Server, path: str, times: int) -> list[str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    taken: list[float] = []
    body = b""
    for _ in range(times):
        begun = time.perf_counter()
        connection.request("GET", path, headers=_HEADERS)
        answer = connection.getresponse()
        body = answer.read()
        taken.append((time.perf_counter() - begun) * 1000)
        if answer.status != http.client.OK:
            raise SystemExit(f"{path} answered {answer.status}")
    weight = len(body) + sum(_size(connection, each) for each in _ASSET.findall(gzip.decompress(body).decode()))
    connection.close()
    first, *later = taken
    high = statistics.quantiles(later, n=20)[-1]
    figures = (first, statistics.median(later), high)
    return [f"`{path}`", *(f"{each:.1f}" for each in figures), f"{weight / 1000:.0f}"]


def _size(connection: http.client.HTTPConnection, path: str) -> int:
    connection.request("GET", path, headers=_HEADERS)
    return len(connection.getresponse().read())


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
