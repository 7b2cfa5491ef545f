"""Skill folders made from a fixed seed, of the shapes that real ones have."""

import random
from pathlib import Path

VOCABULARY = """
extract tables forms from documents convert images review code changes write tests deploy services query database
report weekly summary customer invoice plan migration monitor alerts translate text draft email analyse logs profile
slow build release notes design page chart data sheet schema
"""
WORDS = VOCABULARY.split()
SHAPES = ("two fields", "two fields", "metadata", "all fields", "quoted", "folded")


def sentence(rng: random.Random, words: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(words)).capitalize() + "."


def skill_md(rng: random.Random, name: str) -> str:
    """About a third each: two plain fields, plain fields with metadata, quoted or folded text."""
    description = f"{sentence(rng, 14)} Use when the user asks to {sentence(rng, 12).lower()}"
    shape = rng.choice(SHAPES)
    lines = ["---", f"name: {name}"]
    if shape == "quoted":
        lines.append(f'description: "{description}"')
    elif shape == "folded":
        lines += ["description: >-", f"  {description[:70]}", f"  {description[70:]}"]
    else:
        lines.append(f"description: {description}")
    if shape in {"metadata", "all fields", "folded"}:
        lines += ["license: Apache-2.0", "metadata:", "  author: yard", '  version: "1.2"']
    if shape == "all fields":
        lines.append("allowed-tools: Read Grep Bash(git:*)")
    body = [f"# {name}", ""] + [f"{step}. {sentence(rng, 12)}" for step in range(1, 26)]
    return "\n".join([*lines, "---", "", *body, ""])


def generate(root: Path, count: int, *, seed: int = 7) -> Path:
    """A library of `count` skills below `root`; some carry a script or a reference too."""
    rng = random.Random(seed)
    for number in range(count):
        name = f"{rng.choice(WORDS)}-{rng.choice(WORDS)}-{number:05d}"
        folder = root / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(skill_md(rng, name), encoding="utf-8")
        if number % 3 == 0:
            (folder / "references").mkdir()
            (folder / "references" / "guide.md").write_text(sentence(rng, 200), encoding="utf-8")
        if number % 4 == 0:
            (folder / "scripts").mkdir()
            (folder / "scripts" / "run.py").write_text("print('done')\n", encoding="utf-8")
    return root
