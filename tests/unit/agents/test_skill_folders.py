"""The skills of a source as folders: each at one path, none outside of it."""

import pytest

from skillyard.agents.library_source import LibrarySource
from skillyard.agents.skill_folders import SkillFolders, folder_of
from skillyard.agents.source import Found, SkillPage
from skillyard.errors import FileMissingError, InvalidPathError
from skillyard.library.folder import FolderLibrary
from skillyard.skill.library import SkillEntry


def write_skill(root, name):
    (root / name).mkdir()
    (root / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: What {name} is for.\n---\n\nDo it.\n")


@pytest.fixture
def source(tmp_path):
    for name in ("pdf", "mail"):
        write_skill(tmp_path, name)
    return LibrarySource(FolderLibrary(tmp_path))


class Yard:
    """A source whose skills have namespaces; `pdf` alone means the one of the team."""

    def __init__(self, *ids):
        self.ids = ids
        self.asked = 0

    def stamp(self):
        return "1"

    def page(self, cursor="", limit=100):
        self.asked += 1
        start = int(cursor or 0)
        skills = [found(each) for each in self.ids[start : start + 2]]
        return SkillPage(skills=skills, next_cursor=str(start + 2) if start + 2 < len(self.ids) else "")

    def find(self, name):
        known = {each: each for each in self.ids} | {each.rpartition("/")[2]: each for each in reversed(self.ids)}
        return found(known[name]) if name in known else None


def found(skill_id):
    return Found(entry=SkillEntry(skill_id, skill_id.rpartition("/")[2], "d", "", ""))


def test_a_path_names_everything_a_skill_or_something_in_it(source):
    folders = SkillFolders(source)
    assert folders.at("/").skill is None
    assert (folders.at("/pdf/").skill.id, folders.at("/pdf").inside) == ("pdf", "")
    place = folders.at("//pdf/./scripts//run.py")
    assert (place.folder, place.skill.id, place.inside) == ("pdf", "pdf", "scripts/run.py")


@pytest.mark.parametrize("path", ["/nothing", "/nothing/SKILL.md", "/nothing/pdf/SKILL.md"])
def test_what_is_not_there_is_said_to_be_missing(source, path):
    with pytest.raises(FileMissingError):
        SkillFolders(source).at(path)


@pytest.mark.parametrize("path", ["/pdf/../mail/SKILL.md", "/..", "/pdf/a\0b", "/pdf\\SKILL.md"])
def test_a_path_that_leads_about_is_refused(source, path):
    with pytest.raises(InvalidPathError):
        SkillFolders(source).at(path)


def test_only_the_picked_skills_are_there(source):
    folders = SkillFolders(source, only=["PDF", "gone"])
    assert list(folders.all()) == ["pdf"]
    assert folders.at("/pdf").skill.id == "pdf"
    with pytest.raises(FileMissingError):
        folders.at("/mail/SKILL.md")


def test_two_skills_of_one_name_have_folders_of_their_own():
    folders = SkillFolders(Yard("team/pdf", "kim/pdf", "team/mail"))
    assert {name: skill.id for name, skill in folders.all().items()} == {
        "kim--pdf": "kim/pdf",
        "mail": "team/mail",
        "pdf": "team/pdf",
    }
    for path, skill in (
        ("/pdf", "team/pdf"),
        ("/kim--pdf", "kim/pdf"),
        ("/kim/pdf", "kim/pdf"),
        ("/mail", "team/mail"),
    ):
        place = folders.at(f"{path}/scripts/x.py")
        assert (place.folder, place.skill.id, place.inside) == (path[1:], skill, "scripts/x.py")
        assert folders.at(f"{path}/x.py", folders.all()).skill.id == skill


def test_all_skills_are_asked_for_once_until_something_changes():
    yard = Yard("a", "b", "c")
    folders = SkillFolders(yard)
    assert list(folders.all()) == list(folders.all()) == ["a", "b", "c"]
    assert yard.asked == 2
    yard.stamp = lambda: "2"
    folders.all()
    assert yard.asked == 4


@pytest.mark.parametrize(
    ("skill", "folder"), [("a/pdf", "pdf"), ("a/日本語", "日本語"), (".x", "x-bb42e4c6"), ("a/\x00", "skill-6e340b9c")]
)
def test_a_folder_is_called_like_its_skill_if_a_folder_can_be(skill, folder):
    assert folder_of(found(skill)) == folder
