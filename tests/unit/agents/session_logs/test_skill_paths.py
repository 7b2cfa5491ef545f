import time

import pytest

from skillyard.agents.session_logs.skill_paths import is_skill_file, skill_files_read, skill_named_by


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("cat ~/.claude/skills/pdf/SKILL.md", ["~/.claude/skills/pdf/SKILL.md"]),
        ("sed -n '1,200p' .codex/skills/pdf/skill.md | head -5", [".codex/skills/pdf/skill.md"]),
        ('cd /x && cat "/x/skills/한글/SKILL.md"; ls', ["/x/skills/한글/SKILL.md"]),
        ("cat a/one/SKILL.md b/two/SKILL.md", ["a/one/SKILL.md", "b/two/SKILL.md"]),
        ("/usr/bin/head -50 skills/pdf/SKILL.md", ["skills/pdf/SKILL.md"]),
    ],
)
def test_the_skills_that_a_command_shows_are_found(command, paths):
    assert list(skill_files_read(command)) == paths


@pytest.mark.parametrize(
    "command",
    [
        "cat > skills/new/SKILL.md <<'EOF'",
        "sed -i 's/a/b/' skills/pdf/SKILL.md",
        "sed --in-place 's/a/b/' skills/pdf/SKILL.md",
        "git add skills/pdf/SKILL.md",
        "ls ~/.claude/skills/*/SKILL.md",
        "cat ~/.claude/skills/*/SKILL.md",
        "find . -name SKILL.md",
        "cat SKILL.md",
        "cat ./SKILL.md ../SKILL.md",
        "grep -l pdf skills/pdf/SKILL.md",
        "cat skills/pdf/MYSKILL.md.bak",
        "",
    ],
)
def test_what_only_names_writes_or_searches_skills_is_no_use(command):
    assert list(skill_files_read(command)) == []


def test_a_command_of_any_size_is_looked_through_at_once():
    hostile = "cat " + "skill.md" * 100_000 + "a" * 1_000_000
    start = time.process_time()
    assert list(skill_files_read(hostile)) == []
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize(
    ("path", "name"),
    [("/x/pdf/SKILL.md", "pdf"), ("C:\\skills\\pdf\\SKILL.md", "pdf"), ("SKILL.md", ""), ("../SKILL.md", "")],
)
def test_a_skill_is_named_by_its_folder(path, name):
    assert skill_named_by(path) == name
    assert is_skill_file(path) is bool(name)
