import shutil
from pathlib import Path

import pytest

from skillyard.library.folder import FolderLibrary
from skillyard.library.layers import LiveLayers, Roots
from skillyard.library.roots import Machine, discover_roots
from skillyard.library.switches import SwitchesFile, WithSwitches
from skillyard.skill.library import Library


@pytest.fixture
def opened() -> list[Roots]:
    """The folders for which libraries were made, one row for each time."""
    return []


@pytest.fixture
def live(machine: Machine, config_dir: Path, opened: list[Roots]) -> LiveLayers:
    def open_roots(roots: Roots) -> list[Library]:
        opened.append(roots)
        known = [root.path for root in roots]
        switches = SwitchesFile(config_dir)
        return [
            WithSwitches(FolderLibrary(root.path, label=root.label, known_roots=known), switches, root=root.path)
            for root in roots
        ]

    return LiveLayers(lambda: discover_roots(machine), open_roots)


def locations(live: LiveLayers) -> list[str]:
    return [entry.location for entry in live.catalog().entries]


def test_a_folder_that_appears_or_goes_is_noticed(machine: Machine, live: LiveLayers, write_skill):
    assert locations(live) == []
    own = write_skill(machine.home / ".agents/skills/pdf")
    assert locations(live) == [str(own)]
    stronger = write_skill(machine.cwd / ".agents/skills/pdf")
    assert locations(live) == [str(stronger)]
    assert [item.entry.location for item in live.catalog().shadowed] == [str(own)]
    shutil.rmtree(machine.cwd / ".agents")
    assert locations(live) == [str(own)]
    assert live.read(live.catalog().entries[0]).valid


def test_a_link_is_followed_once_the_folder_it_leads_to_is_known(machine: Machine, live: LiveLayers, write_skill):
    (machine.home / ".claude/skills").mkdir(parents=True)
    (machine.home / ".claude/skills/pdf").symlink_to(machine.home / ".agents/skills/pdf")
    assert locations(live) == []
    write_skill(machine.home / ".agents/skills/pdf")
    assert locations(live) == [str(machine.home / ".claude/skills/pdf/SKILL.md")]


def test_libraries_are_made_again_only_when_the_folders_differ(machine: Machine, live, opened, write_skill):
    write_skill(machine.home / ".agents/skills/pdf")
    live.catalog()
    write_skill(machine.home / ".agents/skills/draw")
    live.catalog()
    assert [[root.label for root in roots] for roots in opened] == [[], ["~/.agents/skills"]]
