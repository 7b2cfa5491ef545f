import pytest

from skillyard.agents.changes import SkillChanges
from skillyard.agents.library_source import LibrarySource
from skillyard.agents.materialise import Nowhere, OnThisMachine
from skillyard.agents.skill_tool import BASE_DESCRIPTION, SkillTool, create_skill_tool_with_description, skill_text
from skillyard.agents.source import require
from skillyard.errors import InputError, UnavailableError
from skillyard.usage.events import UsageKind


@pytest.fixture
def skill_tool(shelf, tmp_path):
    return SkillTool(shelf.source, place=OnThisMachine(tmp_path / "home"))


def test_without_skills_the_base_tool_stays(folder):
    tool = SkillTool(folder.source).tool()
    assert (tool.name, tool.description) == ("skill", BASE_DESCRIPTION) == ("skill", "Execute a skill.")
    assert tool.parameters["required"] == ["skill"]
    assert tool.call(skill="x") == {
        "success": False,
        "output": "",
        "error": f"Skill not found: x. There are no skills in {folder.root}.",
    }


def test_the_description_tells_of_the_skills_that_there_are_at_each_query(folder):
    skill_tool = SkillTool(folder.source)
    folder.put("b-skill", "Does b.")
    folder.put("a-skill", "Does a.")
    assert skill_tool.tool().description == (
        "Execute a skill. Available skills:\n- a-skill: Does a.\n- b-skill: Does b."
    )
    folder.remove("b-skill")
    folder.put("c-skill", "Does c.")
    assert skill_tool.description("c") == "Execute a skill. Available skills:\n- c-skill: Does c.\n- a-skill: Does a."


def test_where_all_skills_are_shown_shortened_nothing_is_said_to_be_missing(folder):
    for name in ("a-skill", "b-skill"):
        folder.put(name, "Does what has to be done with it. " * 20)
    first, *lines = SkillTool(folder.source, budget=400).description().splitlines()
    assert first == "Execute a skill. Available skills:"
    assert len(lines) == 2


def test_a_tool_may_be_made_anew_for_each_query(folder):
    assert create_skill_tool_with_description(folder.source).description == BASE_DESCRIPTION
    folder.put("pdf", "Reads PDF files.")
    tool = create_skill_tool_with_description(folder.source, "Read this file.")
    assert tool.description == "Execute a skill. Available skills:\n- pdf: Reads PDF files."
    assert tool.call(skill="PDF")["success"]


def test_the_description_is_within_its_budget_and_what_fits_the_query_is_first(shelf):
    for number in range(30):
        shelf.put(f"skill-{number:02}", "Does one thing of thirty. " * 5)
    shelf.put("zebra", "Counts stripes of zebras.")
    description = SkillTool(shelf.source, budget=600).description("count the stripes")
    assert len(description) <= 600
    assert f"- {shelf.id('zebra')}: Counts" in description.splitlines()[1]
    with pytest.raises(InputError, match="cannot have 200 characters"):
        SkillTool(shelf.source, budget=200)


def test_how_many_skills_there_are_is_told_before_the_first_where_not_all_have_room(folder):
    for number in range(80):
        folder.put(f"skill-{number:02}", "Does one thing of eighty. " * 5)
    description = SkillTool(folder.source, budget=500).description()
    first, *skills = description.splitlines()
    shown = sum(1 for skill in skills if skill.startswith("- ")) + skills[-1].count(", ") + 1
    assert first == f"Execute a skill. {shown} of 80 shown; use search_skills. Available skills:"
    assert "shown" not in "".join(skills)
    assert 450 < len(description) <= 500


def test_a_pinned_skill_comes_first_and_takes_nothing_with_it_when_it_goes(shelf):
    for name in ("alpha", "zeta"):
        shelf.put(name)
    skill_tool = SkillTool(shelf.source, pins=["zeta"])
    assert skill_tool.description().splitlines()[1].startswith(f"- {shelf.id('zeta')}: ")
    shelf.remove("zeta")
    assert f"- {shelf.id('alpha')}: " in skill_tool.description()
    assert "zeta" not in skill_tool.description()


def test_a_skill_answers_with_its_body_its_folder_and_its_files(folder):
    folder.put("tool", "Does it.", "# Do\n\nIt.", {"references/A.md": "", "scripts/run.py": "", "notes.txt": ""})
    assert SkillTool(folder.source).skill("Tool") == {
        "success": True,
        "output": (
            f"Base directory of this skill: {folder.root}/tool\n\n# Do\n\nIt.\n\n"
            "Files of this skill:\n- notes.txt\n- references/A.md\n- scripts/run.py"
        ),
        "error": "",
    }


