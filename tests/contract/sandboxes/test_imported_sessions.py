"""What a person read in is theirs to take away, and nothing else goes with it."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from skillyard.errors import NotAllowedError
from skillyard.identity.principals import Scope
from skillyard.sandbox import imported_sessions
from skillyard.sandbox.executions import ExecType, Run
from skillyard.sandbox.imported_runs import ImportedRun, ImportedSession
from skillyard.sandbox.imported_sessions import WhichImported
from skillyard.sandbox.models import ExecutionNoteRow, ExecutionRow, SandboxRow
from skillyard.sandbox.sandboxes import SandboxSpec

pytestmark = pytest.mark.anyio
CLAUDE = ImportedSession(agent="claude", session="aaaa-1", folder="/work/app")
CODEX = ImportedSession(agent="codex", session="bbbb-1")
ALL = WhichImported()


@pytest.fixture
def read_in(here, clock):
    async def read_in(person, session, *hours_ago):
        def run(hours):
            made = Run(
                exec_type=ExecType.SHELL,
                code="ls",
                success=True,
                ending="exited",
                exit_code=0,
                seconds=0.5,
                output="",
                error=None,
            )
            own_id = f"{session.session}-{hours}"
            return ImportedRun(id=own_id, run=made, at=clock() - timedelta(hours=hours))

        done = await here.rooms.imported.add(person, session, [run(hours) for hours in hours_ago])
        return done.sandbox_id

    return read_in


async def test_sessions_are_told_with_what_is_kept_of_each(world, here, read_in, clock):
    first = await read_in(world.editor, CLAUDE, 5, 3)
    second = await read_in(world.editor, CODEX, 1)
    await read_in(world.publisher, CLAUDE, 2)
    found = await here.rooms.imported_sessions.kept(world.editor, ALL, limit=10)
    assert (found.total, found.executions) == (2, 3)
    assert [(one.sandbox_id, one.agent, one.executions) for one in found.items] == [
        (second, "codex", 1),
        (first, "claude", 2),
    ]
    kept = found.items[1]
    assert (kept.session, kept.folder) == ("aaaa-1", "/work/app")
    assert (kept.first_at, kept.last_at) == (clock() - timedelta(hours=5), clock() - timedelta(hours=3))
    page = await here.rooms.imported_sessions.kept(world.editor, ALL, limit=1, offset=1)
    assert ([one.sandbox_id for one in page.items], page.total) == ([first], 2)


@pytest.mark.parametrize(
    ("which", "gone"),
    [({}, (3, 2)), ({"agent": "codex"}, (1, 1)), ({"before": 4}, (1, 0)), ({"session": True}, (2, 1))],
)
async def test_only_what_is_asked_for_is_taken_away(world, here, tables, read_in, clock, which, gone):
    first = await read_in(world.editor, CLAUDE, 5, 3)
    await read_in(world.editor, CODEX, 1)
    await read_in(world.publisher, CLAUDE, 9)
    asked = WhichImported(
        agent=which.get("agent"),
        before=clock() - timedelta(hours=which["before"]) if "before" in which else None,
        sandbox_id=first if "session" in which else None,
    )
    done = await here.rooms.imported_sessions.remove(world.editor, asked)
    assert (done.executions, done.sessions) == gone
    left = await tables.of(world.editor, ExecutionRow)
    assert len(left) == 3 - gone[0]
    assert len(await tables.of(world.editor, SandboxRow)) == 2 - gone[1]
    assert len(await tables.of(world.publisher, ExecutionRow)) == 1
    noted = {note.execution_id for note in await tables.all(ExecutionNoteRow)}
    assert noted >= {row.id for row in left}
    again = await here.rooms.imported_sessions.remove(world.editor, asked)
    assert (again.executions, again.sessions) == (0, 0)


async def test_what_was_run_in_a_sandbox_stays(world, here, tables, read_in):
    sandbox = await here.sandboxes.create(world.editor, SandboxSpec())
    await here.runs.shell(world.editor, sandbox.id, "ls")
    await read_in(world.editor, CLAUDE, 1)
    for which in (WhichImported(sandbox_id=sandbox.id), ALL):
        await here.rooms.imported_sessions.remove(world.editor, which)
    (row,) = await tables.of(world.editor, ExecutionRow)
    assert row.sandbox_id == sandbox.id


async def test_many_are_taken_away_in_short_writes_and_can_be_read_in_again(world, here, tables, read_in, monkeypatch):
    monkeypatch.setattr(imported_sessions, "_AT_ONCE", 2)
    first = await read_in(world.editor, CLAUDE, 1, 2, 3, 4, 5)
    done = await here.rooms.imported_sessions.remove(world.editor, ALL)
    assert (done.executions, done.sessions) == (5, 1)
    assert await read_in(world.editor, CLAUDE, 1, 2) == first
    assert len(await tables.of(world.editor, ExecutionRow)) == 2


async def test_any_moment_can_be_asked_for(world, here, read_in):
    await read_in(world.editor, CLAUDE, 1)
    for moment, total in {"0001-01-01T00:00:00+14:00": 0, "9999-12-31T23:59:59-14:00": 1}.items():
        which = WhichImported(before=datetime.fromisoformat(moment))
        assert (await here.rooms.imported_sessions.kept(world.editor, which, limit=10)).total == total


async def test_it_takes_a_token_that_may_write(world, here, read_in):
    await read_in(world.editor, CLAUDE, 1)
    with pytest.raises(NotAllowedError):
        await here.rooms.imported_sessions.remove(replace(world.editor, scope=Scope.READ), ALL)
    assert (await here.rooms.imported_sessions.kept(world.editor, ALL, limit=10)).total == 1
