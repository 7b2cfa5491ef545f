"""Whole hostile skills, whose parts alone look harmless."""

import pytest
from tests.scan_samples import SAMPLES, Sample

from skillyard.skill.bundle import Bundle, BundleFile
from skillyard.skill.scan import scan

HEAD = "---\nname: helper\ndescription: Formats tables for reports.\n---\n\n# Helper\n\n"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_hostile_skill_is_recognised(sample: Sample):
    files = {"SKILL.md": HEAD, sample.path: HEAD + sample.text if sample.path == "SKILL.md" else sample.text}
    findings = scan(Bundle(BundleFile(path, text.encode()) for path, text in files.items()))
    found = [finding.severity for finding in findings if finding.code == sample.code and finding.file == sample.path]
    assert found, findings
    assert min(severity.rank for severity in found) <= sample.severity.rank, findings
