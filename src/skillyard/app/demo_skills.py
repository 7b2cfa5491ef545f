"""A part of the demonstration: the skills of the sample home, in one yard, with versions and what refers to what."""

from collections.abc import Iterator
from typing import Final

from skillyard.app.demo_home import DemoHome
from skillyard.app.demo_scenes import Scene
from skillyard.library.disk import read_folder
from skillyard.remote.client import YardClient
from skillyard.skill.bundle import SKILL_FILE, Bundle

_FROM: Final = "It was in the folder of an agent."
_FOLDERS: Final = (".claude/skills", ".agents/skills", ".cursor/skills")
_CHANGED: Final = "deploy"
_REFERRED_TO: Final = "release-notes"
_ADDED: Final = f"""
## When it is live

Write the notes as [[{_REFERRED_TO}]] says, and tell support.
"""


def show_skills(yard: YardClient, home: DemoHome) -> Iterator[Scene]:
    """Bring the skills of the home in, then change one and show what differs."""
    bundles = _bundles(home)
    for name, bundle in sorted(bundles.items()):
        yard.send(bundle, name, version="1.0.0", notes=_FROM)
    yield Scene(
        name="brought",
        title=f"The skills of that home in one yard: {len(bundles)} published, each with a version that never changes.",
        facts={"skills": sorted(bundles)},
    )
    yard.send(_changed(bundles[_CHANGED]), _CHANGED, version="1.1.0", notes="It says what comes after a release.")
    (file,) = yard.diff(_CHANGED, "1.0.0", "1.1.0")["files"]
    users = yard.references(_REFERRED_TO)["incoming"]
    yield Scene(
        name="changed",
        title=f"{_CHANGED} 1.1.0, beside 1.0.0:",
        rows=[(line,) for line in file["diff"].splitlines() if line[:1] in {"+", "-"} and line[1:].strip()],
        remark=f"It refers to {_REFERRED_TO} now: who deletes that is told so first.",
        good=len(users) == 1,
        facts={"skill": _CHANGED, "diff": file["diff"], "referred_to_by": len(users)},
    )


def _bundles(home: DemoHome) -> dict[str, Bundle]:
    """The skills of the home by name; of copies, one."""
    roots = [home.person / each for each in _FOLDERS]
    found = {file.parent.name: file.parent for root in roots for file in root.glob(f"*/{SKILL_FILE}")}
    return {name: read_folder(folder).require() for name, folder in found.items()}


def _changed(bundle: Bundle) -> Bundle:
    return Bundle(
        file._replace(data=file.data + _ADDED.encode()) if file.path == SKILL_FILE else file for file in bundle
    )
