"""Whatever a client asks for: it gets a file of a skill, or an error that says so, and never anything else."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import CompleteRequestParams, CompletionArgument, ResourceTemplateReference

from skillyard.agents.library_source import LibrarySource
from skillyard.errors import InputError, SkillyardError
from skillyard.library.folder import FolderLibrary
from skillyard.server.mcp.completions import completed
from skillyard.server.mcp.manifests import Manifests
from skillyard.server.mcp.resources import listed_resources, read_resource
from skillyard.server.mcp.skills_extension import get_skill, list_skills, read_directory
from skillyard.server.mcp.uris import TEMPLATE

SECRET = "the secret beside the skills"
MARKS = ("skill://", "~", "..", "%2e%2e", "/", "//", "\\", "%2F", "%5c", "%00", "\0", "?", "#", "@", ":80", "%", "%zz")
NAMES = ("pdf", "~pdf", "SKILL.md", "skill.md", "secret", "references", "guide.md", "leak", "é", "\ud800", "a" * 5000)
PIECES = st.sampled_from(MARKS + NAMES)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    root = tmp_path_factory.mktemp("hostile") / "skills"
    (root / "pdf/references").mkdir(parents=True)
    (root / "pdf/SKILL.md").write_text("---\nname: pdf\ndescription: Reads.\n---\n")
    (root / "pdf/references/guide.md").write_text("guide")
    (root / "secret").write_text(SECRET)
    (root.parent / "secret").write_text(SECRET)
    (root / "pdf/leak").symlink_to(root.parent / "secret")
    return LibrarySource(FolderLibrary(root))


@given(
    st.lists(PIECES, max_size=8).map("".join).map("skill://pdf/".__add__) | st.lists(PIECES, max_size=8).map("".join)
)
def test_no_address_leads_out_of_the_skills(source, uri):
    for asked in (
        lambda: read_resource(source, uri, session="").model_dump_json(),
        lambda: str(get_skill(source, uri)),
        lambda: str(read_directory(source, uri, None)),
    ):
        try:
            answer = asked()
        except SkillyardError as error:
            answer = str(error.as_public_dict())
            assert len(answer) < 2_000
        assert SECRET not in answer


@given(st.text(max_size=200))
def test_no_cursor_is_an_error_of_ours(source, cursor):
    for asked in (
        lambda: listed_resources(source, cursor),
        lambda: list_skills(source, Manifests(source), cursor),
    ):
        with contextlib.suppress(InputError):
            asked()


@given(st.text(max_size=50), st.text(max_size=50))
def test_anything_may_be_completed(source, argument, value):
    params = CompleteRequestParams(
        ref=ResourceTemplateReference(uri=TEMPLATE), argument=CompletionArgument(name=argument, value=value)
    )
    assert len(completed(source, params).completion.values) <= 100
