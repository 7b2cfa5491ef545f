"""Skills on their way into sandboxes: all in one archive, unchanged once more, and file by file as others do it."""

import asyncio
import hashlib
import io
import itertools
import random
import subprocess
import tarfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from boxes import YARD, Ground, place
from generate import sentence, skill_md
from turns import Subject, compared, plainly, take_turns

from skillyard.delivery.bundle_source import DesiredBundle, Origin
from skillyard.delivery.sandbox_place import SandboxPlace, pack_parcel
from skillyard.delivery.ship import ship
from skillyard.delivery.ship_plan import Step
from skillyard.delivery.skills_place import Parcel
from skillyard.sandbox.backend import Backend
from skillyard.sandbox.docker.container import uid_of
from skillyard.sandbox.session import Session
from skillyard.skill.bundle import Bundle, BundleFile, bundle_of

SKILLS, FILES = 50, 9
_BY_API, _BY_EXEC = 5, SKILLS
"""What part of them is sent in the ways that take minutes."""
_SETTLED_SECONDS = 0.15
_ONE_ARCHIVE = "skillyard: one archive, verified"
_KIND = "attached"
_numbers = itertools.count()


def generated(count: int = SKILLS) -> dict[str, Bundle]:
    """Skills with scripts, references and noise, from a fixed seed."""
    rng = random.Random(5)
    bundles: dict[str, Bundle] = {}
    for number in range(count):
        name = f"skill-{number:03d}"
        files = [
            BundleFile("SKILL.md", skill_md(rng, name).encode()),
            *(BundleFile(f"scripts/run-{n}.py", f"print({n})\n".encode() * 40, executable=True) for n in range(2)),
            *(BundleFile(f"references/part-{n}.md", sentence(rng, 300).encode()) for n in range(3)),
            *(BundleFile(f"assets/data-{n}.bin", rng.randbytes(rng.choice((200, 3_000, 20_000)))) for n in range(3)),
        ]
        bundles[name] = bundle_of(files).require()
        if len(files) != FILES:
            raise SystemExit(f"{len(files)} files instead of {FILES}")
    return bundles


class Delivery:
    """The same skills, sent to one sandbox as the injector sends them."""

    def __init__(self, session: Session, bundles: Mapping[str, Bundle]) -> None:
        self.session = session
        self._bundles = bundles
        self._folder = "skills"
        self._wanted = [_desired(name, bundle) for name, bundle in bundles.items()]

    async def first(self) -> None:
        await self._ship(Step.ADD)

    async def again(self) -> None:
        await self._ship(Step.UNCHANGED)

    async def alone(self) -> None:
        """Pack and send, without a look before and a check after."""
        parcel = Parcel(manifest=b"{}", put=self._bundles)
        await self.session.put_tar(await asyncio.to_thread(pack_parcel, parcel), self._folder)

    async def elsewhere(self) -> None:
        """Have a new place; nothing is deleted between, which some file systems answer with slow writes."""
        self._folder = f"skills-{next(_numbers)}"

    async def settle(self) -> None:
        """Have them there, unlike files that were written a moment ago."""
        await self.elsewhere()
        await self.first()
        await asyncio.sleep(_SETTLED_SECONDS)

    async def _ship(self, step: Step) -> None:
        plan = await ship(SandboxPlace(self.session, folder=self._folder), self._wanted, speaks_for=(_KIND,))
        if {item.step for item in plan.items} != {step}:
            raise SystemExit(f"not all are {step}: {[item for item in plan.items if item.step != step][:3]}")


def _desired(name: str, bundle: Bundle) -> DesiredBundle:
    async def load() -> Bundle:
        return bundle

    return DesiredBundle(folder=name, digest=bundle.digest, origin=Origin(kind=_KIND, skill=name), load=load)


class ByHand:
    """The same files in a folder of this machine, by a plain loop."""

    def __init__(self, folder: Path, bundles: Mapping[str, Bundle]) -> None:
        self._top = self._folder = folder
        self._bundles = bundles

    def elsewhere(self) -> None:
        self._folder = self._top / str(next(_numbers))

    def write(self) -> None:
        for name, bundle in self._bundles.items():
            for file in bundle:
                path = self._folder / name / file.path
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file.data)

    def stat(self) -> None:
        for path in self._folder.rglob("*"):
            path.stat()

    def hash(self) -> None:
        for path in self._folder.rglob("*"):
            if path.is_file():
                hashlib.sha256(path.read_bytes()).hexdigest()


class _Resumed:
    """A sandbox that has the skills and is started anew each time, as after stop and resume."""

    def __init__(self, backend: Backend, bundles: Mapping[str, Bundle]) -> None:
        self._backend = backend
        self._bundles = bundles
        self._delivery: Delivery | None = None

    async def start(self) -> None:
        first = self._delivery is None
        self._delivery = Delivery(await self._backend.start(place("resumed")), self._bundles)
        if first:
            await self._delivery.first()
            await asyncio.sleep(_SETTLED_SECONDS)
            await self.end()
            await self.start()

    async def again(self) -> None:
        if self._delivery is not None:
            await self._delivery.again()

    async def end(self) -> None:
        if self._delivery is not None:
            await self._delivery.session.close()


