"""Skills as one file: archives taken in and given out."""

import asyncio
from typing import Annotated, Self

from fastapi import APIRouter, File, Form, Query, Response, UploadFile
from pydantic import Field

from skillyard.app.yard import Yard
from skillyard.errors import InputError, NotFoundError
from skillyard.identity.principals import Principal, Scope
from skillyard.registry.drafts import Draft, draft_of
from skillyard.registry.intake import Taken
from skillyard.registry.publishing import Publication
from skillyard.registry.skills import Visibility
from skillyard.server.api.caller import Caller, RiskyReason, TheYard
from skillyard.server.api.preconditions import Digest
from skillyard.server.api.shapes import BEARER, errors
from skillyard.server.api.skill_schemas import SkillSchema, etag_of_skill, skill_values
from skillyard.server.api.version_schemas import MAX_NOTES, VersionSchema
from skillyard.server.api.visibility import contradiction, wanted
from skillyard.server.models import Success
from skillyard.server.raw_files import download
from skillyard.skill.archive import EVALS, pack, read_archive
from skillyard.skill.bundle import Bundle
from skillyard.skill.folder_names import folder_name
from skillyard.skill.limits import MAX_ARCHIVE_BYTES
from skillyard.skill.versions import MAX_VERSION

router = APIRouter(prefix="/api/v1", tags=["archives"], responses=errors(), dependencies=[BEARER])

Text = Annotated[str, Field(pattern=r"^[^\x00]*$")]
"""A part of a form: no database keeps a zero byte."""


class ImportedSkill(SkillSchema):
    """A skill that came from an archive."""

    created: bool = Field(description="Whether a skill or a version was made; the status is 201 then.")
    changed: bool = Field(description="Whether anything is other than before: files, a version, or who may see it.")
    dry_run: bool = Field(description="Whether this is only what would be: then nothing was kept, and no id counts.")
    version: VersionSchema | None = Field(description="The version, if it was published.")

    @classmethod
    def made(cls, done: Publication | Taken, *, dry_run: bool) -> Self:
        version = VersionSchema.of(done.version) if isinstance(done, Publication) else None
        values = skill_values(done.skill)
        return cls(**values, created=done.created, changed=done.changed, dry_run=dry_run, version=version)


@router.post(
    "/skills/import",
    status_code=201,
    summary="Import an archive",
    responses={
        **errors(409, 413),
        200: {"model": Success[ImportedSkill], "description": "The skill was there already, or it is a dry run."},
    },
)
async def import_skill(  # noqa: PLR0913, PLR0917 -- one parameter for each part of the form
    yard: TheYard,
    caller: Caller,
    why: RiskyReason,
    response: Response,
    file: Annotated[UploadFile, File(description="A `.skill`, `.zip`, `.tar.gz` or `.tar` file with one skill.")],
    namespace: Annotated[Text | None, Form(description="A person's or a team's; your own unless given.")] = None,
    is_public: Annotated[bool | None, Form(description="Whether everyone in the tenant may see it.")] = None,
    visibility: Annotated[Visibility | None, Form(description="More exactly than `is_public`.")] = None,
    publish: Annotated[bool, Form(description="Make a version of it at once.")] = False,
    version: Annotated[str | None, Form(max_length=MAX_VERSION, description="With `publish`: its number.")] = None,
    notes: Annotated[Text, Form(max_length=MAX_NOTES, description="With `publish`: what is new.")] = "",
    base: Annotated[Digest | None, Form(description="The unpublished state that may be replaced.")] = None,
    dry_run: Annotated[bool, Form(description="Only say what would be done.")] = False,
) -> Success[ImportedSkill]:
    """Make a skill of an archive, or replace the working copy of the skill that has its name.

    Edits that were never published are only replaced if `base` names them. An archive that is hostile, damaged or no
    skill is refused with all findings, and nothing of it is kept. A dry run answers 200 with what would be there, or
    is refused as the import would be, and neither is kept.
    """
    caller.require_scope(Scope.PUBLISH if publish else Scope.WRITE)  # before anything is unpacked
    problem = contradiction(is_public, visibility)
    if problem is not None:
        raise InputError(f"{problem[0].upper()}{problem[1:]}.", hint="Send one.", details={"field": "visibility"})
    if version is not None and not publish:
        raise InputError(
            "A version is only made with publish=true.", hint="Send publish=true.", details={"field": "version"}
        )
    draft = await draft_in(await file.read(MAX_ARCHIVE_BYTES + 1), file.filename or "")
    present = await _present_visibility(yard, caller, draft.name, namespace) if is_public else None
    shown = wanted(is_public, visibility, present)
    if publish:
        done = await yard.registry.publishing.publish_bundle(
            caller,
            draft,
            namespace=namespace,
            version=version,
            visibility=shown,
            base=base,
            notes=notes,
            dry_run=dry_run,
            why=why,
        )
    else:
        done = await yard.registry.intake.take(
            caller, draft, namespace=namespace, visibility=shown, base=base, dry_run=dry_run, why=why
        )
    if dry_run:
        response.status_code = 200
        response.headers["Cache-Control"] = "no-store"  # not even for a client that asks again
    else:
        response.status_code = 201 if done.created else 200
        response.headers["ETag"] = etag_of_skill(done.skill)
    return Success(data=ImportedSkill.made(done, dry_run=dry_run))


@router.get(
    "/skills/{skill_id}/export",
    summary="Export an archive",
    response_class=Response,
    responses={200: {"content": {"application/zip": {}}, "description": "A `.skill` file."}},
)
async def export_skill(
    skill_id: str,
    yard: TheYard,
    caller: Caller,
    version: Annotated[
        str | None,
        Query(
            max_length=200,
            description="A version, a tag, a version's digest, or `draft`; without it the latest version, "
            "or the working copy where there is none.",
        ),
    ] = None,
    slim: Annotated[bool, Query(description="Leave out the evals.")] = False,
) -> Response:
    """A skill as a `.skill` file: the same state always gives the same bytes.

    `X-Skillyard-Digest` is the digest of the files in it, `X-Skillyard-Version` the version or `draft`.
    """
    states = yard.registry.states
    state = await (states.shipped(caller, skill_id) if version is None else states.named(caller, skill_id, version))
    bundle = await states.bundle(state)
    if slim:
        bundle = Bundle(file for file in bundle if not file.path.startswith(EVALS))
    folder = folder_name(state.skill.name)
    packed = await asyncio.to_thread(pack, bundle, folder)
    headers = {
        "ETag": f'"{bundle.digest.removeprefix("sha256:")}-{state.label}"',
        "X-Skillyard-Digest": bundle.digest,
        "X-Skillyard-Version": state.label,
    }
    ending = f"-{state.label}" if state.version else ""
    return download(packed, f"{folder}{ending}.skill", "application/zip", headers)


async def draft_in(data: bytes, filename: str) -> Draft:
    """The skill that an archive holds; one that is hostile, damaged or no skill is refused with all findings."""

    def draft() -> Draft:
        read = read_archive(data, filename=filename)
        return draft_of(read.require(), folder=read.folder or None, found=read.findings)

    return await asyncio.to_thread(draft)


async def _present_visibility(yard: Yard, caller: Principal, name: str, namespace: str | None) -> Visibility | None:
    try:
        return (await yard.registry.shelf.named(caller, name, namespace or caller.name)).visibility
    except NotFoundError:
        return None
