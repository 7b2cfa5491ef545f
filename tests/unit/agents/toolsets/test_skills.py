import os
import subprocess
from pathlib import Path

import pytest

from skillyard.agents.library_source import LibrarySource
from skillyard.agents.materialise import Nowhere, OnThisMachine
from skillyard.agents.toolsets.skills import SkillTools, skills_tools
from skillyard.errors import CapabilityError, InputError, NotAllowedError, NotFoundError
from skillyard.usage.events import UsageKind


@pytest.fixture
def tools(shelf, tmp_path):
    return SkillTools(shelf.source, place=OnThisMachine(tmp_path / "home"))


def test_the_toolset_is_the_five_tools_and_skill(folder):
    tools = skills_tools(folder.source)
    assert [tool.name for tool in tools] == [
        "load_skill",
        "search_skills",
        "load_skill_asset",
        "get_skill_script_path",
        "list_skill_assets",
        "skill",
    ]
    for tool in tools:
        assert tool.read_only
        assert tool.description
        assert tool.title
        assert all(each["description"] for each in tool.parameters["properties"].values())


def test_load_skill_returns_the_whole_file(shelf, tools):
    shelf.put("tool", "Does it.", "Do.")
    assert tools.load_skill("TOOL") == "---\nname: tool\ndescription: Does it.\n---\n\nDo.\n"
    with pytest.raises(NotFoundError, match="There is no skill 'tol'"):
        tools.load_skill("tol")


def test_search_skills_tells_names_that_can_be_loaded(shelf, tools):
    shelf.put("pdf-tables", "Extracts tables\n  from PDF files.")
    (found,) = tools.search_skills("tables in a PDF", n=3)
    assert found == {"name": shelf.id("pdf-tables"), "description": "Extracts tables from PDF files."}
    assert "Extracts" in tools.load_skill(found["name"])
    assert tools.search_skills("lattice chromodynamics") == []
    with pytest.raises(InputError, match="The query is empty"):
        tools.search_skills("  ")


def test_many_hits_have_shorter_descriptions(folder):
    for number in range(60):
        folder.put(f"potato-{number}", "Peels potatoes, and says so at great length. " * 15)
    tool = skills_tools(folder.source)[1]
    assert len(tool.text({"query": "potatoes", "n": 50})) < 12_000
    text, went_well = tool.text_or_error({"query": "potatoes", "n": 51})
    assert not went_well
    assert "less than or equal to 50" in text


def test_assets_are_listed_and_loaded(shelf, tools):
    files = {"references/A.md": "한국어", "assets/t.txt": "t", "scripts/run.py": "print()", "secret.txt": "s"}
    shelf.put("tool", files=files)
    assert tools.list_skill_assets("tool") == ["assets/t.txt", "references/A.md", "scripts/run.py"]
    assert tools.list_skill_assets("tool", "/references/") == ["references/A.md"]
    assert tools.load_skill_asset("tool", "./references/A.md") == "한국어"
    assert tools.load_skill_asset("tool", "references\\A.md") == "한국어"


@pytest.mark.parametrize(
    "path", ["secret.txt", "SKILL.md", "../other", "/etc/passwd", "references/../SKILL.md", "x\0", "references"]
)
def test_nothing_else_is_loaded(shelf, tools, path):
    shelf.put("tool", files={"secret.txt": "s", "references/A.md": "a"})
    with pytest.raises((NotAllowedError, NotFoundError)):
        tools.load_skill_asset("tool", path)


def test_of_a_file_beside_the_shared_folders_it_is_told_where_it_is(shelf, tools):
    shelf.put("tool", files={"forms.md": "Fill."})
    with pytest.raises(NotAllowedError) as refused:
        tools.load_skill_asset("tool", "./forms.md")
    assert Path(refused.value.hint.partition("This one is at ")[2]).read_text() == "Fill."
    with pytest.raises(NotAllowedError) as refused:
        SkillTools(shelf.source, place=Nowhere()).load_skill_asset("tool", "forms.md")
    assert refused.value.hint.endswith("handed out. read_skill_document reads any other, where you have it.")
    with pytest.raises(NotAllowedError) as refused:
        tools.load_skill_asset("tool", "none.md")
    assert refused.value.hint.endswith("handed out.")


def test_only_shared_folders_are_listed(shelf, tools):
    shelf.put("tool", files={"secret/x.txt": "s"})
    assert tools.list_skill_assets("tool") == []
    with pytest.raises(NotAllowedError, match="'secret' is none of the folders"):
        tools.list_skill_assets("tool", "secret")


