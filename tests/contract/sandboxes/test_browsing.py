"""Steps in the browser: each answered, all of them one execution, and what they acted on kept as a trace."""

from dataclasses import replace

import pytest
from tests.contract.sandboxes.browsers import Browsers, BrowserSession

from skillyard.errors import CapabilityError, InputError, NotFoundError
from skillyard.sandbox.executions import Asked, ExecType
from skillyard.sandbox.models import TraceRow
from skillyard.sandbox.runs import Wish
from skillyard.sandbox.sandboxes import SandboxSpec
from skillyard.sandbox.session import BrowserOutcome, Ending

pytestmark = pytest.mark.anyio

BUTTON = {"ref": "e2", "role": "button", "name": "Send", "url": "http://me:hidden@host/"}


class Page(BrowserSession):
    """A session whose browser does as it is told: what is to be done to `@e9` fails, the rest succeeds."""

    def __init__(self):
        super().__init__()
        self.steps = []

    async def browse(self, step, *, seconds, secrets):
        self.steps.append((step.verb, step.arguments))
        failed = "@e9" in step.arguments
        return BrowserOutcome(
            success=not failed,
            output="" if failed else f"did {step.verb}",
            error="There is no such element." if failed else None,
            ending=Ending.EXITED,
            target=BUTTON if step.verb == "click" else None,
            screenshot=None,
            seconds=0.25,
        )


@pytest.fixture
async def page(here):
    here.choice.backend = Browsers(Page())
    return here.choice.backend.page


@pytest.fixture
async def made(world, here, page):
    return await here.sandboxes.create(world.editor, SandboxSpec(profile="browser-python"))


async def test_a_step_is_taken_and_recorded(world, here, page, made):
    done = await here.browsing.step(world.editor, made.id, "open http://127.0.0.1/")
    assert (done.output, done.error, done.execution.exit_code) == ("did open", None, 0)
    kept = await here.log.get(made.id, done.execution.id)
    assert (kept.exec_type, kept.code, kept.success) == (ExecType.BROWSER, "open http://127.0.0.1/", True)
    assert (kept.learn, kept.learn_status) == (False, None)
    assert page.steps == [("open", ("http://127.0.0.1/",))]


async def test_a_row_of_steps_is_one_execution(world, here, made):
    done = await here.browsing.batch(world.editor, made.id, ["open http://127.0.0.1/", "click @e2"])
    assert [(step.index, step.command, step.output) for step in done.outcome.steps] == [
        (0, "open http://127.0.0.1/", "did open"),
        (1, "click @e2", "did click"),
    ]
    assert (done.outcome.success, done.outcome.completed, done.outcome.total) == (True, 2, 2)
    page = await here.log.page(made.id, Asked())
    assert [(entry.exec_type, entry.code) for entry in page.entries] == [
        (ExecType.BROWSER_BATCH, "open http://127.0.0.1/\nclick @e2")
    ]


async def test_a_step_that_fails_ends_the_row_unless_it_is_to_go_on(world, here, page, made):
    commands = ["click @e9", "click @e2"]
    ended = await here.browsing.batch(world.editor, made.id, commands)
    assert [step.exit_code for step in ended.outcome.steps] == [1]
    assert (ended.execution.success, ended.error) == (False, "There is no such element.")
    went_on = await here.browsing.batch(world.editor, made.id, commands, stop_on_error=False)
    assert [step.exit_code for step in went_on.outcome.steps] == [1, 0]
    assert (went_on.outcome.success, went_on.outcome.completed) == (False, 2)


async def test_a_step_that_nobody_understands_fails_like_any_other(world, here, page, made):
    done = await here.browsing.batch(world.editor, made.id, ["dance wildly", "click @e2"], stop_on_error=False)
    assert [step.exit_code for step in done.outcome.steps] == [1, 0]
    assert "dance" in done.error
    assert [verb for verb, _ in page.steps] == ["click"]


