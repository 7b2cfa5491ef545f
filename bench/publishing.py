"""What publishing costs beside the least that keeps the same files: each synced, and one row committed."""

import itertools
import os
import random
import sqlite3
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Lock

from cost import used
from load import drive, post_archive
from reads import archive_of
from results import table
from servers import skillyard

_FILES = 3
_SIZE = 4096
_LANES = (1, 8)


class Floor:
    """Files written and synced, then one row in SQLite, synced too: by hand, with nothing around it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count()
        self._pen = Lock()
        self._database = sqlite3.connect(folder / "floor.sqlite", isolation_level=None, check_same_thread=False)
        for pragma in ("journal_mode=WAL", "synchronous=FULL"):
            self._database.execute(f"PRAGMA {pragma}")
        self._database.execute("CREATE TABLE published (number INTEGER PRIMARY KEY, name TEXT)")

    def publish(self, content: bytes) -> None:
        number = next(self._numbers)
        for part in range(_FILES):
            descriptor = os.open(self._folder / f"{number}-{part}", os.O_WRONLY | os.O_CREAT)
            os.write(descriptor, content)
            os.fsync(descriptor)
            os.close(descriptor)
        with self._pen:
            self._database.execute("INSERT INTO published VALUES (?, ?)", (number, "skill"))

    def close(self) -> None:
        self._database.close()


def compare(scratch: Path, *, rounds: int, count: int) -> str:
    """The floor and a local server in turn, alone and with eight who publish at once."""
    rng = random.Random(11)
    numbers = itertools.count()
    for folder in ("floor", "publishing"):
        (scratch / folder).mkdir()

    def by_hand(lanes: int) -> float:
        contents = [rng.randbytes(_SIZE) for _ in range(count)]
        began = time.perf_counter()
        with ThreadPoolExecutor(lanes) as pool:
            list(pool.map(floor.publish, contents))
        return (time.perf_counter() - began) / count * 1000

    def by_server(lanes: int) -> float:
        archives = [archive_of(f"made-{next(numbers):05d}", rng, others=_FILES - 1, size=_SIZE) for _ in range(count)]
        requests = [post_archive(archive) for archive in archives]
        before = used([server.pid])[server.pid]
        began = time.perf_counter()
        drive([server.port], requests, lanes=lanes, status=201)
        cpu[lanes].append((used([server.pid])[server.pid] - before) / count * 1000)
        return (time.perf_counter() - began) / count * 1000

    cpu: dict[int, list[float]] = {lanes: [] for lanes in _LANES}
    times: dict[tuple[str, int], list[float]] = {}
    with closing(Floor(scratch / "floor")) as floor, skillyard(scratch / "publishing") as server:
        for number in range(rounds + 1):
            for lanes in _LANES:
                for name, publish in (("floor", by_hand), ("skillyard", by_server)):
                    took = publish(lanes)
                    if number:  # the first only warms up
                        times.setdefault((name, lanes), []).append(took)
    medians = {key: statistics.median(took) for key, took in times.items()}
    rows = [
        [
            f"{name}, {'one after another' if lanes == 1 else f'{lanes} at once'}",
            f"{took:.2f}",
            f"{1000 / took:,.0f}",
            f"{took / medians['floor', lanes]:.2f}",
            f"{statistics.median(cpu[lanes]):.2f}" if name == "skillyard" else "",
        ]
        for (name, lanes), took in medians.items()
    ]
    return table(["publishing 3 files of 4 KiB", "ms each", "per second", "of the floor", "server CPU ms"], rows)
