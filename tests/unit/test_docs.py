"""The documentation is true: generated tables are fresh, links lead somewhere, commands exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/*.md")])
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")


def test_generated_tables_are_up_to_date():
    done = subprocess.run(
        [sys.executable, "scripts/docs.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    broken = [
        target for target in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / target).exists()
    ]
    assert broken == []


def test_every_decision_is_numbered_once():
    numbers = [page.name[:4] for page in sorted(ROOT.glob("docs/decisions/*.md"))]
    assert numbers == [f"{number:04d}" for number in range(1, len(numbers) + 1)]
