"""How long it takes to load a folder of skills: floors, Skillyard and its peers, side by side.

`python bench/loading.py` runs everything; each figure comes from fresh processes, with their children's CPU.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from generate import generate
from results import write_part
from subjects import SUBJECTS

SIZES = (2_000, 10_000)
ROUNDS = {2_000: 9, 10_000: 5}
SLOW = {"deepagents", "fastmcp", "skills-ref"}

REPORT = """## Loading a folder of skills

Each subject loads the same generated folders, parsed and validated where it does that, as objects. Every figure is the
median over fresh processes of the CPU time of the load alone (user and system, children included); imports are not
timed for anyone. Peak memory is that of the whole process. "First load" writes the index; "unchanged" opens it in a new
process, by `FolderLibrary` or as agents do, by `SkillsManager` or the `SkillLoader` of an `Environment`; "and a first
search" includes the import of the search engine and of its word list. "One change" is opening it after one skill was
edited, and fails unless the edit is seen.

{tables}
"""


def cpu_ms() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used) * 1000


def measure_here(subject: str, root: Path) -> dict[str, float]:
    load = SUBJECTS[subject](root)
    before = cpu_ms()
    loaded = load()
    cpu = cpu_ms() - before
    return {"cpu_ms": cpu, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "count": len(loaded)}


def measure_fresh(subject: str, root: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--subject", subject, "--root", str(root)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(subject: str, root: Path, size: int) -> dict[str, float]:
    rounds = 3 if subject in SLOW else ROUNDS[size]
    results = [measure_fresh(subject, root) for _ in range(rounds)]
    for result in results:
        if result["count"] != size:
            sys.exit(f"{subject}: loaded {result['count']} of {size}")
    return {
        "cpu_ms": statistics.median(result["cpu_ms"] for result in results),
        "peak_mb": statistics.median(result["peak_mb"] for result in results),
    }


def table(size: int, figures: dict[str, dict[str, float]]) -> str:
    yaml_floor = figures["floor: read + C YAML"]["cpu_ms"]
    stat_floor = figures["floor: stat"]["cpu_ms"]
    lines = [
        f"### {size:,} skill folders",
        "",
        "| subject | CPU ms | of stat | of read + C YAML | peak MB |",
        "|---|---:|---:|---:|---:|",
    ]
    for subject, figure in figures.items():
        cpu = figure["cpu_ms"]
        lines.append(
            f"| {subject} | {cpu:,.1f} | {cpu / stat_floor:.2f} | {cpu / yaml_floor:.2f} | {figure['peak_mb']:.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subject")
    parser.add_argument("--root", type=Path)
    parser.add_argument("--write", type=Path, help="also write the results to this file")
    parser.add_argument("--quick", action="store_true", help="2,000 folders only, no peers")
    options = parser.parse_args()
    if options.subject:
        print(json.dumps(measure_here(options.subject, options.root)))
        return
    tables: list[str] = []
    for size in SIZES[:1] if options.quick else SIZES:
        with tempfile.TemporaryDirectory() as scratch:
            root = generate(Path(scratch) / "skills", size)
            figures: dict[str, dict[str, float]] = {}
            for subject in SUBJECTS:
                if options.quick and subject in SLOW:
                    continue
                if "unchanged" in subject:
                    measure_fresh(subject, root)
                figures[subject] = measure(subject, root, size)
                print(f"{size:>6} {subject}: {figures[subject]['cpu_ms']:.1f} ms", file=sys.stderr)
            tables.append(table(size, figures))
            print(tables[-1], end="\n\n")
    if options.write:
        write_part(options.write, "loading", REPORT.format(tables="\n\n".join(tables)))


if __name__ == "__main__":
    main()
