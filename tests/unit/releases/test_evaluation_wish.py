import pytest

from skillyard.errors import InputError
from skillyard.releases.evaluation_wish import ReplayWish
from skillyard.releases.payload_json import parse_payload

PAYLOAD = parse_payload(
    {
        "kind": "code",
        "variables": {"name": {"type": "string"}, "pin": {"secret": True}, "town": {"default": "Bath"}},
        "steps": [{"type": "shell", "cmd": "echo {{name}} {{pin}} {{town}}"}],
    }
)


def test_secrets_are_in_no_case_however_they_are_given():
    wish = ReplayWish(variables={"name": "Ada", "pin": "1234"}, secrets={"town": "Secretville"})
    assert wish.hidden(PAYLOAD) == {"pin": "1234", "town": "Secretville"}
    assert wish.cases(PAYLOAD, None) == [{"variables": {"name": "Ada"}, "checks": [], "secrets": ["pin", "town"]}]


def test_a_benchmark_gives_what_the_payload_knows_and_is_overruled_by_what_is_asked():
    kept = [{"variables": {"name": "Ada", "other": 1}, "checks": [{"kind": "file_exists", "value": "x"}]}, {}]
    wish = ReplayWish(variables={"town": "York"}, secrets={"pin": "1"})
    with pytest.raises(InputError, match="name"):
        wish.cases(PAYLOAD, kept)
    assert wish.cases(PAYLOAD, kept[:1]) == [
        {"variables": {"name": "Ada", "town": "York"}, "checks": kept[0]["checks"], "secrets": ["pin"]}
    ]


@pytest.mark.parametrize("wrong", [{"runs": 0}, {"runs": 101}, {"seconds": 0}, {"seconds": 601}])
def test_numbers_out_of_range_are_refused(wrong):
    with pytest.raises(InputError) as caught:
        ReplayWish(**wrong)
    assert caught.value.details["limit"] in {100, 600}
