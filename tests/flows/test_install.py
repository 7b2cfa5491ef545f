"""A skill's way from where it is published into the folders of agents, through edits and updates, and out again."""

import hashlib
import http.server
import json
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillyard.delivery import (
    apply_plan,
    check_installed,
    fetch_source,
    parse_source,
    plan_add,
    plan_adopt,
    plan_remove,
    plan_update,
    restore_item,
)
from skillyard.delivery.plan import Plan
from skillyard.delivery.remove import RemoveOptions
from skillyard.delivery.sync import plan_sync
from skillyard.delivery.target import agent_targets, root_targets
from skillyard.library.agents import Scope
from skillyard.library.folder import FolderLibrary
from skillyard.library.roots import Machine, discover_roots
from skillyard.skill.archive import pack

STEPS = "".join(f"{number}. Do step {number}.\n" for number in range(1, 9))


def skill(name: str, steps: str = STEPS) -> str:
    return f"---\nname: {name}\ndescription: Handles {name}. Use it for {name} files.\n---\n# {name}\n\n{steps}"


@pytest.fixture(autouse=True)
def _git_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for side in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{side}_NAME", "Test")
        monkeypatch.setenv(f"GIT_{side}_EMAIL", "test@example.invalid")
        monkeypatch.setenv(f"GIT_{side}_DATE", "2026-01-01T00:00:00Z")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


class Publisher:
    """A person with a repository of skills."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.git("init", "--quiet", "--initial-branch=main", ".")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def publish(self, files: dict[str, str]) -> str:
        for name, text in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "news")
        return self.git("rev-parse", "HEAD")


class Person:
    """A person with a project, two agents and Skillyard."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        (self.project / ".git").mkdir(parents=True)
        self.home = folder / "yard"
        self.machine = Machine(home=folder / "me", cwd=self.project, env={})

    @property
    def roots(self):
        return root_targets(discover_roots(self.machine), machine=self.machine, home=self.home)

    def run(self, plan: Plan) -> list[tuple[str, str]]:
        outcome = apply_plan(plan, home=self.home)
        return sorted((action.id, action.act.value) for action in (*outcome.done, *outcome.left))

    def add(self, source: str, *, digest: str = "") -> list[tuple[str, str]]:
        fetched = fetch_source(parse_source(source, cwd=self.project, digest=digest))
        targets = agent_targets(["claude", "codex"], Scope.PROJECT, machine=self.machine, home=self.home)
        return self.run(plan_add(fetched, targets))

    def update(self) -> list[tuple[str, str]]:
        return self.run(plan_update([self.roots[0].place], home=self.home))

    def status(self) -> dict[str, str]:
        return {item.id: item.status.value for item in check_installed(self.roots, home=self.home)}

    def sees(self, root: str) -> list[str]:
        """What an agent that reads this folder finds there."""
        folder = self.project / root
        library = FolderLibrary(folder, known_roots=[self.project / ".agents/skills"])
        return [entry.id for entry in library.catalog().entries]


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


@pytest.fixture
def publisher(tmp_path: Path) -> Publisher:
    publisher = Publisher(tmp_path / "published")
    publisher.publish({"skills/pdf/SKILL.md": skill("pdf"), "skills/csv/SKILL.md": skill("csv")})
    return publisher


def test_from_a_repository_to_two_agents_through_an_edit_and_an_update_and_out(person: Person, publisher: Publisher):
    source = f"git+{publisher.path}"
    assert person.add(source) == [("csv", "create"), ("pdf", "create")]
    assert person.sees(".agents/skills") == person.sees(".claude/skills") == ["csv", "pdf"]
    assert person.status() == {"csv": "ok", "pdf": "ok"}
    assert person.add(source) == []

    mine = person.project / ".claude/skills/pdf/SKILL.md"
    mine.write_text(mine.read_text().replace("Do step 1.", "Do my step."))
    commit = publisher.publish(
        {
            "skills/pdf/SKILL.md": skill("pdf", STEPS.replace("Do step 8.", "Do the new step.")),
            "skills/csv/SKILL.md": skill("csv", STEPS.replace("Do step 8.", "Do the new step.")),
        }
    )
    assert person.status() == {"csv": "ok", "pdf": "edited"}
    assert person.update() == [("csv", "replace"), ("pdf", "merge")]
    assert "Do my step." in mine.read_text()
    assert "Do the new step." in mine.read_text()
    lock = json.loads((person.project / "skillyard.lock").read_text())
    assert {entry["resolved"] for entry in lock["skills"]} == {commit}

    outcome = apply_plan(plan_remove(["csv"], person.roots), home=person.home)
    assert person.sees(".claude/skills") == ["pdf"]
    restore_item(outcome.trashed[0].name, home=person.home)
    assert person.sees(".claude/skills") == ["csv", "pdf"]
    assert person.status() == {"csv": "ok", "pdf": "edited"}


