"""Secrets that are given to a run are not shown: not where output is cut, and not by what comes later."""

import json

import pytest

from skillyard.errors import SkillyardError
from skillyard.sandbox.place import Limits
from skillyard.sandbox.session import Command, Ending

pytestmark = pytest.mark.anyio

SECRET = "Vermilion-77!secretXQ"
GIVEN = {"TOK": SECRET}
PARTS = [SECRET[at : at + 4].encode() for at in range(len(SECRET) - 3)]


def shows(data: bytes) -> bool:
    return any(part in data for part in PARTS)


@pytest.mark.parametrize("before", [980, 981, 995, 999])
async def test_the_start_of_a_secret_is_not_shown_where_output_is_cut(start, before):
    session = await start(limits=Limits(output_bytes=1000))
    line = f"head -c {before} /dev/zero | tr '\\0' a; echo $TOK"
    told = []
    command = Command(argv=["sh", "-c", line], secrets=GIVEN)
    outcome = await session.run(command, on_output=lambda _, data: told.append(data))
    assert outcome.truncated
    assert outcome.stdout == b"a" * before
    assert b"".join(told) == outcome.stdout
    outcome = await session.run(Command(argv=["sh", "-c", f"({line}) >&2"], secrets=GIVEN))
    assert outcome.stderr == b"a" * before
    done = await session.python(f"import os; print('a' * {before} + os.environ['TOK'])", secrets=GIVEN)
    assert done.output == "a" * before


async def test_the_start_of_a_secret_is_not_shown_where_a_run_is_stopped(start):
    session = await start()
    command = Command(argv=["sh", "-c", f"printf %s '{SECRET[:12]}'; sleep 60"], secrets=GIVEN, timeout=1)
    outcome = await session.run(command)
    assert outcome.ending is Ending.TIMEOUT
    assert outcome.stdout == b""


async def test_a_secret_is_not_shown_by_a_value_or_a_traceback_that_is_too_long(start):
    session = await start()
    done = await session.python("import os; TOK = os.environ['TOK']; 'a' * (2**20 - 12) + TOK", secrets=GIVEN)
    assert done.truncated
    assert not shows(done.output.encode())
    for length in (24_570, 262_140, 300_000):
        done = await session.python(f"raise ValueError('a' * {length} + TOK + 'b' * 600_000)")
        assert done.error is not None
        assert len(done.error) < 50_000
        assert not shows(done.error.encode())


async def test_what_was_given_once_is_hidden_in_all_that_comes_later(start):
    session = await start()
    await session.python("import os; kept = os.environ['TOK']", secrets=GIVEN)
    done = await session.python("print(kept); print(kept[::-1]); open('plain', 'w').write('=' + kept + '='); kept")
    assert not shows(done.output.encode())
    assert not shows(done.output[::-1].encode())
    done = await session.python("raise ValueError(kept)")
    assert "***" in (done.error or "")
    assert not shows((done.error or "").encode())
    outcome = await session.run(Command(argv=["sh", "-c", 'cat plain; od -An -tx1 plain; touch "$(cat plain)"']))
    assert outcome.stdout.startswith(b"=***=")
    assert b"56 65 72 6d" not in outcome.stdout
    hidden = b"=" + b"*" * len(SECRET) + b"="
    assert await session.read_file("plain") == hidden
    assert b"".join([piece async for piece in session.get_file("plain")]) == hidden
    archive = b"".join([piece async for piece in session.get_tar("plain")])
    assert hidden in archive
    assert not shows(archive)
    assert not any(shows(f"{entry.name} {entry.path}".encode()) for entry in await session.list_folder())
    with pytest.raises(SkillyardError) as caught:
        await session.read_file(f"{SECRET}/none")
    assert not shows(json.dumps([caught.value.message, caught.value.details]).encode())


async def test_an_answer_is_not_much_larger_than_the_output_that_is_kept(start):
    session = await start(limits=Limits(output_bytes=200_000))
    outcome = await session.run(Command(argv=["sh", "-c", "head -c 200000 /dev/zero | tr '\\0' '\\1'"]))
    assert outcome.truncated
    assert len(json.dumps(outcome.stdout.decode())) < 500_000
    outcome = await session.run(Command(argv=["sh", "-c", "yes '\"a\" line of text' | head -c 200000"]))
    assert not outcome.truncated
    assert len(outcome.stdout) == 200_000
