"""The files of skills as resources."""

from base64 import b64encode

from mcp_types import (
    BlobResourceContents,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from skillyard.agents.source import Found, SkillSource
from skillyard.errors import InputError
from skillyard.server.mcp.errors import no_resource
from skillyard.server.mcp.manifests import files_of
from skillyard.server.mcp.media_types import MARKDOWN, media_type
from skillyard.server.mcp.uris import TEMPLATE, file_uri, places
from skillyard.skill.bundle import SKILL_FILE
from skillyard.skill.limits import MAX_DESCRIPTION
from skillyard.skill.prompt import shortened
from skillyard.usage.events import UsageKind


def listed_resources(source: SkillSource, cursor: str | None) -> ListResourcesResult:
    """A page of skills, each by its `SKILL.md`; its other files are found from there."""
    page = source.page(cursor or "")
    return ListResourcesResult(
        resources=[_resource(found) for found in page.skills], next_cursor=page.next_cursor or None
    )


def listed_templates() -> ListResourceTemplatesResult:
    return ListResourceTemplatesResult(
        resource_templates=[
            ResourceTemplate(
                name="skill-file",
                title="A file of a skill",
                description="Any file of a skill: SKILL.md, a script, a reference, an asset.",
                uri_template=TEMPLATE,
            )
        ]
    )


def read_resource(source: SkillSource, uri: str, *, session: str, agent: str = "") -> ReadResourceResult:
    """What is in a file, byte for byte: as text where it is UTF-8."""
    is_folder = False
    for skill, path in places(source, uri):
        files = files_of(source, skill)
        if path not in files:
            is_folder = is_folder or not path or any(other.startswith(f"{path}/") for other in files)
            continue
        data = source.file(skill, path)
        if path == SKILL_FILE:
            source.record(UsageKind.LOADED, skill, session=session, agent=agent)
        return ReadResourceResult(contents=[_contents(uri, path, data)])
    if is_folder:
        raise InputError(f"{uri!r} is a folder.", hint="List it with resources/directory/read.", details={"uri": uri})
    raise no_resource(uri)


def _resource(found: Found) -> Resource:
    # Lists are read by people who approve: what cannot be seen, or has lines of its own, could pass for another entry.
    description = shortened(found.description, MAX_DESCRIPTION)
    return Resource(uri=file_uri(found), name=found.name, description=description, mime_type=MARKDOWN)


def _contents(uri: str, path: str, data: bytes) -> TextResourceContents | BlobResourceContents:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return BlobResourceContents(uri=uri, mime_type=media_type(path), blob=b64encode(data).decode())
    return TextResourceContents(uri=uri, mime_type=media_type(path, text=True), text=text)
