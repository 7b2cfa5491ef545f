"""How often releases are taken back and promoted, rightly and wrongly, if every run is looked at.

`python bench/decisions.py` works out what can be worked out exactly, and simulates the rest with fixed seeds.
"""

import argparse
import random
import sys
import time
from collections.abc import Sequence
from functools import cache
from math import comb
from pathlib import Path

from results import table, write_part

from skillyard.releases.decisions.latency import LEAST_RUNS, compare_latency
from skillyard.releases.decisions.sequential import Action, compare, regression
from skillyard.releases.decisions.tally import Tally
from skillyard.releases.policy import ReleasePolicy

POLICY = ReleasePolicy()
RATES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.999)
STABLE = (20, 100, 1000)
CAUGHT_WITHIN = 100
SEED = 20
UNLIKELY = 1e-6
"""Counts of stable that are left out."""

REPORT = """## Decisions about releases

A canary beside a stable release, looked at after every run of the canary: how often it is taken back. The rule is
`releases.decisions.sequential`: a Bayes factor of 25 for outcomes (4 of the 5 % of error) and of 100 for durations
(1 %), from {least} runs of each on.

### Equal releases: false rollbacks

At most 5 % over the whole window is the aim. "Frozen" means that stable ran so often before and runs no more: worked
out exactly, over {window} runs of the canary. The rest is simulated, {trials} trials a figure, over {short} runs:
stable ran so often before, and goes on beside the canary, "+4" with four runs for each of the canary's.

{equal}

With durations compared as well ({slow_trials} trials, both log-normal, stable 100 runs and two more for each of the
canary's, {slow_runs} runs, looked at every 5): {slow}.

### Worse canaries: caught within {caught} runs

At least 95 % for stable 98 % and canary 80 % is the aim; exact, with stable frozen at so many runs.

{worse}

### Promotion

Stable ran 100 times before; {looked} runs of the canary, looked at every 10, with the window over; {promotions} trials.
At most 5 % of canaries that are worse by the margin (10 points) may be promoted.

{promotion}
"""


def chance_of_rollback(stable_runs: int, stable_rate: float, canary_rate: float, runs: int) -> float:
    """Exactly how likely a canary is taken back within so many runs, if stable ran before and runs no more."""
    total = 0.0
    for failures in range(stable_runs + 1):
        weight = _binomial(failures, stable_runs, 1 - stable_rate)
        if weight > UNLIKELY:
            total += weight * _crossing(Tally(stable_runs - failures, stable_runs), canary_rate, runs)
    return total


def _binomial(count: int, runs: int, rate: float) -> float:
    return (
        comb(runs, count) * rate**count * (1 - rate) ** (runs - count) if 0 < rate < 1 else float(count == runs * rate)
    )


def _crossing(stable: Tally, rate: float, runs: int) -> float:
    """The probability of all paths of the canary that reach a rollback; `alive` is by the number of failures."""
    alive, gone = [1.0], 0.0
    for number, least in enumerate(boundary(stable, runs), start=1):
        alive = [a * rate + b * (1 - rate) for a, b in zip([*alive, 0.0], [0.0, *alive], strict=True)]
        if least <= number:
            gone += sum(alive[least:])
            alive = alive[:least]
    return gone


@cache
def boundary(stable: Tally, runs: int) -> Sequence[int]:
    """For each number of runs the failures from which on the canary is taken back."""

    def taken_back(failures: int, number: int) -> bool:
        return regression(stable, Tally(number - failures, number), policy=POLICY) is not None

    bounds: list[int] = []
    least = 0
    for number in range(1, runs + 1):
        while least <= number and not taken_back(least, number):
            least += 1
        while least > 0 and taken_back(least - 1, number):
            least -= 1
        bounds.append(least)
    return bounds


def rolls_back(chance: random.Random, stable: Tally, rate: float, *, beside: int, runs: int) -> bool:
    """One canary as good as stable, with runs of stable beside each of its own."""
    passes, before = 0, stable
    for number in range(1, runs + 1):
        passes += chance.random() < rate
        more = sum(chance.random() < rate for _ in range(beside))
        before = Tally(before.passes + more, before.runs + beside)
        if regression(before, Tally(passes, number), policy=POLICY) is not None:
            return True
    return False


def false_rollbacks(rate: float, start: int, *, beside: int, runs: int, trials: int) -> float:
    chance = random.Random(f"{SEED}/{rate}/{start}/{beside}")
    taken = 0
    for _ in range(trials):
        stable = Tally(sum(chance.random() < rate for _ in range(start)), start)
        taken += rolls_back(chance, stable, rate, beside=beside, runs=runs)
    return taken / trials


