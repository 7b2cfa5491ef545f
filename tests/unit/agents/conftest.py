"""Sources of skills that tests fill: a folder, an environment, several folders layered, and a yard."""

import os
import shutil

import pytest

from skillyard import Skillyard
from skillyard.agents.library_source import LibrarySource
from skillyard.agents.yard_source import YardSource
from skillyard.library.environments import Environment
from skillyard.library.folder import FolderLibrary
from skillyard.library.switches import Switches, WithSwitches
from skillyard.skill.bundle import BundleFile, bundle_of
from skillyard.skill.library import Layered

SKILL = "---\nname: {name}\ndescription: {description}\n---\n\n{body}\n"


class FolderShelf:
    """Skills that are put into a folder."""

    def __init__(self, root, library):
        self.root = root
        self.library = library
        self.source = LibrarySource(library)

    def put(self, name, description="Does it.", body="Do it.", files=(), executable=()):
        folder = self.root / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_text(SKILL.format(name=name, description=description, body=body), encoding="utf-8")
        for path, text in dict(files).items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            file.chmod(0o755 if path in executable else 0o644)

    def remove(self, name):
        shutil.rmtree(self.root / name)

    def id(self, name):
        return name


class YardShelf:
    """Skills that are published in a yard."""

    def __init__(self, yard):
        self.yard = yard
        self.source = YardSource(yard)

    def put(self, name, description="Does it.", body="Do it.", files=(), executable=(), *, publish=True):
        text = SKILL.format(name=name, description=description, body=body)
        given = [BundleFile("SKILL.md", text.encode())]
        given += [BundleFile(path, content.encode(), path in executable) for path, content in dict(files).items()]
        self.yard.send(bundle_of(given).require(), name, publish=publish)

    def remove(self, name):
        self.yard.delete(f"ann/{name}")

    def id(self, name):
        return f"ann/{name}"


@pytest.fixture(scope="session")
def session_yard(new_home, tmp_path_factory):
    """A yard that tests of this folder share: opening one takes longer than any of them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("SKILLYARD_")]:
            patch.delenv(name)
        patch.setenv("LOGNAME", "ann")
        patch.setenv("SKILLYARD_CONFIG_DIR", str(tmp_path_factory.mktemp("config")))
        with Skillyard(home=new_home(tmp_path_factory.mktemp("yard") / "home")) as yard:
            yard.me()
            yield yard


@pytest.fixture
def yard(session_yard):
    """That yard without any skill, but for those that come with it."""
    yield session_yard
    for skill in list(session_yard.skills()):
        if skill["owner_id"] is not None:
            session_yard.delete(skill["id"])


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "skills"
    return FolderShelf(root, FolderLibrary(root))


@pytest.fixture
def yard_shelf(yard):
    shelf = YardShelf(yard)
    yield shelf
    shelf.source.close()


@pytest.fixture
def environment(tmp_path):
    environment = Environment(tmp_path / "environments" / "work", switches=Switches())
    return FolderShelf(environment.skills_dir, environment.library)


@pytest.fixture
def layers(tmp_path):
    roots = [tmp_path / "first", tmp_path / "second"]
    libraries = [WithSwitches(FolderLibrary(root), Switches(), root=root) for root in roots]
    return FolderShelf(roots[1], Layered(libraries))


@pytest.fixture(params=["folder", "environment", "layers", "yard_shelf"])
def shelf(request):
    """A source of each kind, and how skills are put there."""
    return request.getfixturevalue(request.param)
