"""Candidates: what they are rendered to, how the same task stays one, and what is kept of payloads."""

import asyncio
import json
from datetime import timedelta

import pytest

from skillyard.clock import utc_now
from skillyard.errors import ConflictError, InputError, NotFoundError
from skillyard.releases import rendered, skill_search
from skillyard.releases.candidate_spec import CandidateSpec
from skillyard.releases.mining.findings import MinedSequence
from skillyard.releases.models import CandidateRow, PayloadRow
from skillyard.releases.payload_json import parse_payload
from skillyard.releases.values import Stage
from skillyard.sandbox.executions import ExecType, Run
from skillyard.skill.document import parse
from skillyard.skill.models import Profile, has_errors

pytestmark = pytest.mark.anyio


def sequence(*executions, variables=(), canonical="a" * 64, key="copy-report", variants=()):
    names = " ".join(f"{{{{{name}}}}}" for name in variables) or "report.txt"
    told = variables if isinstance(variables, dict) else {name: {} for name in variables}
    payload = {
        "kind": "code",
        "variables": {name: {"type": "string", **more} for name, more in told.items()},
        "steps": [{"type": "shell", "cmd": f"cp {names} /workspace/out"}],
    }
    return MinedSequence(
        canonical=canonical,
        payload=parse_payload(payload),
        skill_key=key,
        summary="Copies a report",
        execution_ids=tuple(executions),
        repeats=len(executions),
        variants=variants,
    )


async def test_a_candidate_is_rendered_to_a_skill_that_is_valid(learning):
    made = await learning.candidate("greet", summary="Greets someone by name")
    assert (made.name, made.skill_type, made.status) == ("greet", "code", "draft")
    bundle = await learning.yard.registry.bundles.load(made.digest)
    parsed = parse(bundle.get("SKILL.md").data, folder="greet", profile=Profile.STRICT)
    assert not has_errors(parsed.findings)
    assert parsed.document.metadata["source"] == "learned"
    assert bundle.get("scripts/replay.py").executable
    assert await learning.candidates.get(learning.caller, made.id) == made


async def test_names_that_are_taken_are_not_given_to_learned_skills(learning, world):
    builtin = await learning.candidate("python-sandbox")
    await world.create(learning.caller, "notes", namespace=None)
    written = await learning.candidate("notes")
    other = await learning.candidate("Notes!")
    assert [one.name for one in (builtin, written, other)] == [
        "learned-python-sandbox",
        "learned-notes",
        "learned-notes-2",
    ]
    again = await learning.candidate("notes", document=await learning.greeting("Again"))
    assert again.name == "learned-notes"
    assert again.digest != written.digest


async def test_what_cannot_be_rendered_is_kept_all_the_same(learning, monkeypatch):
    monkeypatch.setattr(rendered, "render_bundle", lambda **_: 1 / 0)
    made = await learning.passed("fragile")
    assert (made.name, made.digest) == (None, None)
    released = await learning.releases.promote(learning.caller, made.id)
    assert released.is_active
    assert await learning.active.active(learning.caller.person_id, ("canary",), "sandbox-1") == []


async def test_a_candidate_in_use_stays(learning):
    released = await learning.released()
    with pytest.raises(ConflictError, match=released.id):
        await learning.candidates.delete(learning.caller, released.candidate_id)
    await learning.releases.retire(learning.caller, released.id)
    assert (await learning.candidates.delete(learning.caller, released.candidate_id)).is_deleted


async def test_a_deletion_is_taken_back_by_its_owner(learning, world):
    made = await learning.candidate()
    await learning.candidates.delete(learning.caller, made.id, reason="a mistake")
    deleted = await world.last()
    assert deleted.change.action == "candidate.deleted"
    with pytest.raises(NotFoundError):
        await world.undo(world.publisher, deleted.number)
    await world.undo(learning.caller, deleted.number)
    assert await learning.candidates.get(learning.caller, made.id) == made


async def test_only_executions_of_ones_own_are_evidence(learning, world):
    mine = await learning.execution()
    spec = CandidateSpec(skill_key="theirs", source_execution_ids=[mine])
    with pytest.raises(InputError, match="Execution ID not found"):
        await learning.candidates.create(world.publisher, spec)


