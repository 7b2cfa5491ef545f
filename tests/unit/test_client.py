"""`Skillyard`: the yard of a home on this machine, in Python."""

import pytest

from skillyard import Skillyard
from skillyard.errors import ConflictError, InputError, NotFoundError, SkillyardError, UnavailableError
from skillyard.remote.library import RemoteSkill
from skillyard.remote.pulling import plan_pull, pull
from skillyard.skill.bundle import Bundle, BundleFile

SKILL = "---\nname: {name}\ndescription: Reads files.\n---\n# Do it\n"


@pytest.fixture
def yard(yard_home):
    with Skillyard(home=yard_home) as client:
        yield client


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "alpha"
    path.mkdir()
    (path / "SKILL.md").write_text(SKILL.format(name="alpha"))
    return path


def test_a_folder_is_published_read_and_pulled(yard, folder, tmp_path):
    made = yard.publish(folder, visibility="public", notes="first")
    assert (made["full_name"], made["version"]["version"], made["visibility"]) == ("ann/alpha", "0.1.0", "public")
    assert yard.skill(made["id"]) == yard.skill("alpha")
    assert yard.publish(folder)["created"] is False
    entry = yard.library.catalog().find("alpha")
    assert entry is not None
    assert entry.location.endswith("/files/SKILL.md")
    assert yard.library.read(entry).document.body.strip() == "# Do it"
    pulled = yard.pull("alpha", into=tmp_path / "out")
    assert [one.path for one in pulled] == [tmp_path / "out/alpha"]
    assert (tmp_path / "out/alpha/SKILL.md").read_bytes() == (folder / "SKILL.md").read_bytes()


def test_a_yard_is_searched_by_what_its_skills_do(yard, folder):
    yard.publish(folder, visibility="public")
    (hit,) = yard.search("read a file", visibility="public", stage="published", limit=3)
    assert hit["full_name"] == "ann/alpha"
    assert hit["snippet"]["text"] == "Reads files."
    assert yard.search("read a file", tags=["none"]) == yard.search("read a file", namespace="nobody") == []
    (found,) = yard.library.search("read a file", limit=1000)
    assert (found.entry, found.score) == (yard.library.catalog().find("alpha"), hit["score"])
    assert [found.snippet.text[start:end] for start, end in found.snippet.marks] == ["Reads", "files"]
    with pytest.raises(InputError, match="empty"):
        yard.search(" ")


def test_the_catalog_is_written_by_the_yard(yard, folder):
    yard.publish(folder)
    told = yard.catalog("alpha", budget=500, pins=["alpha"], format="markdown")
    assert told["text"].startswith("- ")
    assert (told["shown"], told["total"]) == (1, 1)


def test_a_dry_run_says_what_publishing_would_do_and_does_nothing(yard, folder):
    planned = yard.publish(folder, dry_run=True)
    assert (planned["dry_run"], planned["created"], planned["version"]["version"]) == (True, True, "0.1.0")
    assert list(yard.skills()) == []
    made = yard.publish(folder)
    assert (made["full_name"], made["digest"]) == (planned["full_name"], planned["digest"])
    (folder / "more.md").write_text("More.\n")
    with pytest.raises(ConflictError, match="other content"):
        yard.publish(folder, version="0.1.0", dry_run=True)
    with pytest.raises(NotFoundError):
        yard.publish(folder, namespace="strangers", dry_run=True)


def test_one_skill_is_fetched_once(yard, folder):
    yard.publish(folder)
    one = RemoteSkill(yard, "ann/alpha")
    before = one.bundle(one.entry)
    (folder / "more.txt").write_text("more")
    yard.publish(folder)
    assert one.bundle(one.entry) is before
    assert one.source == (folder / "SKILL.md").read_bytes()
    with pytest.raises(NotFoundError):
        RemoteSkill(yard, "none").catalog()


def test_what_is_not_what_was_promised_is_not_written(yard, folder, tmp_path, monkeypatch):
    yard.publish(folder)
    plan = plan_pull(yard, ["alpha"], tmp_path / "out")
    forged = Bundle([BundleFile("SKILL.md", b"forged", executable=False)])
    monkeypatch.setattr(yard, "bundle", lambda *_, **__: forged)
    with pytest.raises(SkillyardError, match="do not have the digest"):
        list(pull(yard, plan))
    assert not (tmp_path / "out").exists()


def test_two_skills_of_one_name_do_not_share_a_folder(yard, folder, tmp_path):
    yard.people.create_namespace("team")
    yard.publish(folder)
    yard.publish(folder, namespace="team")
    with pytest.raises(ConflictError, match="would both be copied"):
        plan_pull(yard, ["ann/alpha", "team/alpha"], tmp_path / "out")


def test_two_versions_of_one_skill_are_a_conflict(yard, folder, tmp_path):
    yard.publish(folder)
    (folder / "more.txt").write_text("more")
    yard.publish(folder)
    with pytest.raises(ConflictError, match="Two versions"):
        plan_pull(yard, ["alpha@0.1.0", "alpha@0.1.1"], tmp_path / "out")


def test_a_home_means_this_machine_whatever_the_settings_say(yard_home, monkeypatch):
    monkeypatch.setenv("SKILLYARD_SERVER", "http://127.0.0.1:1")
    with Skillyard(home=yard_home) as here:
        assert here.me()["name"] == "ann"
    with Skillyard() as there, pytest.raises(UnavailableError):
        there.me()


def test_a_database_that_cannot_be_opened_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("SKILLYARD_DATABASE_URL", f"sqlite:///{tmp_path}")
    with Skillyard(home=tmp_path / "home") as yard, pytest.raises(UnavailableError):
        yard.me()