def test_a_colleague_with_the_project_alone_updates_without_losing_the_edit(
    person: Person, publisher: Publisher, tmp_path: Path
):
    person.add(f"git+{publisher.path}")
    mine = person.project / ".agents/skills/pdf/SKILL.md"
    mine.write_text(mine.read_text().replace("Do step 1.", "Do my step."))
    publisher.publish({"skills/pdf/SKILL.md": skill("pdf", STEPS.replace("Do step 8.", "Do the new step."))})
    person.home = tmp_path / "the-colleagues-yard"
    assert person.update() == [("csv", "record"), ("pdf", "merge")]
    assert "Do my step." in mine.read_text()
    assert "Do the new step." in mine.read_text()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A web site on loopback and the folder it shows."""
    folder = tmp_path / "site"
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *_: object) -> None:
            """Nothing is printed in a test."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", folder
        server.shutdown()
        thread.join()


def test_from_a_site_with_an_index_every_byte_checked(person: Person, publisher: Publisher, site: tuple[str, Path]):
    url, folder = site
    bundle = fetch_source(parse_source(f"git+{publisher.path}", cwd=person.project), only=["pdf"]).skills[0].bundle
    archive = pack(bundle, "pdf")
    well_known = folder / ".well-known/agent-skills"
    well_known.mkdir(parents=True)
    (well_known / "pdf.skill").write_bytes(archive)
    entry = {
        "name": "pdf",
        "type": "archive",
        "description": "Handles pdf.",
        "url": "pdf.skill",
        "digest": f"sha256:{hashlib.sha256(archive).hexdigest()}",
    }
    schema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
    (well_known / "index.json").write_text(json.dumps({"$schema": schema, "skills": [entry]}))
    assert person.add(url) == [("pdf", "create")]
    lock = json.loads((person.project / "skillyard.lock").read_text())
    assert lock["skills"][0]["digest"] == bundle.digest
    assert person.update() == []

    (well_known / "pdf.skill").write_bytes(archive + b"tampered")
    assert person.update() == [("pdf", "refused")]
    assert person.status() == {"pdf": "ok"}


def test_what_another_installer_left_is_adopted_and_then_updated(person: Person, publisher: Publisher):
    installed = person.project / ".agents/skills/pdf"
    installed.mkdir(parents=True)
    (installed / "SKILL.md").write_text(skill("pdf"))
    claude = person.project / ".claude/skills"
    claude.mkdir(parents=True)
    (claude / "pdf").symlink_to("../../.agents/skills/pdf")
    content = f"SKILL.md{skill('pdf')}".encode()
    foreign = {
        "source": str(publisher.path),
        "sourceUrl": str(publisher.path),
        "sourceType": "git",
        "skillPath": "skills/pdf/SKILL.md",
        "computedHash": hashlib.sha256(content).hexdigest(),
    }
    (person.project / "skills-lock.json").write_text(json.dumps({"version": 1, "skills": {"pdf": foreign}}))
    assert person.status() == {"pdf": "untracked"}
    assert person.run(plan_adopt(person.roots, machine=person.machine)) == [("pdf", "adopt")]
    assert person.status() == {"pdf": "ok"}

    publisher.publish({"skills/pdf/SKILL.md": skill("pdf", STEPS.replace("Do step 8.", "Do the new step."))})
    assert person.update() == [("pdf", "replace")]
    assert "Do the new step." in (claude / "pdf/SKILL.md").read_text()


def test_a_hostile_project_lock_touches_nothing(person: Person, publisher: Publisher, tmp_path: Path):
    person.add(f"git+{publisher.path}")
    lock = person.project / "skillyard.lock"
    good = json.loads(lock.read_text())
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "SKILL.md").write_text(skill("precious"))
    before = sorted(path for path in tmp_path.rglob("*") if path.is_relative_to(precious))
    for path in ("../precious", str(precious), ".git/hooks/precious", ".agents/../../precious"):
        entry = {**good["skills"][0], "id": "precious", "path": path}
        lock.write_text(json.dumps({"version": 1, "skills": [entry]}))
        for command in (
            person.update,
            person.status,
            lambda: plan_remove(["precious"], person.roots, RemoveOptions(force=True)),
            lambda: plan_sync([target.place for target in person.roots], home=person.home),
        ):
            with pytest.raises(Exception, match=r"not inside|git run commands"):
                command()
    assert sorted(path for path in tmp_path.rglob("*") if path.is_relative_to(precious)) == before
