from tests.unit.releases.mining.logs import Log

from skillyard.releases.mining.sequences import GapKind, mine


def test_what_fails_again_and_again_is_a_gap():
    log = Log().open("/new").click("Save", exit_code=1).click("Save", exit_code=1).end()
    log.shell("make test", success=False).shell("make test", success=False).shell("make build", success=False)
    log.python("broken()", success=False).python("broken()", success=False).python("broken()", success=False)
    gaps = mine([log.session]).gaps
    assert [(gap.kind, gap.count) for gap in gaps] == [(GapKind.FAILING, 3), (GapKind.FAILING, 2), (GapKind.FAILING, 2)]
    assert any("save" in gap.description for gap in gaps)
    assert all(gap.execution_ids for gap in gaps)


def test_what_went_well_in_the_end_is_no_gap():
    log = Log().shell("make test", success=False).shell("make test", success=False).shell("make test")
    assert mine([log.session]).gaps == ()


def test_what_is_done_by_hand_and_cannot_be_replayed_is_a_gap():
    logs = []
    for _ in range(2):
        log = Log().open("/").step("click @e5", {"role": "generic", "name": ""}).click("Save", goes_to="/ok")
        logs.append(log.session)
    result = mine(logs)
    assert result.sequences == ()
    (gap,) = result.gaps
    assert (gap.kind, gap.count, len(gap.execution_ids)) == (GapKind.MANUAL, 2, 2)
    assert "not known what 'click' acted on" in gap.description


def test_values_are_in_no_gap():
    log = Log()
    for value in ("personal-one", "personal-two"):
        log.open("/").fill("Name", value, exit_code=1).end()
        log.shell(f"curl -d name={value} http://127.0.0.1/x", success=False)
    gaps = mine([log.session]).gaps
    assert len(gaps) == 2
    assert not [gap for gap in gaps if "personal" in gap.description]
