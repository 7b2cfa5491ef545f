import pytest

from skillyard.skill.folder_names import folder_name, folder_problem, id_in_folder
from skillyard.skill.names import is_valid_name

IMPOSSIBLE = [
    "", ".", "..", "con", "NUL", "aux.md", "x.", "x ", "a\\b", "a:b", "a*b", "a?b", "a|b", 'a"b', "a/b", ".hidden",
    ".git", "node_modules", "__pycache__", "-x", "--help", "skill@1", "tab\there", "zero\u200bwidth", "n" * 256,
]  # fmt: skip


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_a_name_that_some_disk_command_or_agent_cannot_use_has_a_problem_and_a_valid_alias(name):
    assert folder_problem(name)
    assert is_valid_name(folder_name(name))


@pytest.mark.parametrize("name", ["pdf", "Bad Name", "x--y", "tail-", "n" * 65, "서식-채우기", "😀", "a.b", "x_y"])
def test_any_other_name_is_its_own_folder(name):
    assert not folder_problem(name)
    assert folder_name(name) == name


def test_no_two_names_share_an_alias():
    assert len({folder_name(name) for name in IMPOSSIBLE}) == len(IMPOSSIBLE)


@pytest.mark.parametrize(
    ("name", "folder", "expected"),
    [
        ("skill-a", "other", "skill-a"),
        ("Skill A Name", "skill-a", "skill-a"),
        ("Skill A Name", ".git", "skill-a-name"),
        ("a:b", "a:b", "a-b"),
        ("", "con", "con-skill"),
    ],
)
def test_a_displayed_name_leaves_the_folder_as_the_id(name, folder, expected):
    assert id_in_folder(name, folder) == expected
