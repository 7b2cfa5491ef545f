import os
import time
from pathlib import Path

import pytest

from skillyard.errors import InputError, NotAllowedError, NotFoundError
from skillyard.library import folder
from skillyard.library.disk import read_folder
from skillyard.library.folder import FolderLibrary
from skillyard.library.manager import SkillsManager
from skillyard.library.switches import Switches, save_switches
from skillyard.skill.library import SkillEntry
from skillyard.skill.models import Parsed


@pytest.fixture
def root(tmp_path: Path, write_skill, config_dir) -> Path:
    root = tmp_path / "documents" / "skills"
    write_skill(root / "file-diff", description="Compares two files line by line.")
    write_skill(root / "invoice", description="从扫描件中识别发票金额。Reads invoices.")
    for path, text in {
        "references/SPEC.md": "# Spec\n",
        "references/v1..v2.md": "changes\n",
        "references/sub/deep.md": "deep\n",
        "assets/template.md": "Dear {name}\n",
        "scripts/compare.py": "print('same')\n",
        "scripts/__pycache__/compare.pyc": "junk",
        "secret.txt": "secret\n",
    }.items():
        file = root / "file-diff" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


@pytest.fixture
def manager(root: Path) -> SkillsManager:
    return SkillsManager(root, errors="raise")


def test_skills_are_listed_by_the_names_of_their_folders(manager: SkillsManager):
    assert manager.list_skills() == ["file-diff", "invoice"]


def test_a_root_that_is_not_there_has_no_skills(tmp_path: Path, config_dir):
    manager = SkillsManager(tmp_path / "none", errors="raise")
    assert manager.list_skills() == []
    assert manager.search_skills("anything") == []
    with pytest.raises(NotFoundError, match="There is no skill 'x'"):
        manager.get_skill_content("x")


@pytest.mark.parametrize("name", ["file-diff", "File-Diff", " file-diff "])
def test_the_whole_file_is_read_whatever_the_case_of_the_name(manager: SkillsManager, name: str):
    content = manager.get_skill_content(name)
    assert content.startswith("---\nname: file-diff\n")
    assert content.endswith("Do it.\n")


def test_the_catalog_for_a_prompt_keeps_its_budget_and_starts_with_what_fits(
    manager: SkillsManager, root: Path, write_skill
):
    for number in range(20):
        write_skill(root / f"chapter-{number:02}", description="A chapter of the handbook. " * 10)
    catalog = manager.catalog("which lines of the two files differ", 900)
    assert len(catalog.text) <= 900
    assert next(iter(catalog.shown)) == "file-diff"
    assert catalog.total == 22
    pinned = manager.catalog(budget=900, pins=["invoice"], format="markdown")
    assert pinned.text.startswith("- invoice: ")
    with pytest.raises(InputError, match="html"):
        manager.catalog(format="html")


def test_a_skill_added_later_is_seen(manager: SkillsManager, root: Path, write_skill):
    assert manager.search_skills("letters") == []
    write_skill(root / "post", description="Writes letters.")
    assert manager.list_skills() == ["file-diff", "invoice", "post"]
    assert manager.search_skills("letters") == [{"name": "post", "description": "Writes letters."}]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("compare files", ["file-diff"]),
        ("识别发票", ["invoice"]),
        ("file-dif", ["file-diff"]),
        ("comapre flies", ["file-diff"]),
        ("bake bread", []),
        ("", ["file-diff", "invoice"]),
    ],
)
def test_search_finds_what_fits_and_nothing_else(manager: SkillsManager, query: str, names: list[str]):
    assert [found["name"] for found in manager.search_skills(query)] == names


def test_search_gives_at_most_n(manager: SkillsManager):
    assert len(manager.search_skills("reads files or invoices", n=1)) == 1
    assert len(manager.search_skills("", n=1)) == 1
    assert manager.search_skills("files", n=0) == manager.search_skills("", n=-1) == []


def test_search_finds_what_only_the_instructions_say_after_what_a_skill_says_it_is_for(
    manager: SkillsManager, root: Path, write_skill
):
    write_skill(root / "aardvark", description="Feeds an aardvark.")
    write_skill(root / "zoo", description="Keeps the animals.", body="Wash the aardvark. " * 30)
    assert [found["name"] for found in manager.search_skills("aardvark")] == ["aardvark", "zoo"]


