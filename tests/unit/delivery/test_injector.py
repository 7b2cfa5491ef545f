import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from skillyard.delivery.bundle_source import Desired, DesiredBundle, Origin, Receiver, Shortfall
from skillyard.delivery.injector import Injection, SkillInjector
from skillyard.delivery.ship_plan import Step
from skillyard.errors import NotFoundError, UnavailableError
from skillyard.library.disk import read_folder

pytestmark = pytest.mark.anyio
RECEIVER = Receiver(owner="kim", sandbox_id="sandbox-1")


class Source:
    """Wants what it is told to want."""

    def __init__(self, kind: str, *bundles: DesiredBundle, error: Exception | None = None) -> None:
        self.kind = kind
        self.wanted = Desired(bundles=bundles)
        self.error = error
        self.waits: asyncio.Event | None = None

    async def desired(self, receiver: Receiver) -> Desired:
        assert receiver == RECEIVER
        if self.error is not None:
            raise self.error
        if self.waits is not None:
            await self.waits.wait()
        return self.wanted


@pytest.fixture
def learned(make_bundle, desire) -> Callable[..., DesiredBundle]:
    def make(key: str, text: str = "1") -> DesiredBundle:
        return desire(make_bundle({"x.txt": text}, name=key), key, kind="release", version=f"sr-{key}", skill=key)

    return make


async def inject(injector: SkillInjector, workspace: Any) -> int:
    return await injector.inject_learned_skills(owner="kim", sandbox_id="sandbox-1", session=workspace)


def logged(caplog: pytest.LogCaptureFixture, event: str) -> list[Any]:
    return [record for record in caplog.records if record.message == event]


async def test_the_answer_counts_the_learned_skills_in_place(workspace, learned, make_bundle, desire):
    builtin = Source("builtin", desire(make_bundle(), "python-sandbox", kind="builtin"))
    injector = SkillInjector([builtin, Source("release", learned("login"), learned("report"))])
    assert await inject(injector, workspace) == 2
    assert await inject(injector, workspace) == 2
    assert (workspace.root / "skills/python-sandbox/SKILL.md").is_file()
    assert workspace.asked.count("put_tar") == 1


async def test_what_a_source_wants_no_more_goes_and_what_is_new_comes(workspace, learned):
    source = Source("release", learned("login"), learned("gone"))
    injector = SkillInjector([source])
    await inject(injector, workspace)
    newer = learned("login", "2")
    source.wanted = Desired(bundles=(newer,))
    assert await inject(injector, workspace) == 1
    assert not (workspace.root / "skills/gone").exists()
    assert read_folder(workspace.root / "skills/login").require().digest == newer.digest


async def test_a_source_that_fails_takes_nothing_away_and_stops_no_other(
    workspace, learned, make_bundle, desire, caplog
):
    attached = Source("attached", desire(make_bundle()))
    releases = Source("release", learned("login"))
    injector = SkillInjector([attached, releases])
    await inject(injector, workspace)
    attached.error = RuntimeError("the store is down")
    releases.wanted = Desired(bundles=(learned("report"),))
    injection = await injector.inject(RECEIVER, workspace)
    assert {item.folder: item.step for item in injection.items} == {"report": Step.ADD, "login": Step.REMOVE}
    assert (workspace.root / "skills/pdf/SKILL.md").is_file()
    (record,) = logged(caplog, "skills.inject.failed")
    assert "the store is down" in record.error


async def test_a_source_that_takes_too_long_stops_no_other(workspace, learned):
    slow = Source("attached")
    slow.waits = asyncio.Event()
    injector = SkillInjector([slow, Source("release", learned("login"))], seconds=0.2)
    injection = await injector.inject(RECEIVER, workspace)
    assert injection.learned == 1
    assert len(injection.errors) == 1


async def test_one_release_that_cannot_be_read_is_logged_and_stops_no_other(workspace, learned, caplog):
    async def gone() -> Any:
        raise NotFoundError("The blob is gone.")

    broken = replace(learned("broken"), load=gone)
    assert await inject(SkillInjector([Source("release", broken, learned("login"))]), workspace) == 1
    (record,) = logged(caplog, "skills.inject.failed")
    assert (record.skill_key, record.release_id, record.error) == ("broken", "sr-broken", "The blob is gone.")
    assert record.levelno == logging.WARNING


async def test_what_is_skipped_is_told(workspace, learned, caplog):
    (workspace.root / "skills/login").mkdir(parents=True)
    source = Source("release", learned("login"))
    source.wanted = replace(
        source.wanted, shortfalls=(Shortfall(origin=Origin(kind="release", skill="more"), reason="Too many."),)
    )
    assert await inject(SkillInjector([source]), workspace) == 0
    assert [(record.skill_key, bool(record.error)) for record in logged(caplog, "skills.inject.skipped")] == [
        ("more", True),
        ("login", True),
    ]


async def test_a_dead_sandbox_fails_no_start(workspace, learned, caplog):
    workspace.dead = True
    assert await inject(SkillInjector([Source("release", learned("login"))]), workspace) == 0
    (record,) = logged(caplog, "skills.inject.failed")
    assert "SandboxDiedError" in record.error


async def test_a_sandbox_that_does_not_answer_is_not_waited_for(workspace, learned, monkeypatch, caplog):
    async def never(*_: Any, **__: Any) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(workspace, "put_tar", never)
    injector = SkillInjector([Source("release", learned("login"))], seconds=0.1)
    injection = await injector.inject(RECEIVER, workspace)
    assert injection == Injection(errors=("It took longer than 0.1 seconds.",))
    assert len(logged(caplog, "skills.inject.failed")) == 1
    monkeypatch.undo()
    assert await inject(injector, workspace) == 1


async def test_whoever_wants_to_know_is_told_what_is_there(workspace, learned):
    told: list[tuple[Receiver, Injection]] = []

    async def on_injected(receiver: Receiver, injection: Injection) -> None:
        told.append((receiver, injection))

    await inject(SkillInjector([Source("release", learned("login"))], on_injected=on_injected), workspace)
    ((receiver, injection),) = told
    assert receiver == RECEIVER
    assert injection.present["login"].origin.version == "sr-login"


async def test_a_failure_of_who_is_told_fails_no_start(workspace, learned):
    async def on_injected(*_: object) -> None:
        raise UnavailableError("no")

    injector = SkillInjector([Source("release", learned("login"))], on_injected=on_injected)
    injection = await injector.inject(RECEIVER, workspace)
    assert injection.errors == ("UnavailableError: no",)
    assert (workspace.root / "skills/login").is_dir()
