import pytest

from skillyard.errors import InputError, NotFoundError
from skillyard.server.mcp.skills_extension import read_directory


@pytest.fixture(autouse=True)
def _skill(folder):
    folder.add("pdf")
    for path in ("references/forms.md", "references/deep/er.md", "run.sh", "extra"):
        folder.write("pdf", path, b"text")


def children(source, uri):
    resources = read_directory(source, uri, None)["resources"]
    return [(each["uri"].removeprefix("skill://"), each["name"], each["mimeType"]) for each in resources]


def test_a_folder_lists_its_files_and_the_folders_below_it(source):
    assert children(source, "skill://pdf") == [
        ("pdf/SKILL.md", "SKILL.md", "text/markdown"),
        ("pdf/extra", "extra", "application/octet-stream"),
        ("pdf/references", "references", "inode/directory"),
        ("pdf/run.sh", "run.sh", "text/x-shellscript"),
    ]
    assert children(source, "skill://pdf/references") == [
        ("pdf/references/deep", "deep", "inode/directory"),
        ("pdf/references/forms.md", "forms.md", "text/markdown"),
    ]


def test_a_slash_at_the_end_of_a_folder_changes_nothing(source):
    assert children(source, "skill://pdf/references/") == children(source, "skill://pdf/references")
    assert children(source, "skill://pdf/") == children(source, "skill://pdf")


def test_a_file_is_no_folder(source):
    with pytest.raises(InputError, match="is a file"):
        children(source, "skill://pdf/SKILL.md")


@pytest.mark.parametrize(
    "uri", ["skill://pdf/nothing", "skill://nothing", "skill://pdf//", "skill://", "skill://pdf/ref", "file:///"]
)
def test_what_is_not_there_cannot_be_listed(source, uri):
    with pytest.raises(NotFoundError, match="nothing at"):
        children(source, uri)


def test_there_is_one_page(source):
    with pytest.raises(InputError, match="one page"):
        read_directory(source, "skill://pdf", "more")
