"""Executions from elsewhere: kept once, without secrets, in what stands for their session and is no sandbox to use."""

from dataclasses import replace
from datetime import timedelta

import pytest

from skillyard.errors import LimitError, NotAllowedError, NotFoundError
from skillyard.identity.principals import Scope
from skillyard.releases.execution_pages import ExecutionPages, ExecutionQuery
from skillyard.releases.models import SkillRunRow
from skillyard.sandbox.executions import ExecType, Run, Said
from skillyard.sandbox.imported_runs import MAX_RUNS, ImportedRun, ImportedSession
from skillyard.sandbox.models import ExecutionNoteRow, ExecutionRow, SandboxRow

pytestmark = pytest.mark.anyio
KEY = "sk-live-0123456789abcdefghij"
SESSION = ImportedSession(agent="claude", session="aaaa-1", folder="/work/app")


@pytest.fixture
def imported(here, clock):
    def run(own_id, code="ls", *, hours_ago=1, **more):
        given = {"exec_type": ExecType.SHELL, "success": True, "ending": "exited", "exit_code": 0, "seconds": 0.5}
        made = Run(**{"code": code, "output": "", "error": None, **given, **more})
        return ImportedRun(id=own_id, run=made, at=clock() - timedelta(hours=hours_ago))

    return run


async def test_runs_are_kept_with_the_time_at_which_they_were_run(world, here, tables, imported, clock):
    runs = [imported("t1", "make", hours_ago=3), imported("t2", "make test", hours_ago=2, success=False, exit_code=2)]
    done = await here.rooms.imported.add(world.editor, SESSION, runs)
    assert (done.recorded, done.repeated) == (2, 0)
    assert done.sandbox_id.startswith("imported-")
    page = await ExecutionPages(world.yard.database).page(world.editor, ExecutionQuery(sandbox_id=done.sandbox_id))
    told = [(one.code, one.success, one.exit_code, one.created_at, one.tags) for one in page.items]
    assert told == [
        ("make test", False, 2, clock() - timedelta(hours=2), "claude,imported"),
        ("make", True, 0, clock() - timedelta(hours=3), "claude,imported"),
    ]
    (sandbox,) = await tables.of(world.editor, SandboxRow)
    assert (sandbox.profile, sandbox.backend, sandbox.deleted_at) == ("imported", "imported", clock())
    assert sandbox.labels == {"agent": "claude", "session": "aaaa-1", "folder": "/work/app"}


async def test_sent_again_nothing_changes_and_what_is_new_is_added(world, here, tables, imported):
    runs = [imported("t1"), imported("t2")]
    first = await here.rooms.imported.add(world.editor, SESSION, runs)
    before = {row.id: row.created_at for row in await tables.of(world.editor, ExecutionRow)}
    again = await here.rooms.imported.add(world.editor, SESSION, [*runs, imported("t3"), imported("t3")])
    assert (again.sandbox_id, again.recorded, again.repeated) == (first.sandbox_id, 1, 3)
    after = {row.id: row.created_at for row in await tables.of(world.editor, ExecutionRow)}
    assert len(after) == 3
    assert after.items() >= before.items()


async def test_a_run_that_two_logs_tell_of_is_kept_once_and_each_person_has_their_own(world, here, tables, imported):
    await here.rooms.imported.add(world.editor, SESSION, [imported("t1")])
    resumed = await here.rooms.imported.add(world.editor, replace(SESSION, session="b"), [imported("t1")])
    assert (resumed.recorded, resumed.repeated) == (0, 1)
    other = await here.rooms.imported.add(world.publisher, SESSION, [imported("t1")])
    assert other.recorded == 1
    assert len(await tables.of(world.editor, ExecutionRow)) == 1


async def test_secrets_are_taken_out_of_all_that_is_kept(world, here, tables, imported):
    said = Said(description=f"with api_key={KEY}")
    runs = [
        imported("t1", f"curl -H 'Authorization: Bearer {KEY}' x", output=f"got {KEY}", error=f"{KEY}!", said=said),
        imported("t2", "env", output=f"API_KEY={KEY}\nnul \0 and half \ud800"),
    ]
    await here.rooms.imported.add(world.editor, SESSION, runs)
    rows = await tables.of(world.editor, ExecutionRow)
    notes = [note for note in await tables.all(ExecutionNoteRow) if note.execution_id in {row.id for row in rows}]
    kept = [(row.code, row.output, row.error) for row in rows] + [note.description for note in notes]
    assert len(rows) == len(notes) == 2
    assert KEY not in str(kept)
    assert "{{secret:" in str(kept)


async def test_it_is_no_sandbox_and_no_run_of_a_release(world, here, tables, imported):
    done = await here.rooms.imported.add(world.editor, SESSION, [imported("t1")])
    with pytest.raises(NotFoundError):
        await here.runs.shell(world.editor, done.sandbox_id, "ls")
    await here.sweep.run()
    assert len(await tables.of(world.editor, ExecutionRow)) == 1
    assert await tables.of(world.editor, SkillRunRow) == []


async def test_nobody_runs_anything_in_the_future(world, here, tables, imported, clock):
    await here.rooms.imported.add(world.editor, SESSION, [imported("t1", hours_ago=-5)])
    (row,) = await tables.of(world.editor, ExecutionRow)
    assert row.created_at == clock()


async def test_it_takes_a_token_that_may_write_and_no_more_than_is_taken_at_once(world, here, imported):
    with pytest.raises(NotAllowedError):
        await here.rooms.imported.add(replace(world.editor, scope=Scope.READ), SESSION, [imported("t1")])
    with pytest.raises(LimitError, match="501"):
        await here.rooms.imported.add(world.editor, SESSION, [imported("t1")] * (MAX_RUNS + 1))
    assert (await here.rooms.imported.add(world.editor, SESSION, [])).recorded == 0
