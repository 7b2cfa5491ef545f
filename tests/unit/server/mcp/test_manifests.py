import hashlib

import pytest

from skillyard.errors import LimitError, NotFoundError
from skillyard.server.mcp import manifests as module
from skillyard.server.mcp.manifests import Manifests, manifest_of
from skillyard.server.mcp.skills_extension import get_skill, list_skills


def listed(source, manifests=None):
    return list_skills(source, manifests or Manifests(source), None)["skills"]


def test_an_entry_names_every_file_with_its_digest_and_size(folder, source):
    folder.add("pdf", fields="license: MIT\nmetadata:\n  version: 1.10\n")
    folder.write("pdf", "scripts/run it.py", b"print()\n")
    folder.write("pdf", "data.bin", b"\0\xff")
    [entry] = listed(source)
    text = (folder.root / "pdf/SKILL.md").read_bytes()
    assert entry["uri"] == "skill://pdf/SKILL.md"
    assert entry["frontmatter"] == {
        "name": "pdf",
        "description": "Does pdf.",
        "license": "MIT",
        "metadata": {"version": 1.1},
    }
    assert entry["resources"] == [
        {"uri": f"skill://pdf/{path}", "digest": f"sha256:{hashlib.sha256(data).hexdigest()}", "size": len(data)}
        for path, data in [("SKILL.md", text), ("data.bin", b"\0\xff"), ("scripts/run%20it.py", b"print()\n")]
    ]
    assert get_skill(source, entry["uri"])["skill"] == entry


def test_a_changed_file_shows_in_the_next_list_though_the_skill_file_is_the_same(folder, source):
    folder.add("pdf")
    folder.write("pdf", "notes.md", b"one")
    manifests = Manifests(source)
    before = listed(source, manifests)
    assert listed(source, manifests) == before
    folder.write("pdf", "notes.md", b"two")
    [after] = listed(source, manifests)
    assert after["resources"][1]["digest"] == f"sha256:{hashlib.sha256(b'two').hexdigest()}"


def test_what_did_not_change_is_not_read_again(folder, source, monkeypatch):
    folder.add("pdf")
    manifests = Manifests(source)
    before = listed(source, manifests)
    monkeypatch.setattr(module, "manifest_of", None)
    assert listed(source, manifests) == before


def test_a_lower_case_skill_file_is_served_under_its_one_name(folder, source):
    (folder.add("pdf") / "SKILL.md").rename(folder.root / "pdf/skill.md")
    [entry] = listed(source)
    assert [file["uri"] for file in entry["resources"]] == ["skill://pdf/SKILL.md"]


@pytest.mark.parametrize("name", ["PDF Tools", "pdf--tools", "123", "true"])
def test_a_skill_whose_name_hosts_would_refuse_is_not_listed_and_its_neighbours_are(folder, source, name):
    folder.add("odd", name=name)
    folder.add("pdf")
    listed_names = [entry["frontmatter"]["name"] for entry in listed(source)]
    # A number is a fine name of a folder, but in YAML it is no text.
    assert listed_names == ["pdf"]
    with pytest.raises(NotFoundError, match="name and description"):
        manifest_of(source, source.find("odd"))


@pytest.mark.parametrize("data", [b"Reads: all of it.", b"Caf\xe9."])
def test_a_skill_whose_frontmatter_had_to_be_put_right_is_not_listed_for_hosts_would_read_another(folder, source, data):
    folder.add("odd")
    folder.write("odd", "SKILL.md", b"---\nname: odd\ndescription: " + data + b"\n---\n# odd\n")
    folder.add("pdf")
    assert source.find("odd") is not None
    assert [entry["frontmatter"]["name"] for entry in listed(source)] == ["pdf"]
    with pytest.raises(NotFoundError, match="frontmatter"):
        manifest_of(source, source.find("odd"))


def test_a_name_in_any_script_is_listed(folder, source):
    folder.add("문서-요약")
    [entry] = listed(source)
    assert entry["uri"].startswith("skill://%EB%AC%B8")
    assert get_skill(source, entry["uri"])["skill"] == entry


def test_a_name_other_than_that_of_the_folder_is_listed_under_both(folder, source):
    folder.add("tools", name="pdf")
    [entry] = listed(source)
    assert entry["uri"] == "skill://~tools/pdf/SKILL.md"


def test_a_skill_that_is_too_large_for_hosts_is_not_listed_and_says_why(folder, source, monkeypatch):
    monkeypatch.setattr(module, "MAX_FILES", 2)
    folder.add("many")
    folder.write("many", "a.md", b"a")
    assert len(listed(source)) == 1
    folder.write("many", "b.md", b"b")
    assert listed(source) == []
    with pytest.raises(LimitError, match="3 files"):
        manifest_of(source, source.find("many"))
    monkeypatch.setattr(module, "MAX_FILES", 512)
    monkeypatch.setattr(module, "MAX_BYTES", 10)
    with pytest.raises(LimitError, match="bytes"):
        manifest_of(source, source.find("many"))


def test_the_limits_are_those_of_the_extension():
    assert (module.MAX_FILES, module.MAX_BYTES) == (512, 16_777_216)


def test_a_list_goes_on_where_its_page_ended(folder, source):
    for number in range(101):
        folder.add(f"skill-{number:03}")
    manifests = Manifests(source)
    first = list_skills(source, manifests, None)
    last = list_skills(source, manifests, first["nextCursor"])
    assert len(first["skills"]) == 100
    assert [entry["frontmatter"]["name"] for entry in last["skills"]] == ["skill-100"]
    assert "nextCursor" not in last