async def delivering(ground: Ground, *, rounds: int) -> str:
    bundles = generated()
    hand = ByHand(ground.folder / "by-hand", bundles)
    subjects = [
        Subject(name="by hand: write them", before=plainly(hand.elsewhere), run=plainly(hand.write), count=3),
        Subject(name="by hand: read and hash them", run=plainly(hand.hash), count=3),
        Subject(name="by hand: stat them", run=plainly(hand.stat), count=3),
    ]
    deliveries: list[Delivery] = []
    for name, backend in ground.backends.items():
        one = Delivery(await backend.start(place("delivery")), bundles)
        deliveries.append(one)
        resumed = _Resumed(backend, bundles)
        subjects += [
            Subject(name=f"skillyard {name}: first", before=one.elsewhere, run=one.first, count=3),
            Subject(name=f"skillyard {name}: unchanged, just written", before=one.settle, run=one.again),
            Subject(name=f"skillyard {name}: unchanged, once more", run=one.again, count=10),
            Subject(
                name=f"skillyard {name}: unchanged, after stop and resume",
                before=resumed.start,
                run=resumed.again,
                after=resumed.end,
            ),
        ]
    try:
        times = await take_turns(subjects, rounds=rounds)
    finally:
        for each in deliveries:
            await each.session.close()
    return compared(
        f"{SKILLS} skills, {SKILLS * FILES} files",
        times,
        {"of write": "by hand: write them", "of stat": "by hand: stat them"},
    )


class _FileByFile:
    """The same files into a running container, one round trip each, in three ways."""

    def __init__(self, ground: Ground, session: Session, *, name: str, bundles: Mapping[str, Bundle]) -> None:
        docker: Any = import_module("docker")
        self.api = docker.APIClient(base_url=ground.podman.url)
        self._session = session
        self._container = f"skillyard-{YARD}-sandbox-{name}"
        self._cli = [*ground.cli, "exec", "-i", self._container, "sh", "-c"]
        self._uid = uid_of(f"cargo-{name}")
        self._all = [(f"{folder}/{file.path}", file) for folder, bundle in bundles.items() for file in bundle]

    async def by_session(self) -> None:
        """Over the stream to the guest, which is the quickest way to one file."""
        top = f"one-by-one-{next(_numbers)}"
        for path, file in self._all:
            await self._session.write_file(f"{top}/{path}", file.data, executable=file.executable)

    def by_api(self) -> None:
        top = f"by-api-{next(_numbers)}"
        for path, file in self._part(_BY_API):
            self.api.put_archive(self._container, "/workspace", self._archive(f"{top}/{path}", file))

    def by_exec(self) -> None:
        top = f"by-exec-{next(_numbers)}"
        for path, file in self._part(_BY_EXEC):
            line = [*self._cli, 'mkdir -p "${1%/*}" && cat > "$1"', "sh", f"{top}/{path}"]
            subprocess.run(line, input=file.data, check=True, capture_output=True)

    async def arrived(self) -> None:
        """What was sent in these ways is there as well."""
        for top in [entry.name for entry in await self._session.list_folder()]:
            for path, file in self._part(_BY_EXEC):
                if await self._session.read_file(f"{top}/{path}") != file.data:
                    raise SystemExit(f"{top}/{path} is not what was sent")

    def _part(self, divisor: int) -> list[tuple[str, BundleFile]]:
        return self._all[: len(self._all) // divisor]

    def _archive(self, path: str, file: BundleFile) -> bytes:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for above in reversed([each for each in Path(path).parents if each.name]):
                folder = tarfile.TarInfo(str(above))
                folder.type, folder.mode, folder.uid, folder.gid = tarfile.DIRTYPE, 0o755, self._uid, self._uid
                archive.addfile(folder)
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(file.data), 0o755 if file.executable else 0o644
            member.uid = member.gid = self._uid
            archive.addfile(member, io.BytesIO(file.data))
        return buffer.getvalue()


async def into_containers(ground: Ground, *, rounds: int) -> str:
    backend = ground.backends.get("docker")
    if backend is None:
        return f"Not measured: {ground.absent.get('docker', '')}"
    bundles = generated()
    delivery = Delivery(await backend.start(place("parcel")), bundles)
    others = await backend.start(place("files"))
    ways = _FileByFile(ground, others, name="files", bundles=bundles)
    try:
        times = await take_turns(
            [
                Subject(name=_ONE_ARCHIVE, before=delivery.elsewhere, run=delivery.first, count=3),
                Subject(
                    name="the same archive alone: `put_tar`", before=delivery.elsewhere, run=delivery.alone, count=3
                ),
                Subject(name="file by file: `write_file` of the session", run=ways.by_session),
                Subject(name="file by file: Docker's API, `put_archive`", run=plainly(ways.by_api), parts=_BY_API),
                Subject(name="file by file: `podman exec`", run=plainly(ways.by_exec), parts=_BY_EXEC),
            ],
            rounds=rounds,
        )
        await ways.arrived()
    finally:
        ways.api.close()
        await delivery.session.close()
        await others.close()
    return compared(f"{SKILLS} skills, {SKILLS * FILES} files", times, {"of one archive": _ONE_ARCHIVE})
