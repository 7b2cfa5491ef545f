"""Skills on their way into real sandboxes: with a start, after stop and resume, while running, against tampering."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.components import missing

from skillyard.app.injection import SandboxInjection, open_loader, wire_injection
from skillyard.app.injection_sources import AGENT_LABEL, SKILLS_LABEL, LibraryPicks
from skillyard.app.sandboxes import SandboxRooms, sandbox_rooms
from skillyard.app.yard import Yard, open_yard
from skillyard.config.sections import SkillInjection
from skillyard.config.settings import Settings
from skillyard.delivery.bundle_source import Desired, DesiredBundle, Origin, Receiver
from skillyard.delivery.release_source import ActiveRelease
from skillyard.delivery.sandbox_place import SandboxPlace
from skillyard.delivery.ship import ship
from skillyard.delivery.ship_plan import ShipPlan, Step
from skillyard.errors import NotFoundError, SkillyardError, UnavailableError
from skillyard.history.entries import Why
from skillyard.identity.agents import AgentFields
from skillyard.identity.principals import Principal
from skillyard.library.builtin import builtin_root
from skillyard.library.folder import FolderLibrary
from skillyard.registry.drafts import draft_of
from skillyard.registry.shipping import SkillRef
from skillyard.registry.skills import Visibility
from skillyard.sandbox.backend import Backend
from skillyard.sandbox.local.bwrap import BwrapBackend
from skillyard.sandbox.local.cgroups import Cgroups
from skillyard.sandbox.local.uids import DEFAULT_UIDS, Users
from skillyard.sandbox.local.unsafe import UnsafeBackend
from skillyard.sandbox.place import Place
from skillyard.sandbox.sandboxes import Sandbox, SandboxSpec
from skillyard.sandbox.session import Command, Session
from skillyard.skill.bundle import Bundle, BundleFile, bundle_of
from skillyard.skill.write import compose_skill_md

pytestmark = pytest.mark.anyio
WHY = Why(reason="a test asked for it")
BUILTIN = {path.name for path in builtin_root().iterdir() if (path / "SKILL.md").is_file()}


@pytest.fixture(params=["unsafe", "bwrap"])
async def backend(request: pytest.FixtureRequest, tmp_path: Path, anyio_backend: str) -> AsyncIterator[Backend]:
    made: Backend
    if request.param == "unsafe":
        made = UnsafeBackend(tmp_path / "sandboxes", enabled=True)
    else:
        users = Users.of(DEFAULT_UIDS)
        made = BwrapBackend(tmp_path / "sandboxes", users=users, cgroups=Cgroups.here(), proxy=lambda _: None)
    offered = await made.capabilities()
    if not offered.available:
        missing(offered.reason)
    yield made
    await made.close()


@pytest.fixture
async def session(backend: Backend) -> Session:
    return await backend.start(Place(sandbox_id="sandbox-1", cargo_id="cargo-1"))


async def sh(session: Session, line: str) -> str:
    outcome = await session.run(Command(argv=["/bin/sh", "-c", line]))
    assert outcome.success, outcome
    return outcome.stdout.decode()


def skill(name: str, *files: BundleFile, body: str = "Do it.\n", **fields: Any) -> Bundle:
    text = compose_skill_md(name, f"What {name} is for", body, fields)
    return bundle_of([BundleFile("SKILL.md", text.encode()), *files]).require()


def desire(folder: str, bundle: Bundle) -> DesiredBundle:
    async def load() -> Bundle:
        return bundle

    origin = Origin(kind="attached", skill=f"team/{folder}")
    return DesiredBundle(folder=folder, digest=bundle.digest, origin=origin, load=load)


async def deliver(session: Session, *wanted: DesiredBundle) -> ShipPlan:
    return await ship(SandboxPlace(session), wanted, speaks_for=("attached",))


def steps(plan: ShipPlan) -> dict[str, Step]:
    return {item.folder: item.step for item in plan.items}


def generated(count: int) -> dict[str, Bundle]:
    """Folders as they are found: scripts, binaries, empty files, names of many languages, deep paths."""
    dice = random.Random(7)
    parts = ["scripts", "assets", "참고", "资料", "ünï", "a b", "x.y-z_1", "🙂", "LONG" * 30]
    bundles: dict[str, Bundle] = {}
    for number in range(count):
        files = {
            "/".join([*dice.choices(parts, k=dice.randint(1, 9)), f"f{index}"]): BundleFile(
                "", dice.randbytes(dice.choice([0, 1, 100, 511, 512, 513, 20_000])), dice.random() < 0.3
            )
            for index in range(dice.randint(0, 8))
        }
        name = f"skill-{number}" if number % 5 else f"기술-{number}"
        bundles[name] = skill(name, *(file._replace(path=path) for path, file in files.items()))
    return bundles


async def test_hundreds_of_folders_arrive_byte_for_byte(session: Session):
    bundles = generated(300)
    plan = await deliver(session, *(desire(name, bundle) for name, bundle in bundles.items()))
    assert steps(plan) == dict.fromkeys(bundles, Step.ADD)
    for name in list(bundles)[:20]:
        for file in bundles[name]:
            assert await session.read_file(f"skills/{name}/{file.path}") == file.data
    digests = await session.digests([f"skills/{name}" for name in bundles])
    assert list(digests.values()) == [bundle.digest for bundle in bundles.values()]
    again = await deliver(session, *(desire(name, bundle) for name, bundle in bundles.items()))
    assert steps(again) == dict.fromkeys(bundles, Step.UNCHANGED)


@pytest.mark.parametrize(
    "line",
    [
        "echo more >> skills/pdf/SKILL.md",
        "echo more > skills/pdf/more",
        "rm skills/pdf/scripts/run.sh",
        "chmod 644 skills/pdf/scripts/run.sh",
        "rm -r skills/pdf",
        "rm -r skills/pdf && ln -s /etc skills/pdf",
        "rm -r skills/pdf && ln -s /nowhere skills/pdf",
        "rm -r skills/pdf && mkfifo skills/pdf",
        "rm skills/pdf/SKILL.md && ln -s /etc/passwd skills/pdf/SKILL.md",
        "rm skills/pdf/SKILL.md && mkfifo skills/pdf/SKILL.md",
    ],
)
async def test_what_is_tampered_with_inside_is_found_and_repaired(session: Session, line: str):
    bundle = skill("pdf", BundleFile("scripts/run.sh", b"#!/bin/sh\necho ran\n", executable=True))
    wanted = [desire("pdf", bundle), desire("other", skill("other"))]
    await deliver(session, *wanted)
    await sh(session, line)
    assert steps(await deliver(session, *wanted)) == {"pdf": Step.REPAIR, "other": Step.UNCHANGED}
    assert await sh(session, "skills/pdf/scripts/run.sh") == "ran\n"
    assert steps(await deliver(session, *wanted)) == {"pdf": Step.UNCHANGED, "other": Step.UNCHANGED}


async def test_running_a_skills_script_is_no_tampering(session: Session):
    files = [BundleFile("scripts/helper.py", b"X = 1\n"), BundleFile("scripts/run.py", b"import helper\n")]
    wanted = desire("pdf", skill("pdf", *files))
    await deliver(session, wanted)
    await sh(session, "cd skills/pdf/scripts && python3 -m compileall -q . && python3 run.py && ls __pycache__")
    assert steps(await deliver(session, wanted)) == {"pdf": Step.UNCHANGED}


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_links_in_the_place_of_the_folder_lead_nowhere(session: Session, tmp_path: Path):
    wanted = desire("pdf", skill("pdf"))
    await sh(session, f"ln -s {tmp_path} skills")
    before = names_in(tmp_path)
    with suppress(SkillyardError):  # it may be refused in whatever way
        await deliver(session, wanted)
    assert names_in(tmp_path) == before
    await sh(session, "rm skills && mkdir skills && ln -s /etc/passwd skills/.skillyard.json")
    assert steps(await deliver(session, wanted)) == {"pdf": Step.ADD}
    assert await sh(session, "test ! -L skills/.skillyard.json && echo plain") == "plain\n"


async def test_a_foreign_folder_stays_as_it_is(session: Session):
    await sh(session, "mkdir -p skills/pdf skills/Notes && echo mine > skills/pdf/SKILL.md")
    plan = await deliver(session, desire("pdf", skill("pdf")), desire("notes", skill("notes")))
    assert steps(plan) == {"pdf": Step.SKIPPED, "notes": Step.SKIPPED}
    assert await sh(session, "cat skills/pdf/SKILL.md; ls skills/Notes") == "mine\n"


@dataclass
class Releases:
    """Keeps releases in memory."""

    kept: dict[str, list[ActiveRelease]] = field(default_factory=dict)

    def promote(self, owner: str, key: str, bundle: Bundle, *, number: int = 1, uses: int = 0) -> None:
        async def load() -> Bundle:
            return bundle

        release = ActiveRelease(
            id=f"sr-{number}", skill_key=key, folder=key, stage="stable", digest=bundle.digest, load=load, uses=uses
        )
        others = [each for each in self.kept.get(owner, []) if each.skill_key != key]
        self.kept[owner] = [*others, release]

    async def active(self, owner: str, stages: Sequence[str], sandbox_id: str) -> Sequence[ActiveRelease]:
        return [release for release in self.kept.get(owner, []) if release.stage in stages]


class Only:
    """The choice of those who have but one backend."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def choose(self, requested: str | None, required: Collection[object]) -> Backend:
        return self._backend


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A registry, sandboxes and releases, wired as a server wires them."""

    yard: Yard
    rooms: SandboxRooms
    releases: Releases
    injection: SandboxInjection
    boss: Principal

    async def sandbox(self, **labels: str) -> Sandbox:
        return await self.rooms.sandboxes.create(self.boss, SandboxSpec(labels=labels))

    async def names(self, sandbox: Sandbox) -> set[str]:
        async with self.rooms.running.use(sandbox.id) as held:
            return {entry.name for entry in await held.session.list_folder("skills")} - {".skillyard.json"}

    async def read(self, sandbox: Sandbox, path: str) -> bytes:
        async with self.rooms.running.use(sandbox.id) as held:
            return await held.session.read_file(path)

    async def publish(self, bundle: Bundle, version: str = "1.0.0", **options: Any) -> str:
        publishing = self.yard.registry.publishing
        made = await publishing.publish_bundle(
            self.boss, draft_of(bundle), version=version, namespace=self.boss.name, why=WHY, **options
        )
        return made.skill.id


@pytest.fixture
def open_scene(backend: Backend, tmp_path: Path, new_home: Callable[[Path], Path]) -> Callable[..., Any]:
    settings = Settings(home=new_home(tmp_path / "home"))

    @asynccontextmanager
    async def scene(rules: SkillInjection | None = None, **more: Any) -> AsyncIterator[Scene]:
        async with open_yard(settings) as yard:
            tenant = await yard.people.ensure_tenant()
            boss = await yard.people.ensure_person(tenant, "boss", admin=True)
            rooms = sandbox_rooms(yard.database, yard.blobs, settings, choosing=Only(backend))
            releases = Releases()
            wired = wire_injection(
                rooms, yard.registry, yard.database, rules or SkillInjection(), releases=releases, **more
            )
            try:
                yield Scene(
                    yard=yard,
                    rooms=rooms,
                    releases=releases,
                    injection=wired,
                    boss=await yard.access.of_person(boss),
                )
            finally:
                await rooms.close()

    return scene


async def test_every_sandbox_has_the_built_in_skills_before_it_is_used(open_scene):
    async with open_scene() as scene:
        sandbox = await scene.sandbox()
        assert await scene.names(sandbox) == BUILTIN
        told = await scene.rooms.sandboxes.get(scene.boss, sandbox.id)
        assert told.skills_injected_at is not None
        assert told.hook_error is None


async def test_learned_skills_survive_stop_and_resume_and_follow_their_releases(open_scene):
    async with open_scene() as scene:
        owner = scene.boss.person_id
        scene.releases.promote(owner, "login", skill("login", body="First.\n"))
        sandbox = await scene.sandbox()
        assert await scene.names(sandbox) == BUILTIN | {"login"}
        async with scene.rooms.running.use(sandbox.id) as held:
            await sh(held.session, "echo mine > note && echo spoilt > skills/login/SKILL.md && rm -r skills/skillyard")
        await scene.rooms.sandboxes.stop(scene.boss, sandbox.id)
        assert await scene.names(sandbox) == BUILTIN | {"login"}
        assert b"First." in await scene.read(sandbox, "skills/login/SKILL.md")
        assert await scene.read(sandbox, "note") == b"mine\n"

        scene.releases.promote(owner, "login", skill("login", body="Second.\n"), number=2)
        async with scene.rooms.running.use(sandbox.id) as held:
            injection = await scene.injection.refresh(sandbox, held.session)
        assert injection.learned == 1
        assert b"Second." in await scene.read(sandbox, "skills/login/SKILL.md")
        assert {"name": "login", "digest": injection.present["login"].digest, "release_id": "sr-2"} in (
            scene.injection.skills_in(sandbox.id)
        )

        scene.releases.kept.clear()
        async with scene.rooms.running.use(sandbox.id) as held:
            await scene.injection.refresh(sandbox, held.session)
        assert await scene.names(sandbox) == BUILTIN


async def test_a_new_version_reaches_a_sandbox_that_runs(open_scene):
    async with open_scene() as scene:
        await scene.publish(skill("pdf", body="Old.\n"))
        sandbox = await scene.sandbox(**{SKILLS_LABEL: "boss/pdf"})
        assert b"Old." in await scene.read(sandbox, "skills/pdf/SKILL.md")
        follower = scene.injection.follow(scene.rooms.running, scene.yard.database, lambda _: asyncio.sleep(0))
        following = asyncio.create_task(follower)
        await scene.publish(skill("pdf", body="New.\n"), "2.0.0")
        async with asyncio.timeout(60):
            while b"New." not in await scene.read(sandbox, "skills/pdf/SKILL.md"):
                assert not following.done()
        following.cancel()


async def test_executions_record_the_skills_that_were_there(open_scene):
    async with open_scene() as scene:
        scene.releases.promote(scene.boss.person_id, "login", skill("login"))
        sandbox = await scene.sandbox()
        await scene.names(sandbox)
        present = {each["name"]: each for each in scene.rooms.log.skills(sandbox.id)}
        assert set(present) == BUILTIN | {"login"}
        assert present["login"]["release_id"] == "sr-1"


async def test_over_the_cap_the_most_used_are_injected(open_scene):
    async with open_scene(SkillInjection(max_skills=2)) as scene:
        for number in range(4):
            scene.releases.promote(scene.boss.person_id, f"s-{number}", skill(f"s-{number}"), uses=number)
        assert await scene.names(await scene.sandbox()) == BUILTIN | {"s-3", "s-2"}


async def test_what_was_learned_can_be_kept_out(open_scene):
    async with open_scene(SkillInjection(enabled=False)) as scene:
        scene.releases.promote(scene.boss.person_id, "login", skill("login"))
        assert await scene.names(await scene.sandbox()) == BUILTIN


async def test_attached_skills_come_with_what_they_require(open_scene):
    async with open_scene() as scene:
        await scene.publish(skill("base"))
        attached = await scene.publish(skill("pdf", metadata={"requires": "base"}))
        own = await scene.publish(skill("notes"))
        registry = scene.yard.registry
        agent = await registry.agents.create(scene.boss, AgentFields(name="Writer"), why=WHY)
        await registry.attachments.attach(scene.boss, SkillRef.of(attached), agent_id=None, why=WHY)
        await registry.attachments.attach(scene.boss, SkillRef.of(own), agent_id=agent.id, why=WHY)
        assert await scene.names(await scene.sandbox()) == BUILTIN | {"base", "pdf"}
        labelled = await scene.sandbox(**{AGENT_LABEL: agent.id})
        assert await scene.names(labelled) == BUILTIN | {"base", "pdf", "notes"}

        await registry.attachments.detach(scene.boss, SkillRef.of(attached), agent_id=None, why=WHY)
        async with scene.rooms.running.use(labelled.id) as held:
            await scene.injection.refresh(labelled, held.session)
        assert await scene.names(labelled) == BUILTIN | {"notes"}


async def test_skills_can_be_picked_by_version_or_tag(open_scene):
    async with open_scene() as scene:
        await scene.publish(skill("pdf", body="Old.\n"))
        picked = await scene.publish(skill("pdf", body="New.\n"), "2.0.0")
        await scene.yard.registry.versions.tag(scene.boss, picked, "proven", "1.0.0", why=WHY)
        sandbox = await scene.sandbox(**{SKILLS_LABEL: "boss/pdf@proven, boss/nothing"})
        assert b"Old." in await scene.read(sandbox, "skills/pdf/SKILL.md")


async def test_a_skill_that_cannot_be_picked_is_told_when_the_sandbox_is_made_and_when_it_starts(open_scene, caplog):
    async with open_scene() as scene:
        await scene.publish(skill("pdf"))
        sandbox = await scene.sandbox(**{SKILLS_LABEL: "boss/pdf, typo-skill, boss/pdf@9.9.9"})
        assert sandbox.hook_error.startswith(f"Skills could not be delivered: 2 of {len(BUILTIN) + 3}: typo-skill (")
        assert "boss/pdf (" in sandbox.hook_error
        logged = [each.skill_key for each in caplog.records if each.message == "skills.inject.skipped"]
        assert logged == ["typo-skill", "boss/pdf"]
        assert await scene.names(sandbox) == BUILTIN | {"pdf"}
        started = await scene.rooms.sandboxes.get(scene.boss, sandbox.id)
        assert (started.hook_error, started.skills_injected_at) == (sandbox.hook_error, None)


async def test_a_skill_that_comes_later_is_delivered_and_no_longer_told_as_missing(open_scene):
    async with open_scene() as scene:
        sandbox = await scene.sandbox(**{SKILLS_LABEL: "boss/pdf"})
        assert await scene.names(sandbox) == BUILTIN
        await scene.publish(skill("pdf"))
        assert await scene.names(sandbox) == BUILTIN | {"pdf"}
        told = await scene.rooms.sandboxes.get(scene.boss, sandbox.id)
        assert told.hook_error is None
        assert told.skills_injected_at is not None


async def test_learned_skills_over_the_cap_are_no_error(open_scene):
    async with open_scene(SkillInjection(max_skills=1)) as scene:
        for name in ("a", "b"):
            scene.releases.promote(scene.boss.person_id, name, skill(name))
        sandbox = await scene.sandbox()
        assert sandbox.hook_error is None
        await scene.names(sandbox)
        assert (await scene.rooms.sandboxes.get(scene.boss, sandbox.id)).skills_injected_at is not None


async def test_a_skill_that_was_withdrawn_is_gone_for_the_next_call(open_scene):
    async with open_scene() as scene:
        attached = await scene.publish(skill("pdf"))
        registry = scene.yard.registry
        await registry.attachments.attach(scene.boss, SkillRef.of(attached), agent_id=None, why=WHY)
        sandbox = await scene.sandbox()
        assert await scene.names(sandbox) == BUILTIN | {"pdf"}
        await registry.attachments.detach(scene.boss, SkillRef.of(attached), agent_id=None, why=WHY)
        done = await scene.rooms.runs.shell(scene.boss, sandbox.id, "ls skills")
        assert set(done.output.split()) == BUILTIN


async def test_a_run_after_a_change_of_something_else_does_not_look_into_the_sandbox(open_scene, monkeypatch):
    async with open_scene() as scene:
        sandbox = await scene.sandbox()
        await scene.names(sandbox)
        await scene.publish(skill("pdf"))
        monkeypatch.setattr(scene.injection._injector, "inject", None)
        assert (await scene.rooms.runs.shell(scene.boss, sandbox.id, "echo on")).output == "on\n"


async def test_a_loader_without_a_user_loads_what_everyone_may_see_and_nothing_else(open_scene):
    async with open_scene() as scene:
        public = await scene.publish(skill("pdf"), visibility=Visibility.PUBLIC)
        private = await scene.publish(skill("notes"))
        sandbox = await scene.sandbox()
        loader = open_loader(scene.yard.registry, scene.yard.database)
        async with scene.rooms.running.use(sandbox.id) as held:
            loaded = await loader.load_skills_to_sandbox([public, private], held.session)
            assert {skill_id: bool(status) for skill_id, status in loaded.items()} == {public: True, private: False}
            await scene.yard.people.ensure_tenant("other")
            refused = await loader.load_skills_to_sandbox([public], held.session)
            assert "one tenant" in refused[public].reason
        assert await scene.names(sandbox) == BUILTIN | {"pdf"}


async def test_skills_can_be_picked_from_a_folder(open_scene, tmp_path):
    (tmp_path / "mine/pdf").mkdir(parents=True)
    (tmp_path / "mine/pdf/SKILL.md").write_text(compose_skill_md("pdf", "Mine", "Do it.\n", {}))
    picks = LibraryPicks(FolderLibrary(tmp_path / "mine"), ["pdf", "nothing"])
    async with open_scene(more=[picks]) as scene:
        assert await scene.names(await scene.sandbox()) == BUILTIN | {"pdf"}


async def test_what_cannot_be_delivered_is_noted_and_the_sandbox_starts(open_scene):
    async with open_scene() as scene:
        sandbox = await scene.sandbox(**{AGENT_LABEL: "nobody"})
        assert await scene.names(sandbox) == BUILTIN
        told = await scene.rooms.sandboxes.get(scene.boss, sandbox.id)
        assert told.skills_injected_at is None
        assert "nobody" in str(told.hook_error)


class Unreadable:
    """A source whose skills are promised, and cannot be read when they are wanted."""

    kind = "attached"

    def __init__(self, *names: str) -> None:
        self.names = names

    async def desired(self, receiver: Receiver) -> Desired:
        return Desired(bundles=tuple(replace(desire(name, skill(name)), load=self.load) for name in self.names))

    async def load(self) -> Bundle:
        raise NotFoundError("Its files are gone.")


async def test_skills_that_fail_one_by_one_are_told_by_name_and_the_others_are_there(open_scene):
    async with open_scene(more=[Unreadable("pdf", "docx")]) as scene:
        sandbox = await scene.sandbox()
        assert await scene.names(sandbox) == BUILTIN
        told = await scene.rooms.sandboxes.get(scene.boss, sandbox.id)
        assert told.skills_injected_at is None
        failed = f"2 of {len(BUILTIN) + 2}: team/pdf (Its files are gone), team/docx (Its files are gone)."
        assert told.hook_error == f"Skills could not be delivered: {failed}"


async def test_where_many_skills_fail_some_are_told_by_name(open_scene):
    async with open_scene() as scene:
        sandbox = await scene.sandbox()
        injection = SandboxInjection([Unreadable(*"abcdefg")])
        async with scene.rooms.running.use(sandbox.id) as held:
            with pytest.raises(UnavailableError, match=r"7 of 7: team/a .* and 2 more\.$"):
                await injection.on_running(sandbox, held.session)


async def test_what_was_loaded_by_request_stays_when_the_rest_changes(open_scene):
    async with open_scene() as scene:
        loaded = await scene.publish(skill("pdf"))
        sandbox = await scene.sandbox()
        loader = open_loader(scene.yard.registry, scene.yard.database)
        async with scene.rooms.running.use(sandbox.id) as held:
            assert await loader.load_skill_to_sandbox(loaded, held.session, scene.boss.person_id)
        await scene.rooms.sandboxes.stop(scene.boss, sandbox.id)
        assert await scene.names(sandbox) == BUILTIN | {"pdf"}
