"""Texts of bounded size for a model."""

from collections.abc import Sequence

from skillyard.skill.prompt import SEPARATOR, listed_name


def names_within(names: Sequence[str], total: int, budget: int) -> str:
    """The first of some names in at most `budget` characters, and how many of `total` they are unless all."""
    note = f"{{}} ({{}} of {total:,} shown; use search_skills)"
    room = budget - len(note.format("", f"{len(names):,}"))
    shown: list[str] = []
    for name in map(listed_name, names):
        room -= len(name) + len(SEPARATOR)
        if room < 0:
            break
        shown.append(name)
    listed = SEPARATOR.join(shown)
    return listed if len(shown) == total else note.format(listed, f"{len(shown):,}").strip()
