"""Work on learned skills that goes on beside the requests: mining and replays; and benchmarks for the latter."""

from fastapi import APIRouter

from skillyard.releases.evaluation_wish import ReplayWish
from skillyard.server.api.shapes import BEARER
from skillyard.server.yard.caller import Caller, failures
from skillyard.server.yard.skills_caller import Learned
from skillyard.server.yard.skills_run_schemas import (
    BenchmarkListResponse,
    BenchmarkRequest,
    BenchmarkResponse,
    MineRequest,
    MiningResponse,
    SkillReplayRequest,
    SkillReplayResponse,
)

router = APIRouter(prefix="/v1/skills", tags=["learned skills"], responses=failures(), dependencies=[BEARER])


@router.post("/mine", status_code=202, summary="Look for know-how in executions")
async def mine(learned: Learned, caller: Caller, body: MineRequest | None = None) -> MiningResponse:
    """Ask for executions to be looked through; what comes of it is told under the id of the answer."""
    asked = body or MineRequest()
    mining = await learned.mining.begin(
        caller, sandbox_ids=asked.sandbox_ids, execution_ids=asked.execution_ids, since=asked.since
    )
    return MiningResponse.of(mining)


@router.get("/mine/{mining_id}", summary="Read what came of a look at executions")
async def get_mining(mining_id: str, learned: Learned, caller: Caller) -> MiningResponse:
    return MiningResponse.of(await learned.mining.get(caller, mining_id))


@router.post("/candidates/{candidate_id}/replay", status_code=202, summary="Replay a candidate")
async def replay_candidate(
    candidate_id: str, learned: Learned, caller: Caller, body: SkillReplayRequest | None = None
) -> SkillReplayResponse:
    """Ask for replays in fresh sandboxes; what comes of them is told under the id of the answer."""
    asked = body or SkillReplayRequest()
    wish = ReplayWish(
        runs=asked.runs,
        benchmark=asked.benchmark,
        variables=asked.variables,
        secrets=asked.secrets,
        seconds=asked.timeout,
    )
    return SkillReplayResponse.told(await learned.evaluations.begin(caller, candidate_id, wish), [])


@router.get("/evaluations/{evaluation_id}", summary="Read an evaluation with its runs")
async def get_evaluation(evaluation_id: str, learned: Learned, caller: Caller) -> SkillReplayResponse:
    evaluation = await learned.evaluations.get(caller, evaluation_id)
    return SkillReplayResponse.told(evaluation, await learned.log.of_evaluation(evaluation.id))


@router.get("/benchmarks", summary="List benchmarks")
async def list_benchmarks(learned: Learned, caller: Caller) -> BenchmarkListResponse:
    """Yours, by name."""
    items = [BenchmarkResponse.of(one) for one in await learned.benchmarks.all(caller)]
    return BenchmarkListResponse(items=items, total=len(items))


@router.get("/benchmarks/{name}", summary="Read a benchmark")
async def get_benchmark(name: str, learned: Learned, caller: Caller) -> BenchmarkResponse:
    return BenchmarkResponse.of(await learned.benchmarks.get(caller, name))


@router.put("/benchmarks/{name}", summary="Keep a benchmark")
async def save_benchmark(name: str, body: BenchmarkRequest, learned: Learned, caller: Caller) -> BenchmarkResponse:
    """A named set of variable values and checks, in the place of the one that has this name."""
    return BenchmarkResponse.of(await learned.benchmarks.save(caller, name, body.cases))


@router.delete("/benchmarks/{name}", status_code=204, summary="Delete a benchmark")
async def delete_benchmark(name: str, learned: Learned, caller: Caller) -> None:
    await learned.benchmarks.delete(caller, name)
