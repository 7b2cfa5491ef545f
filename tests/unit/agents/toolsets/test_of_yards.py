from skillyard.agents.folder_uses import FolderUses
from skillyard.agents.library_source import LibrarySource
from skillyard.agents.toolsets.of_yards import YardToolsets
from skillyard.agents.toolsets.skills import SkillTools
from skillyard.library.disk import read_folder


def test_how_a_task_went_can_be_told_as_soon_as_a_skill_of_a_folder_was_loaded(folder, yard):
    folder.put("told", body="Do it.")
    yard.send(read_folder(folder.root / "told").require(), "told", version="1.0.0")
    uses = FolderUses(lambda: yard)
    source = LibrarySource(folder.library, record=uses)
    toolsets = YardToolsets(lambda: yard, source=source, session="s-1", agent="codex", settle=uses.flush)
    releases = {tool.name: tool for tool in toolsets.tools("releases")}
    SkillTools(source, session="s-1", agent="codex").load_skill("told")
    releases["report_skill_outcome"].call(skill="told", succeeded=True)
    counted = {(day["event"], day["agent"]) for day in yard.usage_of("told")}
    assert counted == {("loaded", "codex"), ("succeeded", "codex")}
