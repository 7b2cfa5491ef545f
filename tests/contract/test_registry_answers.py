"""What a write answers: the skill as whoever reads it next finds it, made with few statements."""

import pytest
from sqlalchemy import event

from skillyard.skill.bundle import BundleFile

pytestmark = pytest.mark.anyio

_SCRIPT = BundleFile("scripts/run.py", b"print('hello')\n", executable=True)
_NOTES = BundleFile("Notes.md", b"See [the script](scripts/run.py) and [what is gone](gone.md).\n")


async def test_what_a_write_answers_is_what_is_read_afterwards(world):
    first = await world.publish_bundle(world.publisher, world.bundle("answered", _SCRIPT, _NOTES), "1.0.0")
    assert first.skill == await world.get(first.skill)
    assert first.skill.latest == "1.0.0"
    second = await world.publish_bundle(world.publisher, world.bundle("answered", _NOTES, body="More.\n"), "2.0.0-rc.1")
    assert second.skill == await world.get(first.skill)
    assert second.skill.latest == "1.0.0"
    edited = await world.edit(world.publisher, first.skill, "Edited.\n")
    assert edited == await world.get(first.skill)
    labelled = await world.publish(world.publisher, edited, "2.0.0")
    assert labelled.skill == await world.get(first.skill)
    assert labelled.skill.latest == "2.0.0"


async def test_a_version_that_waits_for_review_is_not_the_latest_in_the_answer(world):
    await world.set_policy(review=True)
    done = await world.publish_bundle(world.publisher, world.bundle("waiting"), "1.0.0", namespace=world.team)
    assert done.skill == await world.get(done.skill)
    assert done.skill.latest is None


async def test_publishing_a_new_skill_takes_few_statements(world):
    statements: list[str] = []

    def note(_connection, _cursor, statement, *_rest) -> None:
        statements.append(statement)

    writer = world.yard.database._writer.sync_engine
    event.listen(writer, "before_cursor_execute", note)
    try:
        await world.publish_bundle(world.publisher, world.bundle("counted", _SCRIPT, _NOTES), "1.0.0")
    finally:
        event.remove(writer, "before_cursor_execute", note)
    assert len(statements) <= 16, "\n".join(statements)
