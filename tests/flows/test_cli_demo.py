"""The demonstration, as a person runs it: a mess, the commands that fix it, and a clean home."""

import json
import os
from pathlib import Path

import pytest

from skillyard.app.demo_home import is_demo_yard
from skillyard.cli.main import main


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    """A home with one skill of its own, to see that the demonstration leaves it alone."""
    home = tmp_path / "mine"
    (home / ".claude/skills/precious").mkdir(parents=True)
    (home / ".claude/skills/precious/SKILL.md").write_text("---\nname: precious\ndescription: d\n---\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    # The later parts take longer, and have tests of their own.
    for part in ("_publish", "_play", "_learn"):
        monkeypatch.setattr(f"skillyard.cli.demo.{part}", lambda _sink, _home: [])
    return home


def tree(folder: Path) -> list[str]:
    return sorted(str(Path(root, name).relative_to(folder)) for root, _, names in os.walk(folder) for name in names)


def test_the_mess_is_found_and_put_right(capsys, own_home, tmp_path):
    before = tree(own_home)
    assert main(["demo", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {issue["code"] for issue in told["before"]["issues"]} >= {
        "broken",
        "conflict",
        "duplicate",
        "file-name",
        "link-dangling",
        "over-budget",
    }
    # What is left is worth knowing, and nothing to put right.
    assert {(issue["code"], issue["severity"]) for issue in told["after"]["issues"]} == {("duplicate", "info")}
    seen = {view["id"]: [entry["id"] for entry in view["skills"]] for view in told["after"]["agents"]}
    assert "invoice-check" in seen["claude-code"]
    assert "sql-review" in seen["cursor"]
    # Looking at what is wrong is a negative result; every command that changes something succeeds.
    looking = ("skillyard validate", "skillyard skill diff")
    for step in told["steps"]:
        assert step["exit_code"] == (1 if step["command"].startswith(looking) else 0), step
    assert told["search"]["found"][0] == "quarterly-sales-workbook"
    assert told["search"]["catalog"]["characters"] <= 8_000 < told["search"]["catalog"]["naive_characters"]
    assert tree(own_home) == before
    assert not list(tmp_path.glob("skillyard-demo-*"))


def test_it_is_shown_the_same_way_every_time_and_can_be_kept(capsys, tmp_path):
    assert main(["demo"]) == 0
    first = capsys.readouterr().out
    assert main(["demo", "--keep"]) == 0
    second = capsys.readouterr().out
    assert first.splitlines()[:-1] == second.splitlines()[:-1]
    assert "$ skillyard skill disable" in first
    assert "Nothing is wrong." in first
    assert "\nquarterly-sales-workbook " in first
    assert "characters" in first.split("The catalog for this request: ")[1]
    kept = list(tmp_path.glob("skillyard-demo-*"))
    assert len(kept) == 1
    assert str(kept[0]) in second


def test_its_browser_shows_a_yard_that_knows_nothing_of_this_machine(own_home, monkeypatch):
    served = []
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr(
        "skillyard.cli.serve.serve_yard",
        lambda _sink, settings, library, opened: served.append(
            (is_demo_yard(settings.home), [entry.name for entry in library.catalog().entries])
        ),
    )
    assert main(["demo"]) == 0
    assert served == [(True, [])]