def false_alarms_of_latency(*, runs: int, trials: int) -> float:
    """As `rolls_back`, with durations: the two tests together."""
    chance = random.Random(SEED)
    rate, taken = 0.9, 0

    def some(count: int) -> list[int]:
        return [int(chance.lognormvariate(7, 0.7)) for _ in range(count)]

    for _ in range(trials):
        before, now = some(100), some(0)
        passes, good = sum(chance.random() < rate for _ in range(100)), 0
        for number in range(5, runs + 1, 5):
            before, now = [*before, *some(10)], [*now, *some(5)]
            passes += sum(chance.random() < rate for _ in range(10))
            good += sum(chance.random() < rate for _ in range(5))
            latency = compare_latency(before, now, factor=POLICY.latency_factor) if number >= LEAST_RUNS else None
            if regression((passes, len(before)), (good, number), policy=POLICY, latency=latency) is not None:
                taken += 1
                break
    return taken / trials


def fates(stable_rate: float, canary_rate: float, *, runs: int, trials: int) -> tuple[float, float, float]:
    """The shares of canaries that are promoted and taken back, and the mean number of runs until either."""
    chance = random.Random(f"{SEED}/{stable_rate}/{canary_rate}")
    ends: dict[Action, list[int]] = {action: [] for action in Action}
    for _ in range(trials):
        stable = Tally(sum(chance.random() < stable_rate for _ in range(100)), 100)
        passes = 0
        for number in range(10, runs + 1, 10):
            passes += sum(chance.random() < canary_rate for _ in range(10))
            action = compare(stable, (passes, number), policy=POLICY).action
            if action is not Action.WAIT or number == runs:
                ends[action].append(number)
                break
    decided = [*ends[Action.PROMOTE], *ends[Action.ROLLBACK]]
    mean = sum(decided) / len(decided) if decided else 0.0
    return len(ends[Action.PROMOTE]) / trials, len(ends[Action.ROLLBACK]) / trials, mean


def equal_table(*, window: int, short: int, trials: int) -> str:
    rows: list[list[str]] = []
    for rate in RATES:
        exact = [chance_of_rollback(runs, rate, rate, window) for runs in STABLE]
        grown = [
            false_rollbacks(rate, start, beside=beside, runs=short, trials=trials)
            for start, beside in ((0, 1), (20, 4), (1000, 4))
        ]
        rows.append([f"{rate:g}", *(f"{share:.1%}" for share in (*exact, *grown))])
    columns = [
        "both pass",
        *(f"frozen {runs:,}" for runs in STABLE),
        "0 +1",
        "20 +4",
        "1,000 +4",
    ]
    return table(columns, rows)


def worse_table() -> str:
    rows = [
        [
            f"stable {stable:.0%}, canary {canary:.0%}",
            *(f"{chance_of_rollback(runs, stable, canary, CAUGHT_WITHIN):.1%}" for runs in STABLE),
        ]
        for stable, canary in ((0.98, 0.8), (0.98, 0.9), (0.98, 0.5), (0.9, 0.7), (0.8, 0.5), (1.0, 0.9))
    ]
    return table(["", *(f"{runs:,} runs of stable" for runs in STABLE)], rows)


def promotion_table(*, runs: int, trials: int) -> str:
    rows: list[list[str]] = []
    for stable, canary in ((0.98, 0.98), (0.9, 0.9), (1.0, 1.0), (0.98, 0.88), (0.9, 0.8), (0.98, 0.8)):
        promoted, back, mean = fates(stable, canary, runs=runs, trials=trials)
        rows.append([f"stable {stable:.0%}, canary {canary:.0%}", f"{promoted:.1%}", f"{back:.1%}", f"{mean:.0f}"])
    return table(["", "promoted", "taken back", "runs until then"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="also write the results to this file")
    parser.add_argument("--quick", action="store_true", help="few trials, short windows")
    options = parser.parse_args()
    started = time.perf_counter()
    window, short, trials = (60, 40, 20) if options.quick else (500, 150, 1000)
    slow_runs, slow_trials = (60, 10) if options.quick else (150, 200)
    looked, promotions = (100, 10) if options.quick else (300, 200)
    slow = false_alarms_of_latency(runs=slow_runs, trials=slow_trials)
    report = REPORT.format(
        least=POLICY.minimum_sample,
        window=window,
        short=short,
        trials=f"{trials:,}",
        equal=equal_table(window=window, short=short, trials=trials),
        slow=f"{slow:.1%} are taken back",
        slow_trials=slow_trials,
        slow_runs=slow_runs,
        caught=CAUGHT_WITHIN,
        worse=worse_table(),
        looked=looked,
        promotions=promotions,
        promotion=promotion_table(runs=looked, trials=promotions),
    )
    print(report)
    print(f"It took {time.perf_counter() - started:.1f} s.")
    if options.write:
        if options.quick:
            sys.exit("Only a whole run is written down.")
        write_part(options.write, "decisions", report)


if __name__ == "__main__":
    main()
