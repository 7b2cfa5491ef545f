"""The JSON of runs, where it is more than a copy."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from skillyard.sandbox.browsing import Browsed
from skillyard.sandbox.executions import ExecType, Execution
from skillyard.sandbox.runs import Done
from skillyard.server.yard.run_schemas import BrowserBatchExecResponse, BrowserExecResponse

LEARNED = Execution(
    id="exec-000000000001",
    sandbox_id="sandbox-000000000001",
    session_id=None,
    exec_type=ExecType.BROWSER,
    code="open about:blank",
    success=True,
    ending="exited",
    exit_code=0,
    milliseconds=1,
    output="",
    error=None,
    truncated=False,
    network=(),
    skills=(),
    trace_ref="blob:blob-000000000001",
    learn=True,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)
DONE = Done(execution=LEARNED, output="", error=None, outcome=Browsed(steps=(), total=0, seconds=0.0))


@pytest.mark.parametrize(("asked", "told"), [(True, "blob:blob-000000000001"), (False, None)])
def test_a_trace_is_named_only_to_whoever_asked_for_it(asked, told):
    assert BrowserExecResponse.of(DONE, trace=asked).trace_ref == told
    batch = replace(DONE, execution=replace(LEARNED, exec_type=ExecType.BROWSER_BATCH))
    assert BrowserBatchExecResponse.of(batch, total=0, trace=asked).trace_ref == told
