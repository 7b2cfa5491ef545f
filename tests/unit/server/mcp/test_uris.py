import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.agents.source import Found
from skillyard.server.mcp.uris import file_uri, places, skill_ids_in, skill_uri
from skillyard.skill.library import SkillEntry


class Skills:
    """A source that has nothing but ids; like the real ones it also finds by name."""

    def __init__(self, *skills):
        self.skills = skills

    def find(self, name):
        by_id = next((skill for skill in self.skills if skill.id == name), None)
        return by_id or next((skill for skill in self.skills if skill.name == name), None)


def skill(skill_id, name=None):
    name = name or skill_id.rpartition("/")[2]
    return Found(entry=SkillEntry(id=skill_id, name=name, description="d", location="l", source="s"))


def found(source, uri):
    return [(place.skill.id, place.path) for place in places(source, uri)]


def test_a_skill_is_addressed_by_its_id():
    assert file_uri(skill("pdf")) == "skill://pdf/SKILL.md"
    assert file_uri(skill("acme/pdf"), "references/a b.md") == "skill://acme/pdf/references/a%20b.md"


def test_the_last_part_of_an_address_is_the_name_even_where_the_folder_has_another():
    odd = skill("My Folder", "pdf")
    assert skill_uri(odd) == "skill://~My%20Folder/pdf"
    assert found(Skills(odd), "skill://~My%20Folder/pdf/SKILL.md") == [("My Folder", "SKILL.md")]
    assert found(Skills(odd), "skill://~My%20Folder/other/SKILL.md") == []
    assert found(Skills(odd), "skill://pdf/SKILL.md") == []


def test_a_skill_whose_folder_looks_like_an_address_of_a_renamed_one_is_found_by_its_own():
    odd = skill("~pdf")
    assert skill_uri(odd) == "skill://~~pdf/~pdf"
    assert found(Skills(odd, skill("pdf")), file_uri(odd)) == [("~pdf", "SKILL.md")]
    assert skill_ids_in(file_uri(odd)) == {"~pdf"}


def test_an_address_never_means_a_skill_that_only_shares_the_name():
    assert found(Skills(skill("bob/pdf")), "skill://pdf/SKILL.md") == []


def test_a_longer_path_cannot_stand_in_for_the_files_of_a_shorter_one():
    source = Skills(skill("pdf"), skill("pdf/scripts"))
    assert found(source, "skill://pdf/scripts/run.py") == [("pdf", "scripts/run.py"), ("pdf/scripts", "run.py")]


@pytest.mark.parametrize(
    "uri",
    [
        *("", "pdf", "file:///etc/passwd", "skill://", "skill:///pdf/SKILL.md", "skill://pdf/../pdf/SKILL.md"),
        *("skill://pdf/%2e%2e/x", "skill://pdf/a%2Fb", "skill://pdf/%00", "skill://pdf//SKILL.md", "skill://pdf/"),
    ],
)
def test_what_is_no_address_of_a_skill_leads_nowhere(uri):
    assert found(Skills(skill("pdf")), uri) == []


@given(
    st.lists(
        st.text(min_size=1).filter(lambda part: part not in {".", ".."} and not set(part) & {"/", "\0"}), min_size=1
    )
)
def test_every_path_comes_back_from_its_address(parts):
    path = "/".join(parts).encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    pdf = skill("pdf")
    assert found(Skills(pdf), file_uri(pdf, path)) == [("pdf", path)]