async def test_the_same_task_is_one_candidate_whose_evidence_grows(learning):
    first, second = await learning.execution(), await learning.execution()
    made, is_new = await learning.mined.keep(learning.caller, sequence(first))
    assert (is_new, made.mined, made.skill_key, made.name) == (True, True, "copy-report", "copy-report")
    again, is_new = await learning.mined.keep(learning.caller, sequence(second))
    assert (again.id, is_new, again.source_execution_ids) == (made.id, False, [first, second])
    assert await learning.mined.evidence(learning.caller.person_id) == {"a" * 64: (first, second)}
    same, is_new = await learning.mined.keep(learning.caller, sequence(first, second))
    assert (same, is_new) == (again, False)


async def test_miners_at_once_make_one_candidate(learning):
    executions = [await learning.execution() for _ in range(4)]
    done = await asyncio.gather(*(learning.mined.keep(learning.caller, sequence(each)) for each in executions))
    assert len({candidate.id for candidate, _ in done}) == 1
    assert sum(is_new for _, is_new in done) == 1
    (row,) = await learning.rows(CandidateRow)
    assert sorted(row.source_execution_ids) == sorted(executions)


async def test_more_variables_take_the_place_of_what_was_not_released(learning):
    first, second, third = [await learning.execution() for _ in range(3)]
    old, _ = await learning.mined.keep(learning.caller, sequence(first))
    richer, is_new = await learning.mined.keep(learning.caller, sequence(second, variables=("source",)))
    assert (is_new, richer.skill_key, richer.source_execution_ids) == (True, old.skill_key, [first, second])
    with pytest.raises(NotFoundError):
        await learning.candidates.get(learning.caller, old.id)
    poorer, is_new = await learning.mined.keep(learning.caller, sequence(third))
    assert (poorer.id, is_new) == (richer.id, False)

    await learning.evaluations.evaluate(learning.caller, richer.id, passed=True)
    await learning.releases.promote(learning.caller, richer.id)
    best, _ = await learning.mined.keep(learning.caller, sequence(third, variables=("source", "target")))
    assert best.id != richer.id
    assert (await learning.candidates.get(learning.caller, richer.id)).status == "promoted"


async def test_what_was_done_again_takes_the_place_of_guesses_from_the_first_time(learning):
    first, second, third = [await learning.execution() for _ in range(3)]
    guessed = {"source": {"default": "one.csv"}, "target": {"default": "two.csv"}}
    old, _ = await learning.mined.keep(learning.caller, sequence(first, variables=guessed))
    known, is_new = await learning.mined.keep(learning.caller, sequence(second, variables=("source",)))
    assert (is_new, known.skill_key, known.source_execution_ids) == (True, old.skill_key, [first, second])
    option = {"source": {}, "target": {"default": ""}}
    optional, is_new = await learning.mined.keep(learning.caller, sequence(third, variables=option))
    assert (is_new, optional.source_execution_ids) == (True, [first, second, third])
    same, is_new = await learning.mined.keep(learning.caller, sequence(first, variables=guessed))
    assert (same.id, is_new) == (optional.id, False)


async def test_what_was_only_the_beginning_of_a_task_goes_once_the_whole_is_known(learning):
    first, second, third = [await learning.execution() for _ in range(3)]
    begun, other, still = [
        (await learning.mined.keep(learning.caller, sequence(*each, canonical=form * 64)))[0]
        for each, form in (((first,), "b"), ((first, third), "c"), ((second,), "d"))
    ]
    whole = sequence(first, second)
    kept, _ = await learning.mined.keep(learning.caller, whole)
    await learning.mined.let_go_of_parts(learning.caller, whole, {"d" * 64})
    assert {one.id for one in (await learning.candidates.page(learning.caller)).items} == {kept.id, other.id, still.id}
    with pytest.raises(NotFoundError):
        await learning.candidates.get(learning.caller, begun.id)


async def test_another_task_gets_another_key_and_a_variant_is_no_other_task(learning):
    execution = await learning.execution()
    first, _ = await learning.mined.keep(learning.caller, sequence(execution))
    other, _ = await learning.mined.keep(learning.caller, sequence(execution, canonical="b" * 64))
    assert (first.skill_key, other.skill_key) == ("copy-report", "copy-report-2")
    same, is_new = await learning.mined.keep(
        learning.caller, sequence(execution, canonical="c" * 64, variants=("b" * 64,))
    )
    assert (same.id, is_new) == (other.id, False)


