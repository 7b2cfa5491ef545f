"""Those who look on are told what runs as it happens, and those who come late what they missed."""

import pytest

from skillyard.sandbox.executions import ExecType
from skillyard.sandbox.onlookers import Begun, Ended, Onlookers, Wrote

pytestmark = pytest.mark.anyio
SOON = 5.0


def begin(onlookers, sandbox_id="sandbox-1", code="ls"):
    return onlookers.running(sandbox_id, ExecType.SHELL, lambda: code)


async def test_a_run_is_seen_from_its_beginning_to_its_end():
    onlookers = Onlookers()
    with onlookers.looking_at("sandbox-1") as onlooker:
        with begin(onlookers) as wrote:
            wrote("stdout", b"one")
            wrote("stderr", b"two")
        seen = await onlooker.look(SOON)
    assert [type(each) for each in seen] == [Begun, Wrote, Wrote, Ended]
    assert seen[0].code == "ls"
    assert [(each.stream, each.text) for each in seen[1:3]] == [("stdout", "one"), ("stderr", "two")]
    assert len({each.run_id for each in seen}) == 1


async def test_who_comes_late_is_told_what_is_under_way_and_what_it_wrote():
    onlookers = Onlookers()
    with begin(onlookers) as wrote:
        wrote("stdout", b"x" * 100_000)
        wrote("stdout", b"latest")
        with onlookers.looking_at("sandbox-1") as onlooker:
            seen = await onlooker.look(SOON)
    assert [type(each) for each in seen] == [Begun, Wrote]
    assert seen[1].text == "latest"


async def test_a_character_that_comes_in_two_pieces_is_one():
    onlookers = Onlookers()
    with onlookers.looking_at("sandbox-1") as onlooker, begin(onlookers) as wrote:
        wrote("stdout", "é".encode()[:1])
        wrote("stdout", "é".encode()[1:])
        seen = await onlooker.look(SOON)
    assert [each.text for each in seen if isinstance(each, Wrote)] == ["é"]


async def test_nothing_is_seen_of_another_sandbox_and_a_look_ends_without_news():
    onlookers = Onlookers()
    with onlookers.looking_at("sandbox-1") as onlooker:
        with begin(onlookers, "sandbox-2") as wrote:
            wrote("stdout", b"elsewhere")
        assert await onlooker.look(0.0) == []


async def test_who_is_slow_misses_output_but_neither_beginnings_nor_ends():
    onlookers = Onlookers()
    with onlookers.looking_at("sandbox-1") as onlooker:
        with begin(onlookers) as wrote:
            for _ in range(20):
                wrote("stdout", b"x" * 50_000)
        seen = await onlooker.look(SOON)
    assert [type(seen[0]), type(seen[-1])] == [Begun, Ended]
    assert sum(len(each.text) for each in seen if isinstance(each, Wrote)) < 500_000


async def test_code_is_read_only_when_someone_looks():
    onlookers = Onlookers()
    read = []
    with onlookers.running("sandbox-1", ExecType.PYTHON, lambda: read.append(1) or "1") as wrote:
        wrote("stdout", b"unseen")
    assert read == []
