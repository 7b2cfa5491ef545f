import asyncio

import pytest

from skillyard.app.learning_checks import examine_learning
from skillyard.app.yard import open_yard
from skillyard.clock import utc_now
from skillyard.config.settings import Settings
from skillyard.learning.feedback import FeedbackSpec
from skillyard.learning.models import FeedbackRow, FeedbackSourceRow
from skillyard.llm.scripted import Reply, ScriptedModel, in_turn


@pytest.fixture
def settings(tmp_path, new_home):
    return Settings(home=new_home(tmp_path / "home"))


def keep(settings, *stages, source=None):
    async def scenario():
        async with open_yard(settings) as yard:
            boss = await yard.access.operator("boss")
            for at, stage in enumerate(stages):
                spec = FeedbackSpec(content=f"Say please {at}.")
                [taken] = await yard.learning.intake.take(boss, [spec])
                async with yard.database.write(bookkeeping=True) as transaction:
                    row = await transaction.session.get_one(FeedbackRow, taken.feedback.id)
                    row.stage = stage
                    row.state = "done"
            if source:
                async with yard.database.write(bookkeeping=True) as transaction:
                    given = {"kind": "url", "place": {}, "every_seconds": 60, "cursor": {}, "enabled": True}
                    whose = {"tenant_id": boss.tenant_id, "owner_id": boss.person_id, "id": "src-1"}
                    now = {"due_at": utc_now(), "created_at": utc_now()}
                    row = FeedbackSourceRow(name="desk", failures=3, error=source, **given, **whose, **now)
                    transaction.session.add(row)

    asyncio.run(scenario())


def test_without_a_model_and_without_feedback_it_is_only_noted(tmp_path):
    [check] = examine_learning(Settings(home=tmp_path))
    assert (check.name, check.status) == ("learning", "note")
    assert "no model is set" in check.message
    assert list(tmp_path.iterdir()) == []


def test_feedback_that_waits_for_a_model_is_told(settings):
    keep(settings, "waiting_for_model", "waiting_for_model", "committed")
    [check] = examine_learning(settings)
    assert (check.status, check.message) == ("warning", "no model is set; 2 pieces of feedback wait")
    assert "skillyard config set model" in check.fix


def test_what_needs_a_person_and_what_cannot_be_read_is_told(settings):
    keep(settings, "needs_review", source="It answered with the status 500.")
    _, person, source = examine_learning(settings)
    assert person.message == "a person is needed for 1 piece of feedback"
    assert source.message == "The source 'desk' cannot be read: It answered with the status 500."


@pytest.mark.parametrize(
    ("reply", "status", "said"),
    [
        (Reply(text="yes"), "ok", "openai:scripted answers"),
        (Reply(status=400, text="no such model"), "warning", "no such model"),
    ],
)
def test_the_model_is_asked(settings, reply, status, said):
    with ScriptedModel(in_turn(reply)) as model:
        [check] = examine_learning(settings.model_copy(update=model.settings))
    assert check.status == status
    assert said in check.message
