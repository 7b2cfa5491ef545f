"""Every example runs, and does what it says."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PEERS = Path(sys.prefix) / "framework-peers"
"""Where `scripts/framework-peers` puts frameworks that are not in the lock."""
NEEDS = {
    "langchain_agent.py": ("langchain",),
    "deepagents_agent.py": ("deepagents",),
    "mcp_client.py": ("mcp",),
    "pydantic_ai_agent.py": ("pydantic_ai", "fastmcp"),
    "openai_agents_agent.py": ("agents",),
}
SAID = {
    "langchain_agent.py": ["tool: 42.16 km", "ai: 26.2 miles are 42.16 km."],
    "deepagents_agent.py": ["- We run 42.16 km.", "loaded: meeting-minutes → meeting-minutes, unit-conversion →"],
    "mcp_client.py": [
        "load_skill, search_skills",
        'found: [{"name": "unit-conversion"',
        "loaded: name: unit-conversion",
        "skill://unit-conversion/SKILL.md",
        "error: There is no skill 'unit-convertor'.",
    ],
    "pydantic_ai_agent.py": ["# Unit conversion", "26.2 miles are 42.16 km."],
    "openai_agents_agent.py": ["# Unit conversion", "26.2 miles are 42.16 km."],
}


def test_every_example_is_run():
    programs = {path.name for path in EXAMPLES.glob("*.py")} - {"offline_model.py"}
    assert programs == set(NEEDS) == set(SAID)
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"python examples/{name}" in readme for name in programs)


@pytest.mark.parametrize("name", NEEDS)
def test_an_example_does_what_it_says(name, tmp_path):
    missing = [package for package in NEEDS[name] if find_spec(package) is None and not (PEERS / package).is_dir()]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed: scripts/framework-peers")
    here = Path(sys.executable).parent
    settings = {
        "HOME": str(tmp_path),
        "SKILLYARD_HOME": str(tmp_path / "yard"),
        "PATH": f"{here}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(PEERS),
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name],
        cwd=tmp_path,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [text for text in SAID[name] if text not in done.stdout] == []
