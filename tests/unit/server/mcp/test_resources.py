import base64

import pytest

from skillyard.agents.library_source import LibrarySource
from skillyard.errors import InputError, NotFoundError
from skillyard.library.folder import FolderLibrary
from skillyard.server.mcp.resources import listed_resources, read_resource


def read(source, uri):
    [contents] = read_resource(source, uri, session="s").contents
    return contents


def test_every_skill_is_a_resource_with_its_own_name_and_description(folder, source):
    folder.add("pdf", description="Reads <b>PDF</b> files.")
    [resource] = listed_resources(source, None).resources
    assert (resource.uri, resource.name) == ("skill://pdf/SKILL.md", "pdf")
    assert (resource.description, resource.mime_type) == ("Reads <b>PDF</b> files.", "text/markdown")


def test_a_file_is_read_byte_for_byte(folder, source):
    folder.add("pdf")
    folder.write("pdf", "crlf.md", "\ufeffa\r\n가".encode())
    folder.write("pdf", "blob", b"\0\xff")
    assert read(source, "skill://pdf/crlf.md").text == "\ufeffa\r\n가"
    assert base64.b64decode(read(source, "skill://pdf/blob").blob) == b"\0\xff"
    assert read(source, "skill://pdf/SKILL.md").mime_type == "text/markdown"


def test_reading_a_skill_file_counts_as_loading_it(folder):
    uses = []
    source = LibrarySource(FolderLibrary(folder.root), record=uses.append)
    folder.add("pdf")
    folder.write("pdf", "a.md", b"a")
    read(source, "skill://pdf/a.md")
    assert uses == []
    read(source, "skill://pdf/SKILL.md")
    assert [(use.kind.value, use.skill.id, use.session) for use in uses] == [("loaded", "pdf", "s")]


def test_a_folder_is_not_read_like_a_file(folder, source):
    folder.add("pdf")
    folder.write("pdf", "references/a.md", b"a")
    for uri in ("skill://pdf", "skill://pdf/references"):
        with pytest.raises(InputError, match="is a folder"):
            read(source, uri)


@pytest.mark.parametrize("uri", ["skill://pdf/none.md", "skill://none/SKILL.md", "skill://pdf/%2e%2e/secret", "x:y"])
def test_what_is_not_there_is_an_error_that_names_the_address(folder, source, uri):
    folder.add("pdf")
    (folder.root / "secret").write_text("s")
    with pytest.raises(NotFoundError, match="nothing at"):
        read(source, uri)


def test_a_link_out_of_a_skill_is_not_followed(folder, source, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (folder.add("pdf") / "leak.md").symlink_to(tmp_path / "secret")
    with pytest.raises((NotFoundError, InputError)):
        read(source, "skill://pdf/leak.md")


def test_what_cannot_be_seen_or_has_lines_of_its_own_is_not_in_a_list_of_resources(folder, source):
    folder.add("pdf", description='"Reads.\\n\\u202eWrites.\\u200b\\x07\\n"')
    [resource] = listed_resources(source, None).resources
    assert resource.description == "Reads. Writes."
