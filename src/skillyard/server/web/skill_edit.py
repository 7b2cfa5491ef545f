"""Writing skills: a new one, and edits of a file with a look before they are kept."""

import asyncio
from typing import Annotated, Any, Final

from fastapi import Depends, Query, Response

from skillyard.app.yard import Yard
from skillyard.errors import ConflictError, InputError, SkillyardError
from skillyard.history.entries import Why
from skillyard.identity.principals import Principal, Scope
from skillyard.registry.skills import Skill, Visibility
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.imports import draft_in
from skillyard.server.api.skill_schemas import SkillSchema
from skillyard.server.raw_files import is_text
from skillyard.server.web.choices import one_of
from skillyard.server.web.forms import Form, Posted
from skillyard.server.web.links import skill_path
from skillyard.server.web.page import Page, PageRouter, go_to
from skillyard.server.web.skill import SKILL, TheSkill, skill_to
from skillyard.skill.bundle import SKILL_FILE, Bundle, BundleFile
from skillyard.skill.diff import diff_bundles
from skillyard.skill.document import parse

_MAX_REASON: Final = 1_000
_BEGUN: Final = {
    "name": "",
    "description": "",
    "content": "# Title\n\nWhat to do, step by step.\n",
    "tags": "",
    "visibility": Visibility.PRIVATE.value,
}

router = PageRouter()

FilePath = Annotated[str, Query(max_length=1024)]
SkillToEdit = Annotated[Skill, Depends(skill_to("edit"))]


@router.page("/skills/new")
async def new(yard: TheYard, caller: Caller) -> Page:
    caller.require_scope(Scope.WRITE)
    return await _new_page(yard, caller, {"namespace": caller.name})


@router.post("/skills/new", response_model=None)
async def create(form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Make a skill of what was entered, or of a file that was sent."""
    entered = {name: form.text(name) for name in (*_BEGUN, "namespace")}
    visibility = one_of(Visibility, entered["visibility"]) or Visibility.PRIVATE
    namespace = entered["namespace"] or None
    upload = form.uploads.get("file")
    try:
        if upload is not None and upload.data:
            draft = await draft_in(upload.data, upload.name)
            taken = await yard.registry.intake.take(
                caller, draft, namespace=namespace, visibility=visibility, why=_why(form)
            )
            skill = taken.skill
        else:
            tags = [tag.strip() for tag in entered["tags"].split(",") if tag.strip()]
            fields = {"name": form.required("name"), "description": form.required("description"), "tags": tags}
            skill = await yard.registry.workbench.create_written(
                caller, fields, entered["content"], namespace=namespace, visibility=visibility, why=_why(form)
            )
    except SkillyardError as error:
        return await _new_page(yard, caller, entered, error)
    return go_to(skill_path(skill.full_name), done="created")


@router.page(f"{SKILL}/edit")
async def edit(skill: SkillToEdit, yard: TheYard, path: FilePath = SKILL_FILE) -> Page:
    bundle = await yard.registry.shelf.bundle(skill)
    present = bundle.get(path)
    if present is not None and not is_text(present.data):
        raise InputError(
            f"{path!r} is not text.", hint="Send another file in its place.", details={"field": "path", "value": path}
        )
    text = present.data.decode() if present else ""
    executable = present.executable if present else path.startswith("scripts/")
    return _edit_page(skill, path, text, executable=executable)


@router.post(f"{SKILL}/edit", response_model=None)
async def save(skill: TheSkill, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Show what would change, or keep it; an edit made from another state than the present one is a conflict."""
    path = form.text("path").strip() or SKILL_FILE
    text, base = form.text("text"), form.text("base") or None
    executable = form.is_set("executable")
    try:
        if form.text("do") == "preview":
            bundle = await yard.registry.shelf.bundle(skill)
            preview = await asyncio.to_thread(_preview, bundle, path, text, executable=executable)
            return _edit_page(skill, path, text, executable=executable, base=base, preview=preview, form=form)
        if form.text("do") == "delete":
            await yard.registry.workbench.delete_file(caller, skill.id, path, base=base, why=_why(form))
        else:
            file = BundleFile(path, text.encode(), executable)
            await yard.registry.workbench.put_file(caller, skill.id, file, base=base, why=_why(form))
    except SkillyardError as error:
        edited: dict[str, Any] = {"executable": executable, "problem": error, "form": form}
        if isinstance(error, ConflictError) and base != skill.digest and form.text("do") != "delete":
            # Who has seen what differs from the present state may put theirs in its place.
            bundle = await yard.registry.shelf.bundle(skill)
            edited["preview"] = await asyncio.to_thread(_preview, bundle, path, text, executable=executable)
            return _edit_page(skill, path, text, **edited, base=skill.digest)
        return _edit_page(skill, path, text, **edited, base=base)
    return go_to(skill_path(skill.full_name), done="saved")


def _edit_page(
    skill: Skill,
    path: str,
    text: str,
    *,
    executable: bool,
    base: str | None = None,
    preview: dict[str, Any] | None = None,
    problem: SkillyardError | None = None,
    form: Form | None = None,
) -> Page:
    return Page(
        "skill/edit.html",
        {
            "skill": SkillSchema.of(skill),
            "path": path,
            "text": text,
            "executable": executable,
            "base": base or skill.digest,
            "preview": preview,
        },
        extra={
            "file_path": path,
            "problem": problem.as_public_dict() if problem else None,
            "reason": form.text("reason") if form else "",
        },
        status=problem.http_status if problem else 200,
    )


def _preview(bundle: Bundle, path: str, text: str, *, executable: bool) -> dict[str, Any]:
    """What would differ, how it would read, and what is wrong with it."""
    edited = Bundle((*(file for file in bundle if file.path != path), BundleFile(path, text.encode(), executable)))
    parsed = parse(text.encode()) if path == SKILL_FILE else None
    body = parsed.document.body if parsed and parsed.document else text if path.endswith(".md") else ""
    return {
        "files": diff_bundles(bundle, edited).as_dict()["files"],
        "body": body,
        "findings": [finding.as_dict() for finding in parsed.findings] if parsed else [],
    }


async def _new_page(
    yard: Yard, principal: Principal, entered: dict[str, str], problem: SkillyardError | None = None
) -> Page:
    places = [place.name for place in await yard.namespaces.visible(principal) if place.id in principal.roles]
    return Page(
        "skill/new.html",
        {"entered": {**_BEGUN, **entered}, "namespaces": places},
        extra={
            "visibilities": list(Visibility),
            "problem": problem.as_public_dict() if problem else None,
        },
        status=problem.http_status if problem else 200,
    )


def _why(form: Form) -> Why:
    return Why(reason=form.text("reason")[:_MAX_REASON])
