"""What finding a skill costs, beside SQLite FTS5, bm25s, rapidfuzz and the bare engine, on the same made-up skills.

`python bench/search.py` takes some minutes; `--quick` shows that it works.
"""

import argparse
import gc
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import over_http
from corpus import Corpus, Query
from results import table, write_part
from searchers import SEARCHERS

LONG = 150
SHORT = 8
REPORT = """## Search

Made-up skills of some 400 words each, among them Chinese ones; the queries are tasks of {long} words or of {short},
with three words of the skill that they need. Every subject is given the same documents and queries, in this process,
one query after another; the time is CPU of the process. "Found" is how often the skill is among the first five.
FTS5 and bm25s cut text in their own ways and look for every word; rapidfuzz compares names and descriptions. The floor
is the engine alone, with the words that Skillyard chose, without lexicon, rights, spelling and snippets. Skillyard is
asked by somebody in 50 teams, who may see all skills, or all but those of one team, which are not found then.

{tables}

### Over HTTP

By the clock, one after another; the server is a process of its own, with tokens, rights and the skills in SQLite.

{http}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="also write the results to this file")
    parser.add_argument("--quick", action="store_true", help="few skills, few queries")
    options = parser.parse_args()
    sizes = [500] if options.quick else [1_000, 10_000, 100_000]
    tables = [_compare(size, queries=10 if options.quick else 100) for size in sizes]
    with tempfile.TemporaryDirectory(prefix="skillyard-bench-") as scratch:
        skills, queries = (100, 10) if options.quick else (1_000, 100)
        http = over_http.compare(Path(scratch), skills=skills, queries=queries)
    report = REPORT.format(long=LONG, short=SHORT, tables="\n\n".join(tables), http=http)
    print(report)
    if options.write:
        if options.quick:
            sys.exit("Only a whole run is written down.")
        write_part(options.write, "search", report)


def _compare(size: int, *, queries: int) -> str:
    corpus = Corpus(size)
    print(f"{len(corpus.documents):,} skills made up", file=sys.stderr, flush=True)
    long, short = corpus.queries(queries, words=LONG), corpus.queries(queries, words=SHORT)
    rows: list[list[str]] = []
    for name, make, most in SEARCHERS:
        if size > most:
            rows.append([name, *["too slow to wait for"] * 6])
            continue
        gc.collect()
        with tempfile.TemporaryDirectory(prefix="skillyard-bench-") as scratch:
            began = time.perf_counter()
            find = make(corpus, Path(scratch))
            rate = size / (time.perf_counter() - began)
            rows.append([name, f"{rate:,.0f}", *_measured(find, long), *_measured(find, short)])
            print(f"{size:,}: {rows[-1]}", file=sys.stderr, flush=True)
    columns = ["subject", "indexed / s", "long p50 ms", "long p95 ms", "found", "short p95 ms", "found"]
    return f"### {size:,} skills\n\n" + table(columns, [row[:5] + row[6:] for row in rows])


def _measured(find: Callable[[str], list[str]], queries: list[Query]) -> list[str]:
    times: list[float] = []
    found = 0
    for query in queries:
        began = time.process_time()
        keys = find(query.text)
        times.append((time.process_time() - began) * 1000)
        found += query.key in keys[:5]
    times.sort()
    middle, late = times[len(times) // 2], times[int(len(times) * 0.95)]
    return [f"{middle:.2f}", f"{late:.2f}", f"{found / len(queries):.0%}"]


if __name__ == "__main__":
    main()
