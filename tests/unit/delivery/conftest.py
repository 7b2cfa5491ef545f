"""Real repositories, real servers and small skills for the delivery tests."""

import http.server
import io
import os
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from skillyard.delivery.bundle_source import DesiredBundle, Origin
from skillyard.delivery.look import Kind, look_at
from skillyard.errors import LimitError, NotFoundError, SandboxDiedError, UnavailableError
from skillyard.sandbox.session import FileEntry
from skillyard.skill.bundle import Bundle, BundleFile, bundle_of

GIT_ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@example.invalid",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@example.invalid",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


@pytest.fixture(autouse=True)
def _git_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in GIT_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Skillyard's own home."""
    return tmp_path / "home"


@dataclass(frozen=True, kw_only=True)
class GitRepository:
    path: Path

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, files: Mapping[str, str | bytes | None], message: str = "change") -> str:
        """Commit these files; None deletes one. The commit's id."""
        for name, content in files.items():
            path = self.path / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.git("add", "-A", "-f")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def make_repository(tmp_path: Path) -> Callable[..., GitRepository]:
    def make(files: Mapping[str, str | bytes | None], *, name: str = "repo") -> GitRepository:
        repository = GitRepository(path=tmp_path / name)
        repository.path.mkdir()
        repository.git("init", "--quiet", "--initial-branch=main", ".")
        repository.commit(files)
        return repository

    return make


@dataclass(kw_only=True)
class Answer:
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    endless: bool = False


@dataclass(kw_only=True)
class Site:
    """A server on loopback: what it answers is in `pages`, what it was asked in `asked`."""

    url: str
    pages: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def put(self, path: str, body: bytes, **headers: str) -> str:
        self.pages[path] = Answer(body=body, headers=headers)
        return self.url + path

    @staticmethod
    def answer(**fields: Any) -> Answer:
        return Answer(**fields)

    def redirect(self, path: str, target: str) -> str:
        self.pages[path] = Answer(status=302, headers={"Location": target})
        return self.url + path


@pytest.fixture
def site() -> Iterator[Site]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            here.asked.append(self.path)
            answer = here.pages.get(self.path, Answer(status=404))
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if not answer.endless and "Content-Length" not in answer.headers:
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            try:
                self.wfile.write(answer.body)
                while answer.endless:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                return

        def log_message(self, *_: object) -> None:
            """Nothing is printed in a test."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        here = Site(url=f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield here
        server.shutdown()
        thread.join()


def _skill_md(name: str, *, description: str = "Does a thing. Use it for things.", body: str = "Do it.\n") -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n{body}"


@pytest.fixture
def skill_md() -> Callable[..., str]:
    return _skill_md


@pytest.fixture
def make_bundle() -> Callable[..., Bundle]:
    """A bundle of texts by path; without a `SKILL.md` one is added."""

    def make(files: Mapping[str, str | bytes] | None = None, *, name: str = "pdf") -> Bundle:
        texts = {"SKILL.md": _skill_md(name), **(files or {})}
        read = bundle_of(
            BundleFile(path, text if isinstance(text, bytes) else text.encode()) for path, text in texts.items()
        )
        return read.require()

    return make


class DiskWorkspace:
    """A workspace without a sandbox around it: what a delivery asks of a session, on a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.asked: list[str] = []
        self.dead = False
        self.refuses: str | None = None
        """A part of the path of what cannot be unpacked here."""
        self.stops_after: int | None = None
        """Files of the next archive that are still unpacked before the machine stops."""

    async def read_file(self, path: str, *, max_bytes: int | None = None) -> bytes:
        self._ask("read_file")
        if not (self.root / path).is_file():
            raise NotFoundError(f"There is no {path!r}.")
        data = (self.root / path).read_bytes()
        if max_bytes is not None and len(data) > max_bytes:
            raise LimitError(f"{path!r} is too large.")
        return data

    async def list_folder(self, path: str = ".") -> Sequence[FileEntry]:
        self._ask("list_folder")
        if not (self.root / path).is_dir():
            raise NotFoundError(f"There is no {path!r}.")
        return [
            FileEntry(
                name=each.name,
                path=f"{path}/{each.name}",
                kind="folder" if each.is_dir() else "file",
                size=0,
                modified_at=datetime.now(UTC),
                executable=False,
            )
            for each in (self.root / path).iterdir()
        ]

    async def put_tar(self, data: bytes, path: str = ".", *, remove: Sequence[str] = ()) -> None:
        self._ask("put_tar")
        for each in remove:
            if (self.root / each).is_dir():
                shutil.rmtree(self.root / each)
            else:
                (self.root / each).unlink(missing_ok=True)
        left = self.stops_after
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                if left == 0:
                    self.dead = True
                    self._ask("put_tar")
                if self.refuses is not None and self.refuses in member.name:
                    raise UnavailableError(f"{member.name} cannot be written.")
                archive.extract(member, self.root / path, filter="data")
                left = None if left is None else left - 1

    async def digests(self, paths: Sequence[str]) -> Mapping[str, str | None]:
        self._ask("digests")
        looks = {path: look_at(self.root / path) for path in paths}
        return {path: None if look.kind is Kind.ABSENT else look.mark for path, look in looks.items()}

    def _ask(self, what: str) -> None:
        if self.dead:
            raise SandboxDiedError("The sandbox went away.")
        self.asked.append(what)


@pytest.fixture
def workspace(tmp_path: Path) -> DiskWorkspace:
    (tmp_path / "workspace").mkdir()
    return DiskWorkspace(tmp_path / "workspace")


@pytest.fixture
def desire() -> Callable[..., DesiredBundle]:
    """A bundle as something to deliver."""

    def make(bundle: Bundle, folder: str = "pdf", *, kind: str = "attached", version: str = "", skill: str = "") -> Any:
        async def load() -> Bundle:
            return bundle

        origin = Origin(kind=kind, skill=skill or f"team/{folder}", version=version)
        return DesiredBundle(folder=folder, digest=bundle.digest, origin=origin, load=load)

    return make
