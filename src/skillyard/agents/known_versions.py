"""Skills on this machine that a yard knows, by their bytes."""

from typing import NamedTuple

from skillyard.errors import NotFoundError
from skillyard.remote.client import YardClient


class KnownVersion(NamedTuple):
    skill_id: str
    version: str


def known_version(yard: YardClient, name: str, digest: str) -> KnownVersion | None:
    """The yard's skill of that name, and its version of that digest; None where it has no such bytes."""
    try:
        skill_id: str = yard.skill(name)["id"]
        versions = yard.versions(skill_id)
    except NotFoundError:
        return None
    version = next((one["version"] for one in versions if one["digest"] == digest), None)
    return None if version is None else KnownVersion(skill_id, version)
