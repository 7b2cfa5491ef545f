"""What a person lacks a skill for."""

import asyncio
import hashlib

import pytest

from skillyard.releases import gaps as gaps_module
from skillyard.releases.gaps import Gaps, gaps_document
from skillyard.releases.mining.findings import Gap, GapKind, MinedSequence, MiningResult
from skillyard.releases.payloads import Payload, PayloadKind, Step, StepType
from skillyard.sandbox.execution_log import ExecutionLog
from skillyard.sandbox.executions import ExecType, Run, Said
from skillyard.sandbox.sandboxes import SandboxSpec

pytestmark = pytest.mark.anyio


def canonical(code):
    return hashlib.sha256(code.encode()).hexdigest()


def by_command(sessions):
    """Takes every command for a task of its own, whatever mining thinks of it."""
    done, failed = {}, {}
    for entry in (entry.execution for session in sessions for entry in session.entries):
        (done if entry.success else failed).setdefault(entry.code, []).append(entry.id)
    sequences = [
        MinedSequence(
            canonical=canonical(code),
            payload=Payload(kind=PayloadKind.CODE, steps=(Step(type=StepType.SHELL, text=code),)),
            skill_key="task",
            summary=f"Do {code}",
            execution_ids=tuple(ids),
            repeats=len(ids),
        )
        for code, ids in done.items()
    ]
    failing = [
        Gap(kind=GapKind.FAILING, description=f"Try {code}", count=len(ids), execution_ids=tuple(ids))
        for code, ids in failed.items()
    ]
    return MiningResult(sequences=tuple(sequences), examined=0, gaps=tuple(failing))


class Doing:
    def __init__(self, desk, sandbox):
        self._sandbox = sandbox
        self._desk = desk
        self._log = ExecutionLog(desk.database, desk.yard.blobs, clock=desk.clock)
        self._gaps = Gaps(desk.database, desk.yard.blobs, clock=desk.clock)

    async def do(self, code, times=1, *, success=True):
        ids = []
        for _ in range(times):
            self._desk.pass_by(minutes=1)
            run = Run(
                exec_type=ExecType.SHELL,
                code=code,
                success=success,
                ending="exited",
                exit_code=0 if success else 1,
                seconds=0.1,
                output="",
                error=None,
            )
            ids.append((await self._log.add(self._sandbox, None, run)).id)
        return ids

    async def gaps(self, caller=None):
        return gaps_document(await self._gaps.all(caller or self._desk.owner))["items"]

    async def describe(self, execution_id, text):
        await self._log.annotate(self._sandbox.id, execution_id, Said(description=text))


@pytest.fixture
async def doing(desk, monkeypatch):
    monkeypatch.setattr(gaps_module, "mine", by_command)
    return Doing(desk, await desk.yard.sandboxes.sandboxes.create(desk.owner, SandboxSpec()))


async def test_what_is_done_or_fails_again_and_again_is_listed_the_most_frequent_first(desk, doing):
    manual = await doing.do("make report", 2)
    failing = await doing.do("make site", 3, success=False)
    await doing.do("make tea")
    assert await doing.gaps() == [
        {
            "kind": "failing",
            "summary": "Try make site",
            "count": 3,
            "last_at": desk.now.replace(minute=desk.now.minute - 1),
            "execution_ids": failing,
            "candidate_id": None,
        },
        {
            "kind": "manual",
            "summary": "Do make report",
            "count": 2,
            "last_at": desk.now.replace(minute=desk.now.minute - 4),
            "execution_ids": manual,
            "candidate_id": None,
        },
    ]


async def test_the_same_executions_are_looked_through_once_however_often_and_by_how_many_is_asked(
    desk, doing, monkeypatch
):
    looks = []
    monkeypatch.setattr(gaps_module, "mine", lambda sessions: looks.append(1) or by_command(sessions))
    first, _ = await doing.do("make report", 2)
    answers = await asyncio.gather(doing.gaps(), doing.gaps(), doing.gaps())
    assert (len(looks), answers[0]) == (1, answers[1])
    await doing.do("make report")
    assert ((await doing.gaps())[0]["count"], len(looks)) == (3, 2)
    await doing.describe(first, "The weekly report")
    await doing.gaps()
    assert len(looks) == 3


async def test_what_has_a_skill_in_use_is_no_gap(desk, doing):
    await doing.do("make report", 3)
    candidate = await desk.candidate("report", canonical=canonical("make report"), mined=True)
    (gap,) = await doing.gaps()
    assert gap["candidate_id"] == candidate.id
    release = await desk.release("canary", candidate=candidate)
    await desk.candidate("report", canonical=canonical("make report"), mined=True)
    assert await doing.gaps() == []
    await desk.releases.kill(desk.owner, release.id)
    assert len(await doing.gaps()) == 1


async def test_what_was_done_long_ago_or_by_others_is_no_gap(desk, doing):
    await doing.do("make report", 3)
    assert await doing.gaps(desk.other) == []
    desk.pass_by(days=31)
    assert await doing.gaps() == []
