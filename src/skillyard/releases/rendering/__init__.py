"""A candidate as a skill: its `SKILL.md`, and scripts that replay it."""
