"""Where things have their pages."""

from urllib.parse import quote


def skill_path(full_name: str, *parts: str) -> str:
    """The page of a skill, `namespace/name`, or one below it: `skill_path("ana/pdf", "files", "scripts/a.py")`."""
    return "/".join(["/skills", *(quote(part, safe="/") for part in (full_name, *parts))])