def test_a_long_file_is_read_piece_by_piece(folder):
    folder.put("tool", files={"references/A.md": "x" * 50_000 + "end"})
    tools = SkillTools(folder.source)
    first = tools.load_skill_asset("tool", "references/A.md")
    assert first.endswith("[… characters 0 to 40,000 of 50,003; read on with offset=40000]")
    assert tools.load_skill_asset("tool", "references/A.md", offset=40_000) == "x" * 10_000 + "end"


def test_a_file_that_is_no_text_is_told_with_where_it_is(folder):
    folder.put("tool")
    (folder.root / "tool/assets").mkdir()
    (folder.root / "tool/assets/a.png").write_bytes(b"\x89PNG\0")
    with pytest.raises(InputError) as refused:
        SkillTools(folder.source).load_skill_asset("tool", "assets/a.png")
    assert refused.value.hint == f"Use the file itself: {folder.root}/tool/assets/a.png"
    with pytest.raises(InputError) as refused:
        SkillTools(folder.source, place=Nowhere()).load_skill_asset("tool", "assets/a.png")
    assert str(folder.root) not in refused.value.hint
    assert "load_skill_asset" not in refused.value.hint  # which has just refused


def test_a_script_path_is_real_and_can_be_run(shelf, tools):
    shelf.put("tool", files={"scripts/run.sh": "#!/bin/sh\necho hi\n"}, executable=["scripts/run.sh"])
    for name in ("run.sh", "scripts/run.sh", "./run.sh"):
        path = tools.get_skill_script_path("tool", name)
        assert Path(path).is_absolute()
        assert os.access(path, os.X_OK)
    assert subprocess.run([path], capture_output=True, check=True).stdout == b"hi\n"


@pytest.mark.parametrize("name", ["../SKILL.md", "nothing.py", "", "/bin/sh", "a\0b", "../../tool/scripts/run.sh"])
def test_a_script_that_the_skill_does_not_have_has_no_path(shelf, tools, name):
    shelf.put("tool", files={"scripts/run.sh": ""})
    with pytest.raises((NotAllowedError, NotFoundError)):
        tools.get_skill_script_path("tool", name)


def test_an_agent_on_another_machine_is_told_no_path(shelf):
    shelf.put("tool", files={"scripts/run.sh": ""})
    with pytest.raises(CapabilityError, match="not on your machine"):
        SkillTools(shelf.source, place=Nowhere()).get_skill_script_path("tool", "run.sh")


def test_without_a_yard_there_are_no_sandboxes(shelf):
    shelf.put("tool", files={"scripts/run.sh": ""})
    with pytest.raises(CapabilityError, match="There are no sandboxes here"):
        SkillTools(shelf.source).get_skill_script_path("tool", "run.sh", "sandbox-1")


def test_a_skill_of_a_folder_is_not_taken_for_one_of_the_yard_that_is_called_the_same(folder, yard_shelf):
    for each in (folder, yard_shelf):
        each.put("tool", files={"scripts/run.sh": ""})
    tools = SkillTools(folder.source, yard=lambda: yard_shelf.yard)
    with pytest.raises(NotFoundError, match="no sandbox 'sandbox-1'"):
        tools.get_skill_script_path("tool", "run.sh", "sandbox-1")


def test_a_skill_without_scripts_says_so_whatever_else_it_has(shelf, tools):
    shelf.put("tool", files={"references/A.md": ""})
    with pytest.raises(NotFoundError) as caught:
        tools.get_skill_script_path("tool", "run.sh")
    assert caught.value.hint == "It has no scripts."


def test_a_link_out_of_a_skill_is_no_script(folder):
    folder.put("tool", files={"scripts/run.sh": ""})
    (folder.root / "tool/scripts/sh").symlink_to("/bin/sh")
    tools = SkillTools(folder.source)
    with pytest.raises(NotFoundError):
        tools.get_skill_script_path("tool", "sh")
    with pytest.raises(NotAllowedError):
        tools.load_skill_asset("tool", "scripts/sh")


def test_loading_and_running_are_counted(folder):
    told = []
    tools = SkillTools(LibrarySource(folder.library, record=told.append), session="s", agent="a")
    folder.put("tool", files={"scripts/run.sh": ""})
    tools.load_skill("tool")
    tools.get_skill_script_path("tool", "run.sh")
    tools.list_skill_assets("tool")
    assert [(use.kind, use.session) for use in told] == [(UsageKind.LOADED, "s"), (UsageKind.ACTIVATED, "s")]


def test_too_many_files_are_listed_folder_by_folder(folder):
    files = {f"references/{number % 3}/a-rather-long-name-of-a-file-{number}.md": "" for number in range(600)}
    folder.put("tool", files=files)
    tools = SkillTools(folder.source)
    with pytest.raises(InputError) as refused:
        tools.list_skill_assets("tool")
    assert refused.value.hint == "List one folder of it: references/0, references/1, references/2."
    assert len(tools.list_skill_assets("tool", "references/1")) == 200