def test_an_id_or_a_name_is_taken_and_the_frontmatter_never_returned(shelf, skill_tool):
    shelf.put("tool", body="Body.", files={"scripts/run.py": "print()"})
    for name in (shelf.id("tool"), "tool", " TOOL "):
        output = skill_tool.skill(name)["output"]
        assert "Body.\n\nFiles of this skill:\n- scripts/run.py" in output
        assert "description:" not in output
        assert output.startswith("Base directory of this skill: /")


def test_a_skill_that_is_not_there_is_told_with_the_nearest_first(shelf, skill_tool):
    for name in ("alpha", "pdf-tables", "zeta"):
        shelf.put(name)
    error = skill_tool.skill("pdf-tabels")["error"]
    assert error.startswith(f"Skill not found: pdf-tabels. Available skills: {shelf.id('pdf-tables')}")
    assert shelf.id("zeta") in error


def test_the_error_is_within_the_budget_however_many_skills_there_are(folder):
    for number in range(80):
        folder.put(f"a-rather-long-name-of-a-skill-{number:02}")
    error = SkillTool(folder.source, budget=500).skill("x" * 10_000)["error"]
    assert len(error) <= 500
    assert "of 80 shown; use search_skills)" in error


def test_an_error_of_the_source_is_an_answer(folder, monkeypatch):
    folder.put("tool")
    skill_tool = SkillTool(folder.source)

    def fails(_):
        raise UnavailableError("The disk is gone.", hint="Mount it.")

    monkeypatch.setattr(folder.source, "files", fails)
    assert skill_tool.skill("tool") == {"success": False, "output": "", "error": "The disk is gone. Mount it."}


def test_what_changed_since_the_first_query_is_told_at_the_second(shelf, skill_tool):
    skill_tool.tool("the first query")
    shelf.put("new")
    assert "new:" in skill_tool.tool("the second query").description
    assert skill_tool.changes().added == (shelf.id("new"),)


def test_changes_tell_what_was_added_removed_and_updated_since_they_were_asked_for(shelf, skill_tool):
    shelf.put("stays", files={"references/A.md": "a"})
    shelf.put("goes")
    assert skill_tool.changes() == SkillChanges()
    assert skill_tool.changes() == SkillChanges()
    shelf.put("comes")
    shelf.put("stays", files={"references/A.md": "b"})
    shelf.remove("goes")
    changes = skill_tool.changes()
    assert (changes.added, changes.removed, changes.updated) == (
        (shelf.id("comes"),),
        (shelf.id("goes"),),
        (shelf.id("stays"),),
    )
    assert not skill_tool.changes()


def test_two_conversations_are_each_told_of_a_change(folder):
    folder.put("tool")
    one, two = SkillTool(folder.source), SkillTool(folder.source)
    one.changes(), two.changes()
    folder.put("new")
    assert one.changes().added == two.changes().added == ("new",)


def test_loading_is_counted_and_failing_is_not(folder):
    told = []
    skill_tool = SkillTool(LibrarySource(folder.library, record=told.append), session="s", agent="a")
    folder.put("tool")
    skill_tool.skill("tool")
    skill_tool.skill("nothing")
    assert [(use.kind, use.skill.id, use.session, use.agent) for use in told] == [(UsageKind.LOADED, "tool", "s", "a")]


class Elsewhere:
    """A place of one's own making."""

    def folder(self, source, found):
        return f"/srv/skills/{found.id}"


def test_the_base_directory_is_where_the_agent_runs_things(folder):
    folder.put("tool", files={"scripts/run.py": ""})
    found = require(folder.source, "tool")
    assert skill_text(folder.source, found, Elsewhere()).startswith("Base directory of this skill: /srv/skills/tool\n")
    assert skill_text(folder.source, found, Nowhere()) == "Do it.\n\nFiles of this skill:\n- scripts/run.py"


def test_a_long_list_of_files_is_cut_and_says_so(folder):
    folder.put("tool", files={f"references/a-rather-long-name-of-a-file-{number}.md": "" for number in range(100)})
    text = skill_text(folder.source, require(folder.source, "tool"))
    assert len(text) < 2_300
    assert text.endswith(" more; list_skill_assets shows them")
