"""What the registry costs beside floors: reads, two processes on one database, publishing, and long lists.

`python bench/registry.py` runs everything against real servers on this machine.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import listing
import publishing
import reads
from results import write_part

REPORT = """## The registry

Every server is a process of its own on this machine (`skillyard serve`), asked over loopback by a client in another.
CPU is that of the server's process, user and system, all threads. All subjects take turns in every round; each figure
is the best round, since whatever else the machine does only adds, and "by medians" is the same ratio by the medians of
the rounds.

### Reads

A skill of three files and a page of 50 of them, beside FastAPI routes that return the same bytes from memory under the
same uvicorn: at most 1.5 times their CPU is the aim for cached and conditional reads. "Uncached" asks what was never
asked before. "At once" is the number of requests under way at each server. With tokens, the rate limit and the access
log are at work. The second table is about two processes on one PostgreSQL, asked in turn, beside what two bare servers
grow by that share nothing but this machine; the database's own CPU is beside it.

{reads}

### Publishing

Skills of three files, sent as archives, unpacked, checked, scanned, stored and published, one version each. The floor
writes and syncs the same three files by hand and commits one row to SQLite (`synchronous=FULL`).

{publishing}

### Listing

Skills with a file and a version each, private, of ten teams. One person is in all of the teams; another in none, with
20 skills of their own. No page was asked before.

{listing}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="also write the results to this file")
    parser.add_argument("--quick", action="store_true", help="few rounds, few skills")
    parser.add_argument("--only", choices=("reads", "publishing", "listing"))
    options = parser.parse_args()
    rounds = 2 if options.quick else 5
    parts = {
        "reads": lambda scratch: reads.compare(scratch, rounds=rounds, requests=600 if options.quick else 1_500),
        "publishing": lambda scratch: publishing.compare(scratch, rounds=rounds, count=20 if options.quick else 60),
        "listing": lambda scratch: listing.compare(
            scratch, rounds=rounds, skills=2_000 if options.quick else 100_000, requests=20
        ),
    }
    done: dict[str, str] = {}
    for name, compare in parts.items():
        if options.only in {None, name}:
            with tempfile.TemporaryDirectory(prefix="skillyard-bench-") as scratch:
                done[name] = compare(Path(scratch))
            print(done[name], end="\n\n", flush=True)
    if options.write:
        if options.only or options.quick:
            sys.exit("Only a whole run is written down.")
        write_part(options.write, "registry", REPORT.format(**done))


if __name__ == "__main__":
    main()
