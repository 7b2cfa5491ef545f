"""The bundle of a learned skill: what is evaluated, published and injected."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from skillyard.releases.rendering.document import script_document
from skillyard.releases.rendering.renderer import PayloadLike, read_payload, render_skill
from skillyard.skill.bundle import SKILL_FILE, Bundle, BundleFile, bundle_of

_SCRIPT: Final = Path(__file__).with_name("replay_script.py")


def render_bundle(
    *,
    name: str,
    payload: PayloadLike,
    candidate: object = None,
    executions: Iterable[object] = (),
) -> Bundle:
    """`SKILL.md` and, of a payload that can be replayed, the scripts that do so. The same input, the same digest."""
    key = getattr(candidate, "skill_key", None) or name
    read = read_payload(payload, getattr(candidate, "skill_type", None) or "")
    text = render_skill(name=name, skill_key=key, candidate=candidate, payload=read, executions=executions)
    files = [BundleFile(SKILL_FILE, text.encode())]
    if read is not None:
        files.append(BundleFile("scripts/payload.json", script_document(read, key).encode()))
        files.append(BundleFile("scripts/replay.py", _SCRIPT.read_bytes(), executable=True))
    return bundle_of(files).require()
