from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import ConflictError, InputError
from skillyard.library import switches as switches_module
from skillyard.library.folder import FolderLibrary
from skillyard.library.switches import (
    Off,
    Switches,
    SwitchesFile,
    WithSwitches,
    load_switches,
    save_switches,
    switched_off,
    switches_file,
)
from skillyard.skill.library import Catalog, Shadowed, SkillEntry

ROOT = Path("/srv/skills")
CATALOG = Catalog(
    entries=[
        SkillEntry("draw", "draw", "Draws.", "/srv/skills/draw/SKILL.md", "srv"),
        SkillEntry("pdf", "pdf", "Reads.", "/srv/skills/pdf/SKILL.md", "srv"),
    ]
)


def ids(switches: Switches, root: Path | None = None) -> list[str]:
    return [entry.id for entry in switches.apply(CATALOG, root=root).catalog.entries]


def test_a_skill_that_is_off_everywhere_is_in_no_catalog():
    switches = Switches().disable("pdf")
    assert ids(switches) == ids(switches, root=ROOT) == ["draw"]
    assert switches.find("pdf", agent="codex") == Off("pdf")


def test_a_switch_for_a_root_or_an_agent_reaches_no_further():
    switches = Switches().disable("pdf", root=ROOT).disable("draw", agent="codex")
    assert ids(switches, root=ROOT) == ["draw"]
    assert ids(switches, root=Path("/other")) == ["draw", "pdf"]
    assert switches.find("draw", agent="codex") == Off("draw", agent="codex")
    assert switches.find("draw", agent="cursor") is None


def test_what_is_off_is_told_and_never_lost():
    switched = Switches().disable("PDF", root=ROOT).apply(CATALOG, root=ROOT)
    assert [(item.entry.id, item.by) for item in switched.disabled] == [("pdf", Off("PDF", str(ROOT)))]


def test_turning_on_takes_back_turning_off():
    assert Switches().disable("pdf", agent="codex").enable("Pdf", agent="codex") == Switches()


def test_turning_on_everywhere_turns_on_in_every_place():
    switches = Switches().disable("pdf").disable("pdf", agent="codex").disable("pdf", root=ROOT).disable("draw")
    assert switches.enable("pdf").off == (Off("draw"),)


def test_one_place_cannot_be_on_while_everywhere_is_off():
    with pytest.raises(ConflictError) as caught:
        Switches().disable("pdf").enable("pdf", agent="codex")
    assert caught.value.hint.endswith("skillyard skill enable pdf")


def test_a_root_and_an_agent_at_once_are_refused():
    with pytest.raises(InputError, match="for a root and an agent at once"):
        Switches().disable("pdf", root=ROOT, agent="codex")


@pytest.mark.parametrize(
    ("off", "where", "undo"),
    [
        (Off("pdf"), "everywhere", "skillyard skill enable pdf"),
        (Off("pdf", root="/a b"), "in /a b", "skillyard skill enable pdf --root '/a b'"),
        (Off("pdf", agent="codex"), "for codex", "skillyard skill enable pdf -a codex"),
    ],
)
def test_a_switch_says_where_it_counts_and_how_it_is_undone(off: Off, where: str, undo: str):
    assert (off.where, off.undo) == (where, undo)


@given(st.lists(st.builds(Off, st.text(min_size=1), st.text(), st.text())))
def test_switches_survive_being_written(tmp_path: Path, rows: list[Off]):
    # TOML has no lone surrogates, and no file name made of text has them either.
    rows = [row for row in rows if not any("\ud800" <= char <= "\udfff" for char in "".join(row))]
    switches = Switches(off=tuple(sorted(set(rows))))
    save_switches(tmp_path, switches)
    assert load_switches(tmp_path) == switches


def test_without_a_file_everything_is_on(tmp_path: Path):
    assert load_switches(tmp_path) == Switches()


def test_an_entry_without_a_skill_is_named(tmp_path: Path):
    switches_file(tmp_path).write_text('[[off]]\nagent = "codex"\n')
    with pytest.raises(InputError, match="without a skill") as caught:
        load_switches(tmp_path)
    assert caught.value.details["file"] == str(switches_file(tmp_path))


def test_a_relative_root_means_the_folder_it_is_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    switches = Switches().disable("pdf", root=Path("skills"))
    assert switches.find("pdf", root=tmp_path / "skills") is not None


def test_a_library_with_switches_lists_only_what_is_on(tmp_path: Path, write_skill):
    write_skill(tmp_path / "pdf")
    write_skill(tmp_path / "draw")
    library = WithSwitches(FolderLibrary(tmp_path, label="here"), Switches().disable("pdf"), root=tmp_path)
    (entry,) = library.catalog().entries
    assert (library.label, entry.id) == ("here", "draw")
    assert [item.entry.id for item in library.disabled] == ["pdf"]
    assert library.read(entry).document.name == "draw"
    assert library.bundle(entry).get("SKILL.md") is not None


@pytest.mark.parametrize("wanted", ["pdf", "PDF"])
def test_asking_for_a_skill_that_is_off_is_answered_with_how_to_turn_it_on(wanted: str):
    disabled = Switches().disable("pdf").apply(CATALOG).disabled
    error = switched_off(wanted, disabled)
    assert error is not None
    assert (error.message, error.hint) == (
        "The skill 'pdf' is switched off everywhere.",
        "Turn it on: skillyard skill enable pdf",
    )
    assert switched_off("draw", disabled) is None


def test_what_is_off_is_not_reported_as_shadowed_either():
    hidden = Shadowed(CATALOG.entries[1]._replace(location="/srv/skills/deep/pdf/SKILL.md"), CATALOG.entries[1])
    switched = Switches().disable("pdf").apply(Catalog(entries=CATALOG.entries, shadowed=[hidden]))
    assert list(switched.catalog.shadowed) == []


def test_switches_that_change_later_are_seen(tmp_path: Path, write_skill):
    write_skill(tmp_path / "skills" / "pdf")
    library = WithSwitches(FolderLibrary(tmp_path / "skills"), SwitchesFile(tmp_path / "config"))
    assert [entry.id for entry in library.catalog().entries] == ["pdf"]
    save_switches(tmp_path / "config", Switches().disable("pdf"))
    assert list(library.catalog().entries) == []
    save_switches(tmp_path / "config", Switches())
    assert [entry.id for entry in library.catalog().entries] == ["pdf"]


def test_a_settled_file_of_switches_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(switches_module, "YOUNG_NS", -(10**18))
    save_switches(tmp_path, Switches().disable("pdf"))
    file = SwitchesFile(tmp_path)
    before = file.current()
    monkeypatch.setattr(switches_module, "load_switches", None)
    assert file.current() is before


def test_a_young_file_of_switches_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    save_switches(tmp_path, Switches().disable("pdf"))
    # As if the clock of the disk were too coarse to tell the two apart.
    monkeypatch.setattr(switches_module, "_stamp", lambda path: (2**62, 1, 1))
    file = SwitchesFile(tmp_path)
    assert file.current() == Switches().disable("pdf")
    save_switches(tmp_path, Switches().disable("pdg"))
    assert file.current() == Switches().disable("pdg")
