import pytest

from skillyard.sandbox.capture.known_secrets import KnownSecrets
from skillyard.sandbox.capture.records import cleaned
from skillyard.sandbox.executions import MAX_KEPT, ExecType, Run, Said, kept

SECRET = "Vermilion-77!mysteryXQ"
PARTS = [SECRET[at : at + 4] for at in range(len(SECRET) - 3)]


def ran(output, **more):
    return Run(
        exec_type=ExecType.BROWSER,
        code="get text @e1",
        success=True,
        ending="exited",
        exit_code=0,
        seconds=0.1,
        output=output,
        error=None,
        said=Said(),
        **more,
    )


def known():
    secrets = KnownSecrets()
    secrets.learn(SECRET, "password")
    return secrets


@pytest.mark.parametrize("shift", range(0, 60, 3))
@pytest.mark.parametrize("again", [1, 400])
def test_no_part_of_a_secret_is_kept_where_long_output_is_shortened(shift, again):
    half = MAX_KEPT // 2 - 100
    end = SECRET * again + "." * (half - shift)
    output = "." * (half - shift) + SECRET * again + "middle " * 80_000 + end
    text = kept(cleaned(ran(output), known(), {}).output)
    assert "characters are left out here" in text
    plain = text.replace("{{secret:password}}", "")
    assert not [part for part in PARTS if part in plain]


def test_a_secret_in_what_only_looks_like_a_marker_is_hidden():
    secrets = KnownSecrets({"TOK": "Vermilion77secretXQ"})
    assert secrets.clean("{{secret:Vermilion77secretXQ}}") == "{{secret:{{secret:TOK}}}}"
    assert secrets.clean("{{secret:TOK}} and {{secret}}") == "{{secret:TOK}} and {{secret}}"


def test_each_secret_has_its_own_marker_in_every_form():
    secrets = KnownSecrets({"ONE": SECRET, "TWO": "another-value-12"})
    assert secrets.clean(f"{SECRET[::-1]} another-value-12") == "{{secret:ONE}} {{secret:TWO}}"
    assert secrets.learn("third-value-34!", "TWO") == "{{secret:TWO_2}}"
    assert secrets.clean("third-value-34!") == "{{secret:TWO_2}}"
