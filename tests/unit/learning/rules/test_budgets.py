import contextlib
import json
import time
from types import SimpleNamespace
from typing import Any

import pytest

from skillyard.errors import LimitError
from skillyard.learning.rules.checks import MAX_TOLD, report
from skillyard.learning.rules.merge import merge
from skillyard.learning.rules.past_cases import MAX_TOLD as MAX_CASES
from skillyard.learning.rules.past_cases import MAX_TRIED, try_cases
from skillyard.learning.rules.table import MAX_COLUMNS, MAX_PARTS, MAX_RULES, MAX_SIZE, parse_table, table_document
from skillyard.learning.states import MergeMode


def document(columns: int, rows: int, alternatives: int, *, policy: str = "F", seed: int = 0) -> dict[str, Any]:
    """Cells of intervals that overlap here and there: as much work as a table can be."""

    def cell(row: int, column: int) -> str:
        begins = [(row * 7 + column * 3 + each * 5 + seed) % 1000 for each in range(alternatives)]
        return ", ".join(f"[{begin}..{begin + 1}]" for begin in begins)

    return {
        "hit_policy": policy,
        "inputs": [{"id": f"c{at}", "type": "number"} for at in range(columns)],
        "outputs": [{"id": "out", "type": "number"}],
        "rules": [{"when": [cell(row, at) for at in range(columns)], "then": [row]} for row in range(rows)],
    }


LARGEST = [(MAX_COLUMNS - 1, MAX_RULES, 1), (5, MAX_RULES, 1), (1, 100, 190), (39, 25, 19), (2, MAX_RULES, 18)]
"""As many columns, rows and alternatives as are allowed together."""


@pytest.mark.parametrize("size", LARGEST)
@pytest.mark.parametrize("policy", "UFC")
def test_the_worst_table_that_is_allowed_takes_well_under_a_second(size: tuple[int, int, int], policy: str) -> None:
    given = document(*size, policy=policy)
    other = document(*size, policy=policy, seed=3) | {"rules": document(*size, seed=3)["rules"][:20]}
    used = time.process_time()
    table = parse_table(given)
    found = report(table)
    used = time.process_time() - used
    assert used < 1.5, f"{used:.2f} s of processor time"  # a third of it on a quiet machine
    assert len(json.dumps(found.as_dict())) < 500_000
    used = time.process_time()
    with contextlib.suppress(LimitError):
        merge(table, parse_table(other), MergeMode.REFINE)
    assert time.process_time() - used < 1.5


@pytest.mark.parametrize(
    ("given", "limit"),
    [(document(40, 500, 30), MAX_SIZE), (document(40, 320, 2), MAX_PARTS), (document(30, 40, 30), MAX_PARTS)],
)
def test_a_table_over_the_budget_is_refused_with_the_limit_at_once(given: dict[str, Any], limit: int) -> None:
    used = time.process_time()
    with pytest.raises(LimitError) as caught:
        parse_table(given)
    assert time.process_time() - used < 1.5
    details = caught.value.details
    assert (details["field"], details["limit"]) == ("table", limit)
    assert details["value"] > limit
    assert caught.value.hint


def test_two_tables_that_become_one_over_the_budget_are_refused() -> None:
    old, new = (parse_table(document(3, 300, 1, seed=seed)) for seed in (0, 500))
    with pytest.raises(LimitError) as caught:
        merge(old, new, MergeMode.EXTEND)
    assert (caught.value.details["value"], caught.value.details["limit"]) == (600, MAX_RULES)


def test_a_table_of_hundreds_of_rows_is_looked_over_completely() -> None:
    rules = [{"when": [f'"region {at % 20}"', f"[{at}..{at + 1})", "-"], "then": [at]} for at in range(400)]
    columns = [{"id": "region", "type": "string"}, {"id": "amount", "type": "number"}, {"id": "vip", "type": "boolean"}]
    table = {"hit_policy": "U", "inputs": columns, "outputs": [{"id": "out", "type": "number"}], "rules": rules}
    found = report(parse_table({**table, "default": [0]}))
    assert found.complete
    assert found.remarks == ()


def test_remarks_beyond_the_bound_are_counted() -> None:
    rules = [{"when": ["-"], "then": [at]} for at in range(100)]
    column = [{"id": "it", "type": "number"}]
    found = report(
        parse_table({"hit_policy": "U", "inputs": column, "outputs": [{"id": "out", "type": "number"}], "rules": rules})
    )
    assert len(found.remarks) == MAX_TOLD
    assert found.more == 100 * 99 // 2 - MAX_TOLD


def _cases(count: int, *, pinned: bool = False) -> list[Any]:
    return [SimpleNamespace(id=str(at), inputs={"c0": at}, outputs={"out": -1}, pinned=pinned) for at in range(count)]


def test_as_many_past_cases_are_tried_as_the_size_of_the_table_allows() -> None:
    table = parse_table(document(1, 500, 19))
    most = MAX_TRIED // 10_000
    found = try_cases(table, _cases(most + 10))
    assert found.untried == 10
    assert len(found.changed) + found.more == most
    assert len(found.changed) == MAX_CASES
    with pytest.raises(LimitError) as caught:
        try_cases(table, _cases(most + 1, pinned=True))
    assert caught.value.details["limit"] == most


def test_a_table_keeps_its_form_within_the_budget() -> None:
    given = document(39, 500, 1)
    assert table_document(parse_table(given))["rules"][7]["when"] == given["rules"][7]["when"]