async def test_payloads_are_kept_once_and_outlive_the_sweep_of_orphans(learning, monkeypatch):
    document = {"commands": ["open about:blank"], "by": learning.caller.person_id}
    first = await learning.payloads.put(learning.caller, document, "candidate_payload")
    again = await learning.payloads.put(learning.caller, dict(reversed(document.items())), "candidate_payload")
    assert first == again
    assert len(await learning.rows(PayloadRow)) == 1
    for days in (2, 4, 6):
        monkeypatch.setattr(learning.yard.orphans, "_clock", lambda days=days: utc_now() + timedelta(days=days))
        await learning.yard.orphans.sweep()
    assert (await learning.payloads.get(learning.caller, first.ref)).document == document


async def test_secrets_in_payloads_that_can_be_recognised_are_not_kept(learning):
    secret = "sky_0123456789abcdefghij"
    ref = (await learning.payloads.put(learning.caller, {"note": [f"use {secret}"], secret: 1}, "generic")).ref
    assert secret not in json.dumps((await learning.payloads.get(learning.caller, ref)).document)


async def test_the_trace_of_a_run_is_a_payload_for_its_owner_alone(learning, world):
    trace = {"kind": "browser_exec_trace", "steps": [{"cmd": "open about:blank"}]}
    run = Run(
        exec_type=ExecType.BROWSER,
        code="open about:blank",
        success=True,
        ending="exited",
        exit_code=0,
        seconds=0.1,
        output="",
        error=None,
        trace=trace,
    )
    ref = (await learning.sandboxes.log.add(await learning.sandbox(), None, run)).trace_ref
    stored = await learning.payloads.get(learning.caller, ref)
    assert (stored.kind, stored.document) == ("browser_exec_trace", trace)
    with pytest.raises(NotFoundError):
        await learning.payloads.get(world.publisher, ref)


async def test_what_clients_call_their_payloads_is_replayed_as_commands(learning):
    document = {
        "commands": ["open about:blank", 'fill "#city" "{{city}}"'],
        "variables": {
            "city": {"type": "text", "default_value": "Edinburgh", "action_index": 1},
            "unused": {"type": "string", "arg_position": 1},
        },
        "source": "elsewhere",
    }
    payload = await learning.payloads.payload(
        learning.caller.person_id, await learning.payload(document, kind="candidate_payload")
    )
    assert [step.text for step in payload.steps] == document["commands"]
    assert {name: each.default for name, each in payload.variables.items()} == {"city": "Edinburgh"}
    made = await learning.candidate("browse", payload_ref=await learning.payload(document, kind="candidate_payload"))
    assert made.skill_type == "browser"


async def test_stages_of_a_released_candidate_show_in_its_status(learning):
    released = await learning.released(stage=Stage.CANARY)
    candidate = await learning.candidates.get(learning.caller, released.candidate_id)
    assert (candidate.status, candidate.promotion_release_id) == ("promoted", released.id)
    await learning.evaluations.evaluate(learning.caller, candidate.id, passed=True, score=1.0)
    assert (await learning.candidates.get(learning.caller, candidate.id)).status == "promoted"
    await learning.evaluations.evaluate(learning.caller, candidate.id, passed=False, score=0.0)
    assert (await learning.candidates.get(learning.caller, candidate.id)).status == "rejected"


async def test_a_search_says_whether_there_are_older_candidates_than_it_looks_through(learning, monkeypatch):
    monkeypatch.setattr(skill_search, "MAX_SEARCHED", 2)
    made = [await learning.candidate(f"greet-{at}", summary="Greets someone by name") for at in range(2)]
    found = await learning.rooms.search.search(learning.caller, "greet someone", limit=1, offset=1)
    assert (len(found.items), found.total, found.is_cut) == (1, 2, False)
    await learning.candidate("greet-2", summary="Greets someone by name")
    found = await learning.rooms.search.search(learning.caller, "greet someone")
    assert (found.total, found.is_cut) == (2, True)
    assert made[0].id not in {each.candidate.id for each in found.items}
    found = await learning.rooms.search.search(learning.caller, "greet someone", skill_key="greet-0")
    assert ([each.candidate.id for each in found.items], found.is_cut) == ([made[0].id], False)