def test_what_is_not_there_or_not_allowed_is_answered_in_words(root: Path, write_skill):
    write_skill(root / "broken", text="---\nname: broken\n---\nNo description.\n")
    manager = SkillsManager(root)
    assert manager.get_skill_content("nonexistent").startswith("Not found: There is no skill 'nonexistent' in ")
    assert manager.get_skill_asset("nonexistent", "references/SPEC.md").startswith("Not found: There is no skill")
    assert manager.get_skill_asset("file-diff", "references/NONE.md").startswith("Not found: ")
    assert manager.get_skill_asset("file-diff", "../invoice/SKILL.md").startswith("Invalid: ")
    assert manager.get_skill_script_path("file-diff", "none.py").startswith("Not found: ")
    assert "compare.py" in manager.get_skill_script_path("file-diff", "none.py")
    assert manager.get_skill_script_path("file-diff", "../secret.txt").startswith("Invalid: ")
    assert manager.get_skill_content("broken").startswith("Invalid: 'broken' cannot be used as a skill: ")
    assert manager.list_skill_assets("nonexistent") == []


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The skill files that were read to be indexed."""
    read: list[str] = []
    before = FolderLibrary.read

    def counted(self: FolderLibrary, entry: SkillEntry) -> Parsed:
        read.append(entry.id)
        return before(self, entry)

    monkeypatch.setattr(FolderLibrary, "read", counted)
    return read


def test_another_process_opens_and_searches_an_unchanged_folder_without_reading_its_skills(
    root: Path, tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SKILLYARD_HOME", str(tmp_path / "home"))
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 60_000_000_000)  # what was just written counts as old
    first = SkillsManager(root)
    assert first.search_skills("发票") == SkillsManager(root).search_skills("发票") != []
    assert sorted(reads) == ["file-diff", "invoice"]
    monkeypatch.setattr(folder, "summarize", lambda *_args, **_more: pytest.fail("a skill file was read again"))
    assert SkillsManager(root).list_skills() == ["file-diff", "invoice"]


def test_a_home_that_cannot_be_written_to_only_has_no_index(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SKILLYARD_HOME", str(tmp_path / "file" / "home"))
    manager = SkillsManager(root)
    assert manager.list_skills() == ["file-diff", "invoice"]
    assert [found["name"] for found in manager.search_skills("发票")] == ["invoice"]


def test_an_unknown_skill_names_those_near_it(manager: SkillsManager):
    with pytest.raises(NotFoundError) as caught:
        manager.get_skill_content("file-dif")
    assert caught.value.hint == "Did you mean 'file-diff'?"
    with pytest.raises(NotFoundError) as caught:
        manager.get_skill_content("qqqqqq")
    assert "file-diff, invoice" in caught.value.hint


def test_an_invalid_skill_is_not_listed_and_asking_for_it_explains_why(manager, root: Path, write_skill):
    write_skill(root / "broken", text="---\nname: broken\n---\nNo description.\n")
    assert "broken" not in manager.list_skills()
    with pytest.raises(InputError, match="'broken' cannot be used as a skill: There is no description") as caught:
        manager.get_skill_content("Broken")
    assert "description:" in caught.value.hint
    (finding,) = caught.value.details["findings"]
    assert finding["code"] == "description-missing"


def test_a_skill_that_is_switched_off_is_not_listed_and_says_so(root: Path, config_dir: Path):
    save_switches(config_dir, Switches().disable("invoice", root=root))
    manager = SkillsManager(root, errors="raise")
    assert manager.list_skills() == ["file-diff"]
    assert manager.search_skills("发票") == []
    with pytest.raises(NotFoundError, match="'invoice' is switched off in") as caught:
        manager.get_skill_content("invoice")
    assert "skillyard skill enable invoice --root" in caught.value.hint
    assert SkillsManager(root, switches=Switches()).list_skills() == ["file-diff", "invoice"]


def test_a_skill_switched_off_later_is_gone_at_once(manager: SkillsManager, config_dir: Path):
    assert [found["name"] for found in manager.search_skills("发票")] == ["invoice"]
    save_switches(config_dir, Switches().disable("invoice"))
    assert manager.list_skills() == ["file-diff"]
    assert manager.search_skills("发票") == []
    with pytest.raises(NotFoundError, match="'invoice' is switched off everywhere"):
        manager.get_skill_content("invoice")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("references/SPEC.md", "# Spec\n"),
        ("./references/SPEC.md", "# Spec\n"),
        ("references\\SPEC.md", "# Spec\n"),
        ("references/v1..v2.md", "changes\n"),
        ("references/sub/deep.md", "deep\n"),
        ("assets/template.md", "Dear {name}\n"),
        ("scripts/compare.py", "print('same')\n"),
    ],
)
def test_the_text_of_a_shared_file_is_read(manager: SkillsManager, path: str, text: str):
    assert manager.get_skill_asset("File-Diff", path) == text


@pytest.mark.parametrize(
    "path",
    [
        "secret.txt",
        "SKILL.md",
        "references/../secret.txt",
        "references/../../invoice/SKILL.md",
        "..\\invoice\\SKILL.md",
        "references\\..\\secret.txt",
        "/etc/passwd",
        "//etc/passwd",
        "C:\\windows\\system.ini",
        "references//SPEC.md",
        "references/SPEC.md\0.txt",
        "references/\uff0e\uff0e/secret.txt",
        "References/SPEC.md",
        "",
        ".",
        "..",
        "x" * 5000,
    ],
)
def test_a_path_to_anything_else_is_refused(manager: SkillsManager, path: str):
    with pytest.raises(NotAllowedError, match="file-diff"):
        manager.get_skill_asset("file-diff", path)


@pytest.mark.parametrize("target", ["/etc/passwd", "../secret.txt", "../../invoice/SKILL.md"])
def test_a_link_is_followed_only_within_the_skill(manager: SkillsManager, root: Path, target: str):
    link = root / "file-diff" / "references" / "link.md"
    link.symlink_to(target)
    if target == "../secret.txt":
        assert manager.get_skill_asset("file-diff", "references/link.md") == "secret\n"
        return
    with pytest.raises(NotAllowedError, match="leads out of the skill through a link"):
        manager.get_skill_asset("file-diff", "references/link.md")
    assert "references/link.md" not in manager.list_skill_assets("file-diff")


def test_a_folder_that_is_a_link_is_not_a_way_out(manager: SkillsManager, root: Path, tmp_path: Path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_text("outside")
    (root / "invoice" / "assets").symlink_to(tmp_path / "outside")
    with pytest.raises(NotAllowedError):
        manager.get_skill_asset("invoice", "assets/a.md")
    assert manager.list_skill_assets("invoice") == []


def test_a_missing_file_names_the_nearest(manager: SkillsManager):
    with pytest.raises(NotFoundError) as caught:
        manager.get_skill_asset("file-diff", "references/SPECS.md")
    assert caught.value.hint == "Did you mean 'references/SPEC.md'?"
    with pytest.raises(NotFoundError) as caught:
        manager.get_skill_asset("invoice", "references/x.md")
    assert caught.value.hint == "It has no files beside SKILL.md."


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\x00\x00", b"\xff\xfe\xfd", b"text\0more"])
def test_a_file_that_is_no_text_says_where_it_is(manager: SkillsManager, root: Path, data: bytes):
    path = root / "file-diff" / "assets" / "logo.png"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"logo.png' of the skill 'file-diff' is not a text") as caught:
        manager.get_skill_asset("file-diff", "assets/logo.png")
    assert caught.value.details["path"] == str(path)


def test_a_text_in_utf_16_is_a_text(manager: SkillsManager, root: Path):
    (root / "file-diff" / "assets" / "a.txt").write_bytes("größe".encode("utf-16"))
    assert manager.get_skill_asset("file-diff", "assets/a.txt") == "größe"


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_not_read(manager: SkillsManager, root: Path, kind: str):
    path = root / "file-diff" / "assets" / "odd"
    path.mkdir() if kind == "folder" else os.mkfifo(path)
    with pytest.raises(NotFoundError):
        manager.get_skill_asset("file-diff", "assets/odd")


@pytest.mark.parametrize("name", ["compare.py", "./compare.py", "scripts/compare.py"])
def test_a_script_is_told_by_its_absolute_path(manager: SkillsManager, root: Path, name: str):
    assert manager.get_skill_script_path("File-Diff", name) == str(root / "file-diff" / "scripts" / "compare.py")


@pytest.mark.parametrize("name", ["../secret.txt", "/bin/sh", "..", "a/../../SKILL.md", "x\0"])
def test_a_script_outside_of_scripts_is_refused(manager: SkillsManager, name: str):
    with pytest.raises(NotAllowedError):
        manager.get_skill_script_path("file-diff", name)


def test_a_missing_script_is_not_found(manager: SkillsManager):
    with pytest.raises(NotFoundError, match=r"has no file 'scripts/missing.py'"):
        manager.get_skill_script_path("file-diff", "missing.py")


def test_shared_files_are_listed_without_leftovers(manager: SkillsManager):
    assert manager.list_skill_assets("file-diff") == [
        "assets/template.md",
        "references/SPEC.md",
        "references/sub/deep.md",
        "references/v1..v2.md",
        "scripts/compare.py",
    ]


@pytest.mark.parametrize("path", ["scripts/.git/config", "scripts/Node_Modules/x.js", "assets/._logo", "scripts/a.pyc"])
def test_what_is_no_part_of_a_skill_is_neither_listed_nor_handed_out(manager: SkillsManager, root: Path, path: str):
    file = root / "file-diff" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("x")
    link = root / "file-diff" / "references" / "link.md"
    link.symlink_to(file)
    assert len(manager.list_skill_assets("file-diff")) == 5
    for asked in (path, "references/link.md"):
        with pytest.raises(NotAllowedError, match="no part of the skill 'file-diff'"):
            manager.get_skill_asset("file-diff", asked)


def test_what_is_handed_out_is_what_a_bundle_holds(manager: SkillsManager, root: Path):
    bundle = read_folder(root / "file-diff").require()
    shared = [file.path for file in bundle if file.path.startswith(("references/", "assets/", "scripts/"))]
    assert manager.list_skill_assets("file-diff") == shared


def test_a_loop_of_links_is_listed_once(manager: SkillsManager, root: Path):
    (root / "file-diff" / "references" / "loop").symlink_to(root / "file-diff" / "references")
    assert len(manager.list_skill_assets("file-diff")) == 5


def test_a_new_root_gets_a_readme_that_is_no_skill(tmp_path: Path, config_dir):
    manager = SkillsManager(tmp_path / "new" / "skills")
    assert manager.ensure_root() == tmp_path / "new" / "skills"
    readme = tmp_path / "new" / "skills" / "README.md"
    assert "SKILL.md" in readme.read_text()
    assert manager.list_skills() == []
    readme.unlink()
    (tmp_path / "new" / "skills" / "mine").mkdir()
    manager.ensure_root()
    assert not readme.exists()


def test_the_root_comes_from_document_root(root: Path, config_dir, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DOCUMENT_ROOT", str(root.parent))
    monkeypatch.delenv("SKILLYARD_DOCUMENT_ROOT", raising=False)
    monkeypatch.chdir(root.parent)
    manager = SkillsManager()
    assert manager.skills_root == root
    assert manager.list_skills() == ["file-diff", "invoice"]


@pytest.fixture
def default_root(tmp_path: Path, config_dir, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("DOCUMENT_ROOT", raising=False)
    monkeypatch.delenv("SKILLYARD_DOCUMENT_ROOT", raising=False)
    monkeypatch.setenv("SKILLYARD_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home" / "skills"


def test_without_document_root_it_is_in_skillyards_home(default_root: Path):
    assert SkillsManager().skills_root == default_root


def test_the_default_root_is_made_on_first_use_with_a_readme(default_root: Path):
    assert SkillsManager().list_skills() == []
    assert "SKILL.md" in (default_root / "README.md").read_text()


def test_a_readme_that_was_deleted_beside_skills_does_not_come_back(default_root: Path, write_skill):
    write_skill(default_root / "mine")
    assert SkillsManager().list_skills() == ["mine"]
    assert not (default_root / "README.md").exists()


def test_a_root_that_was_named_is_not_made(tmp_path: Path, config_dir):
    assert SkillsManager(tmp_path / "none").list_skills() == []
    assert not (tmp_path / "none").exists()


def test_a_default_root_that_cannot_be_made_is_empty(default_root: Path):
    default_root.parent.write_text("a file in the way")
    assert SkillsManager().list_skills() == []
