import json
import re
from pathlib import Path
from typing import Any

import pytest

from skillyard.app.injection_sources import (
    AGENT_LABEL,
    SKILLS_LABEL,
    AttachedSkills,
    BuiltinSkills,
    LibraryPicks,
    PickedSkills,
)
from skillyard.config.sections import SkillInjection
from skillyard.delivery.injector import DEADLINE
from skillyard.delivery.manifest import MAX_ENTRIES, MAX_MANIFEST_BYTES, Manifest
from skillyard.delivery.release_source import RELEASE
from skillyard.delivery.sandbox_loader import LOADED
from skillyard.delivery.ship import MAX_PARCEL_BYTES
from skillyard.delivery.ship_plan import Step
from skillyard.skill.limits import MIB

PAGE = (Path(__file__).parents[3] / "docs" / "shipping.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_manifest_shown_in_the_page_is_one():
    (text,) = blocks("json")
    assert Manifest.read(text.encode()).write().decode() == text


@pytest.mark.parametrize("step", list(Step))
def test_every_step_is_documented(step: Step):
    assert f"`{step}`" in PAGE


@pytest.mark.parametrize("kind", [AttachedSkills.kind, BuiltinSkills.kind, LibraryPicks.kind, PickedSkills.kind])
def test_every_source_is_documented(kind: str):
    assert f"| `{kind}` |" in PAGE


def test_what_is_said_of_labels_kinds_and_limits_is_so():
    for text in (AGENT_LABEL, SKILLS_LABEL, RELEASE, LOADED):
        assert f"`{text}`" in PAGE
    assert f"{MAX_PARCEL_BYTES // MIB} MiB goes in several" in PAGE
    assert f"A place takes {MAX_ENTRIES:,} delivered skills" in PAGE
    assert f"at most {MAX_MANIFEST_BYTES // MIB} MiB" in PAGE
    assert DEADLINE == 10


def test_the_settings_in_the_page_are_the_defaults():
    import tomllib

    (text,) = blocks("toml")
    assert SkillInjection(**tomllib.loads(text)["skill_injection"]) == SkillInjection()


@pytest.mark.anyio
async def test_the_code_in_the_page_runs(tmp_path: Path, home: Path, skill_md):
    names: dict[str, Any] = {}
    for code in blocks("python"):
        exec(code, names)
    (tmp_path / "pdf").mkdir()
    (tmp_path / "pdf/SKILL.md").write_text(skill_md("pdf"))
    plan = await names["share"](tmp_path / "pdf", tmp_path / "skills", home)
    assert [item.step for item in plan.items] == [Step.ADD]
    assert json.loads((tmp_path / "skills/.skillyard.json").read_bytes())["skills"]["pdf"]["origin"] == "shared"
