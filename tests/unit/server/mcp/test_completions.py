from urllib.parse import quote

from mcp_types import (
    CompleteRequestParams,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from skillyard.server.mcp.completions import completed
from skillyard.server.mcp.resources import read_resource
from skillyard.server.mcp.uris import TEMPLATE

FILES = ResourceTemplateReference(uri=TEMPLATE)


def complete(source, argument, value, ref=FILES, **given):
    params = CompleteRequestParams(
        ref=ref,
        argument=CompletionArgument(name=argument, value=value),
        context=CompletionContext(arguments=given),
    )
    return completed(source, params).completion


def test_skills_that_begin_like_that_come_before_those_that_hold_it(folder, source):
    for name in ("my-pdf", "pdf-forms", "pdf", "git"):
        folder.add(name)
    assert complete(source, "skill", "PDF").values == ["pdf", "pdf-forms", "my-pdf"]


def test_the_files_of_the_skill_that_was_written_before_are_known(folder, source):
    folder.add("pdf")
    folder.write("pdf", "references/forms.md", b"f")
    assert complete(source, "path", "", skill="pdf").values == ["SKILL.md", "references/forms.md"]
    assert complete(source, "path", "", skill="none").values == []


def test_what_is_completed_leads_somewhere_also_where_a_skill_has_another_name_than_its_folder(folder, source):
    folder.add("tools", name="pdf")
    folder.write("tools", "references/a b.md", b"f")
    [part] = complete(source, "skill", "pdf").values
    assert part == "~tools/pdf"
    for path in complete(source, "path", "", skill=part).values:
        assert read_resource(source, f"skill://{part}/{quote(path)}", session="").contents


def test_at_most_a_hundred_are_given_and_all_are_counted(folder, source):
    for number in range(120):
        folder.add(f"skill-{number}")
    completion = complete(source, "skill", "skill-")
    assert (len(completion.values), completion.total, completion.has_more) == (100, 120, True)


def test_what_cannot_be_known_is_not_completed(folder, source):
    folder.add("pdf")
    assert complete(source, "task", "p", ref=PromptReference(name="pdf")).values == []
    assert complete(source, "skill", "p", ref=ResourceTemplateReference(uri="other://{x}")).values == []
    assert complete(source, "other", "p").values == []
