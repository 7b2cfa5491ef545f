import pytest

from skillyard.app.libraries import BUILTIN
from skillyard.app.similarity import report_on, similar_to
from skillyard.errors import InputError, NotFoundError
from skillyard.library.folder import FolderLibrary
from skillyard.search.similar import Kind
from skillyard.skill.library import Layered

TEXT = " ".join(f"step{number} does thing{number * 7 % 31} and then goes on" for number in range(60))


@pytest.fixture
def put(tmp_path):
    def _put(place, *, name=None, body=TEXT, description="Does it.", more=""):
        folder = tmp_path / place
        folder.mkdir(parents=True)
        front = f"name: {name or folder.name}\ndescription: {description}\n{more}"
        (folder / "SKILL.md").write_text(f"---\n{front}---\n{body}\n")
        return folder

    return _put


@pytest.fixture
def library(tmp_path):
    return lambda *roots: Layered([FolderLibrary(tmp_path / root) for root in roots])


def told(report):
    return [(found.group.kind.value, found.commands) for found in report.found]


def test_no_copy_is_said_to_be_needless(put, library, tmp_path):
    put("a/pdf")
    put("a/pdf-copy")
    report = report_on(library("a"))
    assert told(report) == [("exact", ())]


def test_a_skill_that_another_one_hides_takes_part(put, library, tmp_path):
    put("a/pdf")
    put("b/pdf")
    report = report_on(library("a", "b"))
    assert told(report) == [("exact", ())]


def test_a_link_to_a_skill_is_no_copy_of_it(put, library, tmp_path):
    folder = put("a/pdf")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "pdf").symlink_to(folder)
    report = report_on(Layered([FolderLibrary(tmp_path / root, known_roots=[tmp_path / "a"]) for root in ("a", "b")]))
    assert (len(report.skills), told(report)) == (1, [])


def test_what_ships_with_skillyard_is_never_to_be_removed(put, tmp_path):
    put("a/pdf")
    put("package/pdf")
    libraries = [FolderLibrary(tmp_path / "a"), FolderLibrary(tmp_path / "package", label=BUILTIN)]
    (found,) = report_on(Layered(libraries)).found
    assert found.commands == ()


def test_variants_and_namesakes_are_to_be_compared(put, library, tmp_path):
    put("a/pdf")
    put("a/pdf-2", body=f"{TEXT} and more", name="pdf")
    put("a/other", body="Something else entirely. " * 20, name="pdf")
    compare = f"skillyard skill diff {tmp_path}/a"
    assert told(report_on(library("a"))) == [
        ("near", (f"{compare}/pdf {tmp_path}/a/pdf-2",)),
        ("same-name", (f"{compare}/other {tmp_path}/a/pdf",)),
    ]


def test_other_files_make_a_variant(put, library):
    put("a/pdf")
    put("b/pdf").joinpath("notes.md").write_text("More.\n")
    (found,) = report_on(library("a", "b")).found
    assert (found.group.kind, found.group.others[0].differs) == (Kind.NEAR, ("files",))


def test_skills_of_one_template_need_nothing(put, library):
    put("a/beamer", body=f"{TEXT} with beamer", description="Runs beamer.")
    put("a/calendly", body=f"{TEXT} with calendly", description="Runs calendly.")
    assert told(report_on(library("a"))) == [("template", ())]


def test_a_skill_that_went_away_does_not_stop_the_others(put, library):
    folder, shelf = put("a/pdf"), library("a")
    put("a/pdf-copy")
    shelf.catalog()
    library_of_then = _Stale(shelf)
    (folder / "SKILL.md").unlink()
    report = report_on(library_of_then)
    assert (len(report.skills), report.unread, told(report)) == (1, 1, [])


class _Stale:
    """A library whose listing is older than its files."""

    def __init__(self, library):
        self.label, self.read, self.bundle = library.label, library.read, library.bundle
        self._catalog = library.catalog()

    def catalog(self):
        return self._catalog


def test_what_is_like_one_skill_is_found_by_name_or_path(put, library, tmp_path):
    folder = put("a/pdf")
    put("a/pdf-2", body=f"{TEXT} and more")
    put("a/unlike", body="Something else entirely. " * 20)
    for wanted in ("pdf", "PDF", str(folder), str(folder / "SKILL.md"), f"{tmp_path}/a/../a/pdf/"):
        matches = similar_to(library("a"), wanted)
        assert [(entry.id, likeness.kind) for entry, likeness in matches.found] == [("pdf-2", Kind.NEAR)]
        assert matches.compared == 2


def test_a_skill_from_elsewhere_is_compared_with_all(put, library, tmp_path):
    put("a/pdf")
    outside = put("outside/acrobat", name="acrobat")
    matches = similar_to(library("a"), str(outside))
    ((entry, likeness),) = matches.found
    assert (entry.id, likeness.kind, likeness.differs, matches.compared) == ("pdf", Kind.EXACT, ("name",), 1)
    assert matches.commands(entry, likeness) == ()


def test_an_id_comes_before_a_file_of_that_name(put, library, tmp_path, monkeypatch):
    put("a/pdf")
    put("here/pdf", body="Something else entirely. " * 20)
    monkeypatch.chdir(tmp_path / "here")
    assert similar_to(library("a"), "pdf").folder == str(tmp_path / "a" / "pdf")
    assert similar_to(library("a"), "./pdf").folder == "./pdf"


def test_a_skill_that_is_nowhere_is_not_found(put, library):
    put("a/pdf")
    for wanted in ("pdff", "./pdff"):
        with pytest.raises(NotFoundError):
            similar_to(library("a"), wanted)


@pytest.mark.parametrize("threshold", [0.49, 1.01, -1, float("nan")])
def test_a_threshold_that_means_nothing_is_refused(put, library, threshold):
    put("a/pdf")
    with pytest.raises(InputError, match="threshold"):
        report_on(library("a"), threshold=threshold)


def test_a_report_says_how_many_of_each_kind_there_are(put, library):
    put("a/pdf")
    put("a/pdf-copy")
    document = report_on(library("a")).as_dict()
    assert document["summary"] == {"exact": 1, "near": 0, "same-name": 0, "template": 0}
    first, other = document["groups"][0]["skills"]
    assert (first["id"], first["differs"], other["id"], other["differs"]) == ("pdf", [], "pdf-copy", ["name"])
