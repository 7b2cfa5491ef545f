from datetime import UTC, datetime

import pytest

from skillyard.registry.skills import Skill, SkillFile, Visibility
from skillyard.server.api.skill_schemas import SkillSchema, SkillSummarySchema

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def skill():
    fields = {"license": "MIT", "compatibility": "", "metadata": {"version": "1"}, "requires": "", "content": "# X\n"}
    return Skill(
        **fields,
        id="skill-1",
        tenant_id="t",
        namespace_id="n",
        namespace="ana",
        name="pdf",
        owner_id=None,
        visibility=Visibility.PUBLIC,
        audience="public",
        digest="sha256:00",
        description="Reads PDF files.",
        allowed_tools=("Read",),
        tags=("office",),
        findings=(),
        created_at=NOW,
        updated_at=NOW,
        changed=7,
        files=(SkillFile(id="file-1", path="SKILL.md", size=3, sha256="00", executable=False),),
    )


@pytest.mark.parametrize("schema", [SkillSummarySchema, SkillSchema])
def test_a_skill_is_taken_by_its_attributes(skill, schema):
    assert schema.model_validate(skill) == schema.of(skill)
