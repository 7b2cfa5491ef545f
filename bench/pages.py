"""What the pages of a large yard take: the time until each is there, and what it weighs.

`python bench/pages.py` serves a yard on this machine and asks for its pages over loopback, one after the other.
"""

import argparse
import gzip
import http.client
import json
import random
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

from crowd import add_skills
from generate import skill_md
from results import table, write_part
from servers import Server, skillyard

REPORT = """## Pages

A yard of {skills:,} skills on SQLite, asked for each page {times} times as a browser asks (`Accept: text/html`,
compressed), nothing else under way. The aim is at most 50 ms at the 95th percentile, and 300 KB with all scripts,
styles and pictures that the page names.

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
        name = _own_skill(server)
        add_skills(url, [name.partition("/")[0]], skills)
        _until_found(server)
        rows = [_row(server, path, times) for path in _pages(name)]
    return table(["page", "median ms", "p95 ms", "KB"], rows)


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
    high = statistics.quantiles(taken[1:], n=20)[-1]
    return [f"`{path}`", f"{statistics.median(taken):.1f}", f"{high:.1f}", f"{weight / 1000:.0f}"]


def _size(connection: http.client.HTTPConnection, path: str) -> int:
    connection.request("GET", path, headers=_HEADERS)
    return len(connection.getresponse().read())


def _own_skill(server: Server) -> str:
    """A skill that was really written: the crowd beside it has no files."""
    body = {"name": "looked-at", "description": "Reads. Use when reading.", "content": skill_md(random.Random(1), "x")}
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("POST", "/api/v1/skills", json.dumps(body), {"Content-Type": "application/json"})
    made = json.loads(connection.getresponse().read())["data"]
    connection.close()
    return made["full_name"]


def _until_found(server: Server) -> None:
    """Wait for the index to have them all."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    for _ in range(600):
        connection.request("GET", "/skills.json?q=migration")
        if b"migration-" in connection.getresponse().read():
            break
        time.sleep(0.1)
    connection.close()


if __name__ == "__main__":
    main()