async def test_a_row_has_the_time_of_the_whole(world, here, page, made, monkeypatch):
    monkeypatch.setattr(page, "browse", None)
    done = await here.browsing.batch(world.editor, made.id, ["click @e2", "click @e2"], Wish(seconds=1e-9))
    assert done.execution.ending == Ending.TIMEOUT
    assert len(done.outcome.steps) == 1


async def test_a_trace_is_kept_of_every_run(world, here, made):
    done = await here.browsing.batch(world.editor, made.id, ["click @e2"], trace=True)
    trace = await here.log.trace(made.id, done.execution.trace_ref)
    assert (trace["kind"], trace["success"], trace["total_steps"], trace["completed_steps"]) == (
        "browser_batch_trace",
        True,
        1,
        1,
    )
    (step,) = trace["steps"]
    assert (step["kind"], step["cmd"], step["stdout"], step["exit_code"]) == (
        "individual_action",
        "click @e2",
        "did click",
        0,
    )
    assert step["target"] == {**BUTTON, "url": "http://me:{{secret:password}}@host/"}
    learned = await here.browsing.step(world.editor, made.id, "click @e2", Wish(learn=True))
    kept = await here.log.get(made.id, learned.execution.id)
    assert (kept.learn, kept.learn_status) == (True, "pending")
    assert (await here.log.trace(made.id, kept.trace_ref.removeprefix("blob:")))["kind"] == "browser_exec_trace"
    plain = await here.browsing.step(world.editor, made.id, "click @e2")
    (step,) = (await here.log.trace(made.id, plain.execution.trace_ref))["steps"]
    assert (step["cmd"], step["target"]["name"]) == ("click @e2", "Send")


async def test_of_much_output_all_is_in_the_trace_only_if_asked_for(world, here, page, made, monkeypatch):
    whole = page.browse

    async def browse(step, **more):
        return replace(await whole(step, **more), output="x" * 300_000)

    monkeypatch.setattr(page, "browse", browse)
    for asked, size in ((True, 250_000), (False, 128 * 1024)):
        done = await here.browsing.batch(world.editor, made.id, ["snapshot", "snapshot"], trace=asked)
        steps = (await here.log.trace(made.id, done.execution.trace_ref))["steps"]
        assert all(size <= len(step["stdout"]) < size + 20_000 for step in steps)
        assert len(done.outcome.steps[0].output) == 300_000


async def test_a_trace_is_for_its_sandbox_and_its_blob_is_no_orphan(world, here, tables, made):
    done = await here.browsing.step(world.editor, made.id, "click @e2", trace=True)
    other = await here.sandboxes.create(world.editor, SandboxSpec(profile="browser-python"))
    for sandbox, ref in ((other, done.execution.trace_ref), (made, "blob:blob-000000000000")):
        with pytest.raises(NotFoundError):
            await here.log.trace(sandbox.id, ref)
    row = next(row for row in await tables.all(TraceRow) if f"blob:{row.id}" == done.execution.trace_ref)
    async with world.yard.database.read() as session:
        for referrer in world.yard.orphans._referrers:
            if row.sha256 in await referrer(session, [row.sha256]):
                return
    pytest.fail("the blob of a trace would be collected")


async def test_secrets_of_a_row_are_in_no_answer_record_or_trace(world, here, made):
    wish = Wish(secrets={"PASSWORD": "hunter2-and-more"})
    done = await here.browsing.batch(world.editor, made.id, ['fill @e1 "hunter2-and-more"'], wish, trace=True)
    trace = await here.log.trace(made.id, done.execution.trace_ref)
    kept = await here.log.get(made.id, done.execution.id)
    assert "hunter2" not in f"{trace}{kept}{done.outcome}"
    assert kept.code == 'fill @e1 "{{secret:PASSWORD}}"'


async def test_only_a_sandbox_with_a_browser_takes_steps(world, here, page):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    with pytest.raises(CapabilityError):
        await here.browsing.step(world.editor, made.id, "open about:blank")
    for wrong in ([], ["click @e2"] * 501):
        with pytest.raises(InputError):
            await here.browsing.batch(world.editor, made.id, wrong)
