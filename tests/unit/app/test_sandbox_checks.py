import pytest

from skillyard.app import sandbox_checks
from skillyard.app.checks import Status
from skillyard.app.sandbox_checks import backend_settings, examine_sandboxes
from skillyard.config.settings import Settings
from skillyard.errors import UnavailableError
from skillyard.sandbox import backends
from skillyard.sandbox.capabilities import BOUNDARY, Ability, Barrier, Capabilities
from skillyard.sandbox.escapes import probes
from skillyard.sandbox.escapes.probes import ProbeResult


class Fake:
    name = "bwrap"
    enforced = BOUNDARY


@pytest.fixture
def machine(monkeypatch):
    """A machine whose sandboxes and probes are what a test says."""

    class Machine:
        offered = Capabilities(
            backend="bwrap", available=True, enforced=BOUNDARY, abilities=frozenset({Ability.BROWSER})
        )
        results = ()
        failure = None

    class Backends:
        def __init__(self, settings):
            pass

        async def survey(self):
            remote = Capabilities(backend="mcp", available=False, reason="No server.", fix="start it")
            return [Machine.offered, remote]

        async def choose(self, requested, required=()):
            if Machine.failure:
                raise Machine.failure
            return Fake()

        async def close(self):
            pass

    async def prove(_):
        return Machine.results

    monkeypatch.setattr(backends, "Backends", Backends)
    monkeypatch.setattr(probes, "prove", prove)
    return Machine


def result(barrier, *, blocked, twin=True):
    return ProbeResult(name="try", barrier=barrier, blocked=blocked, twin_succeeded=twin, note="")


@pytest.fixture
def settings(tmp_path):
    return Settings(home=tmp_path)


def test_a_boundary_that_holds_is_told_with_how_much_was_tried(machine, settings):
    machine.results = (result(Barrier.FILES, blocked=True), result(Barrier.KERNEL, blocked=True, twin=False))
    first, other = examine_sandboxes(settings)
    assert first.status is Status.OK
    assert "2 ways to escape were tried and none worked; 1 of them" in first.message
    assert (other.status, "No server." in other.message) == (Status.NOTE, True)


@pytest.mark.parametrize(("backend", "lacks"), [("bwrap", "chromium"), ("docker", "IMAGE"), ("landlock", "bubblewrap")])
def test_what_browser_steps_lack_is_told(machine, settings, monkeypatch, backend, lacks):
    monkeypatch.setattr(Fake, "name", backend)
    machine.offered = Capabilities(backend=backend, available=True, enforced=BOUNDARY)
    check = list(examine_sandboxes(settings))[1]
    assert (check.status, lacks in check.fix) == (Status.NOTE, True)
    assert "Browser steps cannot be taken" in check.message


def test_an_open_way_out_fails_and_is_named(machine, settings):
    machine.results = (result(Barrier.FILES, blocked=False),)
    check = next(iter(examine_sandboxes(settings)))
    assert check.status is Status.FAILED
    assert "try (files)" in check.message
    assert check.fix


def test_what_is_not_claimed_may_be_open(machine, settings):
    machine.results = (result(Barrier.MEMORY_TOTAL, blocked=False),)
    assert next(iter(examine_sandboxes(settings))).status is Status.OK


def test_no_isolation_at_all_is_a_warning_with_the_fix(machine, settings):
    machine.failure = UnavailableError("Nothing isolates here.", hint="apt-get install bubblewrap")
    (check,) = examine_sandboxes(settings)
    assert (check.status, check.fix) == (Status.WARNING, "apt-get install bubblewrap")


def test_a_backend_that_contains_nothing_is_a_warning(machine, settings):
    machine.offered = Capabilities(backend="bwrap", available=True, reason="It contains nothing.")
    assert next(iter(examine_sandboxes(settings))).status is Status.WARNING


def test_nothing_is_left_in_the_home(settings, tmp_path):
    list(examine_sandboxes(settings))
    assert list(tmp_path.iterdir()) == []


def test_backends_are_told_what_the_settings_say(tmp_path):
    told = backend_settings(Settings(home=tmp_path, sandbox_backend="docker", sandbox_uids="5-9", docker_image="x"))
    assert (told.folder, told.backend, told.uids, told.docker_image) == (tmp_path, "docker", range(5, 10), "x")
    assert sandbox_checks.backend_settings(Settings(), tmp_path).folder == tmp_path
