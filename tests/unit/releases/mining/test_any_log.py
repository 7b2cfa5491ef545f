"""Whatever was run: mining never fails, what it finds can be kept and replayed, and no secret is in it."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.releases.mining.logs import SITE, Log

from skillyard.releases.mining.sequences import LoggedExecution, SessionLog, as_one, mine
from skillyard.releases.payload_json import parse_payload, payload_document
from skillyard.sandbox.capture.browser_secrets import mask_step
from skillyard.sandbox.capture.known_secrets import KnownSecrets
from skillyard.sandbox.capture.records import cleaned
from skillyard.sandbox.executions import ExecType, Execution, Run

NOON = datetime(2026, 5, 20, 12, tzinfo=UTC)
WORDS = st.sampled_from(
    ["a", "b.csv", "--out", "x y", "{{x}}", "'", '"', "$A", "|", ">", "\n", "Ada", "1", "é", "\\", "`"]
)
COMMANDS = st.one_of(
    st.text(max_size=30),
    st.lists(WORDS, max_size=8).map(" ".join),
    st.sampled_from(['cat > a <<EOF\n{"k": 1}\nEOF', "python3 t.py --in a --out b", "curl -d a=1 http://h/x?y=2"]),
)
CODE = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["x = 1\ny = f'{x}'", "open('a.txt', 'w').write('{{x}}')", "import a.b\ndef f(x=1): return x", "'"]
    ),
)
STEPS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        [
            *(f"open {SITE}/a/1?q=2", "open x", "open http://[", "back", "forward", "reload", "close", "press Enter"),
            *('fill @e1 "Ada"', 'fill @e1 "{{secret:password}}"', 'type @e2 "{{x}}"', "click @e3", "dblclick .x"),
            *("check @e4", "uncheck @e4", 'select @e5 "a" "b"', "snapshot -i", "wait 1", 'wait --text "Ada"'),
            *(
                'find label "Name" fill "x"',
                "find nth 2 .a click",
                "eval a = 1",
                "get text @e1",
                "hover @e1",
                "press a",
            ),
        ]
    ),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
TARGETS = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["", "textbox", "button", "link", "checkbox", "option", "generic"]),
            "name": st.sampled_from(["", "Name", "Password", "Ada", "{{x}}", "이름", "Row 1"]),
        },
        optional={
            "is_password": st.booleans(),
            "within": st.text(max_size=5),
            "field": st.sampled_from(["", "q", 'a"b']),
            "url_before": st.sampled_from(["", SITE, "about:blank"]),
            "url_after": st.sampled_from([f"{SITE}/b", "x"]),
            "shown": st.one_of(st.lists(st.text(max_size=8), max_size=3), JSON),
        },
    ),
    JSON.filter(lambda value: isinstance(value, dict)),
)
TRACED = st.lists(
    st.fixed_dictionaries(
        {"cmd": STEPS, "stdout": st.text(max_size=20), "exit_code": st.sampled_from([0, 0, 0, 1]), "target": TARGETS}
    )
    | JSON,
    max_size=6,
).map(lambda steps: {"kind": "browser_batch_trace", "steps": steps})
RUNS = st.one_of(
    st.tuples(st.just(ExecType.SHELL), COMMANDS, st.none() | JSON.filter(lambda value: isinstance(value, dict))),
    st.tuples(st.just(ExecType.PYTHON), CODE, st.none()),
    st.tuples(st.just(ExecType.BROWSER_BATCH), STEPS, TRACED | st.none()),
    st.tuples(st.just(ExecType.BROWSER), STEPS, TRACED | st.none()),
)


def session(runs, number=0):
    entries = [
        LoggedExecution(
            execution=Execution(
                id=f"exec-{number}-{index}",
                sandbox_id=f"sbx-{number}",
                session_id="sess-1",
                exec_type=kind,
                code=code,
                success=index % 5 != 4,
                ending="exited",
                exit_code=0,
                milliseconds=1,
                output=code,
                error=None,
                truncated=False,
                network=(),
                skills=(),
                trace_ref=None,
                learn=index % 2 == 0,
                created_at=NOON + timedelta(seconds=index),
            ),
            trace=trace,
        )
        for index, (kind, code, trace) in enumerate(runs)
    ]
    return SessionLog(sandbox_id=f"sbx-{number}", entries=tuple(entries))


@given(st.lists(RUNS, max_size=8), st.booleans())
def test_whatever_was_run_is_looked_through_and_what_is_found_can_be_kept(runs, chosen):
    sessions = [session(runs), session(runs, 1)]
    result = mine(sessions, chosen=chosen)
    found = [*result.sequences, *filter(None, [as_one(sessions[:1])])]
    for sequence in found:
        assert parse_payload(payload_document(sequence.payload)) == sequence.payload
        assert sequence.execution_ids
        assert sequence.skill_key.isascii()
        assert set(sequence.example_values) <= set(sequence.payload.variables)
        assert all(one.default is None for one in sequence.payload.variables.values() if one.secret)
    assert mine(sessions, chosen=chosen) == result, "the same log, the same tasks"


@given(st.text(min_size=5, max_size=20).map(lambda text: f"§{text}§"), st.data())
def test_a_secret_that_was_captured_is_in_nothing_that_is_found(secret, data):
    known = KnownSecrets()
    field = {"role": "textbox", "name": "Password", "is_password": True}
    typed = 'fill @e2 "' + secret.replace("\\", "\\\\").replace('"', '\\"') + '"'
    logs = []
    for name in ("Ada", "Bob"):
        log = Log(learn=data.draw(st.booleans())).open("/", "Sign in").fill("User", name)
        log.step(mask_step(typed, field, known.learn, succeeded=True), field)
        log.click("Sign in", goes_to="/home", shown=[known.clean(f"Welcome, {secret}")])
        log.fill("Title", name + " title").click("Save", goes_to="/ok").end()
        run = Run(
            exec_type=ExecType.PYTHON,
            code=f"password = {secret!r}\nsave('{name}', password)\nprint(password)",
            success=True,
            ending="exited",
            exit_code=None,
            seconds=1,
            output=f"{secret}\n",
            error=None,
        )
        kept = cleaned(run, known, {})
        log.python(kept.code, kept.output)
        logs.append(log.session)
    result = mine(logs, chosen=True)
    assert result.sequences
    for text in (repr(result), *(str(payload_document(one.payload)) for one in result.sequences)):
        assert secret not in text
    assert any(one.secret for sequence in result.sequences for one in sequence.payload.variables.values())
