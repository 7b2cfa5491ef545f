import pytest

from skillyard.errors import UsageError
from skillyard.server.mcp.wanted import Wanted, wanted_by


def test_what_is_not_said_is_as_for_everyone():
    assert wanted_by(toolsets=None, budget=None) == wanted_by(toolsets="", budget="") == Wanted()
    assert Wanted().toolsets == ("skills",)
    assert Wanted().budget == 2_000


def test_a_client_says_how_much_it_wants_to_be_told():
    assert wanted_by(toolsets="sandbox", budget="300") == Wanted(toolsets=("sandbox",), budget=300)


@pytest.mark.parametrize("budget", ["299", "100001", "-1", "many", "1e3", "٣٠٠", "9" * 5_000])
def test_a_budget_out_of_bounds_is_refused(budget):
    with pytest.raises(UsageError, match="cannot have") as refused:
        wanted_by(toolsets=None, budget=budget)
    assert refused.value.details["field"] == "budget"
    assert len(refused.value.message) < 200
