"""Writing skills: a new one, and edits of a file with a look before they are kept."""

import asyncio
from typing import Annotated, Any, Final

from fastapi import Depends, Query, Response

from skillyard.app.yard import Yard
from skillyard.errors import ConflictError, InputError, SkillyardError
from skillyard.identity.principals import Principal, Scope
from skillyard.registry.drafts import draft_as
from skillyard.registry.skills import Skill, Visibility
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.imports import draft_in
from skillyard.server.api.skill_schemas import SkillSchema
from skillyard.server.raw_files import is_text
from skillyard.server.web.choices import one_of
from skillyard.server.web.forms import Form, Posted, Upload
from skillyard.server.web.links import skill_path
from skillyard.server.web.page import Page, PageRouter, go_to
from skillyard.server.web.skill import SKILL, TheSkill, skill_to
from skillyard.skill.bundle import SKILL_FILE, Bundle, BundleFile
from skillyard.skill.diff import diff_bundles
from skillyard.skill.document import parse
from skillyard.skill.models import has_errors
from skillyard.skill.names import is_valid_name, slugify
from skillyard.skill.paths import printable

_BEGUN: Final = {
    "name": "",
    "description": "",
    "content": None,
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
                caller, draft, namespace=namespace, visibility=visibility, why=form.why
            )
            skill = taken.skill
        else:
            tags = [tag.strip() for tag in entered["tags"].split(",") if tag.strip()]
            fields = {
                "name": _valid_name(form.required("name")),
                "description": form.required("description"),
                "tags": tags,
            }
            skill = await yard.registry.workbench.create_written(
                caller, fields, entered["content"], namespace=namespace, visibility=visibility, why=form.why
            )
    except SkillyardError as error:
        usable = error.details.get("usable")
        return await _new_page(yard, caller, {**entered, "name": str(usable)} if usable else entered, error)
    return go_to(skill_path(skill.full_name), done="created")


@router.page(f"{SKILL}/edit")
async def edit(skill: SkillToEdit, yard: TheYard, path: FilePath = SKILL_FILE) -> Page:
    """A file to edit, or to replace where it is not text; without a path a new one."""
    present = (await yard.registry.shelf.bundle(skill)).get(path)
    text = present.data.decode() if present and is_text(present.data) else None if present else ""
    return _edit_page(skill, path, text, executable=_runs(present, path), is_new=present is None)


@router.post(f"{SKILL}/edit", response_model=None)
async def save(skill: TheSkill, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Show what would change, or keep it; an edit made from another state than the present one is a conflict."""
    do, base, is_new = form.text("do"), form.text("base") or None, form.is_set("new")
    upload = form.uploads.get("file")
    path = form.text("path").strip() or (upload.name if upload else "")
    bundle = await yard.registry.shelf.bundle(skill)
    present = bundle.get(path)
    text = form.text("text") if "text" in form.fields else None
    executable = _runs(present, path) if text is None else form.is_set("executable")
    edited: dict[str, Any] = {"executable": executable, "is_new": is_new, "form": form}
    try:
        if do == "delete":
            await yard.registry.workbench.delete_file(caller, skill.id, path, base=base, why=form.why)
            return go_to(skill_path(skill.full_name, "files"), done="saved")
        if is_new:
            _require_new(path, present)
        data = _sent(upload) if text is None else _with_line_ends(text, present)
        file = BundleFile(path, data, executable)
        if do == "preview":
            preview = await asyncio.to_thread(_preview, bundle, skill.name, file)
            return _edit_page(skill, path, text, **edited, base=base, preview=preview)
        await yard.registry.workbench.put_file(caller, skill.id, file, base=base, why=form.why)
    except ConflictError as error:
        if base == skill.digest or text is None or do == "delete":
            return _edit_page(skill, path, text, **edited, base=base, problem=error)
        # Who has seen what differs from the present state may put theirs in its place.
        file = BundleFile(path, _with_line_ends(text, present), executable)
        preview = await asyncio.to_thread(_preview, bundle, skill.name, file)
        return _edit_page(skill, path, text, **edited, base=skill.digest, preview=preview, problem=error)
    except SkillyardError as error:
        return _edit_page(skill, path, text, **edited, base=base, problem=error)
    return go_to(skill_path(skill.full_name, *(["files", path] if path != SKILL_FILE else [])), done="saved")


def _valid_name(name: str) -> str:
    """The name, if it follows the specification, so that every client accepts it."""
    if not is_valid_name(name):
        usable = slugify(name) or "my-skill"
        raise InputError(
            f"Not all agents read a skill named {printable(name)!r}.",
            hint=f"Use {usable!r}; the description can state the displayed name.",
            details={"field": "name", "value": name[:80], "usable": usable},
        )
    return name


def _runs(present: BundleFile | None, path: str) -> bool:
    return present.executable if present else path.startswith("scripts/")


def _require_new(path: str, present: BundleFile | None) -> None:
    if not path:
        raise InputError("The file has no name.", hint="Say where it goes, such as references/guide.md.")
    if present is not None:
        raise InputError(
            f"There is a file {path!r} already.",
            hint="Edit that file, or choose another name.",
            details={"field": "path", "value": path},
        )


def _sent(upload: Upload | None) -> bytes:
    if upload is None or not upload.name:
        raise InputError("No file was sent.", hint="Choose one on your machine.", details={"field": "file"})
    return upload.data


def _with_line_ends(text: str, present: BundleFile | None) -> bytes:
    """The text as it goes into its file: browsers tell nothing of line ends, so those that are there are kept."""
    written = text.encode()
    if present is None or present.data.count(b"\r\n") * 2 <= present.data.count(b"\n"):
        return written
    return written.replace(b"\n", b"\r\n")


def _edit_page(
    skill: Skill,
    path: str,
    text: str | None,
    *,
    executable: bool,
    is_new: bool,
    base: str | None = None,
    preview: dict[str, Any] | None = None,
    problem: SkillyardError | None = None,
    form: Form | None = None,
) -> Page:
    """The page of a file; `text` is None where it is none."""
    return Page(
        "skill/edit.html",
        {
            "skill": SkillSchema.of(skill),
            "path": path,
            "text": text,
            "executable": executable,
            "is_new": is_new,
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


def _preview(bundle: Bundle, name: str, file: BundleFile) -> dict[str, Any]:
    """What would differ, how it would read, and what is wrong with it."""
    edited = Bundle((*(each for each in bundle if each.path != file.path), file))
    parsed = parse(file.data) if file.path == SKILL_FILE else None
    findings = parsed.findings if parsed and has_errors(parsed.findings) else draft_as(edited, name).findings
    text = file.data.decode() if file.path.endswith(".md") else ""
    body = parsed.document.body if parsed and parsed.document else text
    return {
        "files": diff_bundles(bundle, edited).as_dict()["files"],
        "body": body,
        "findings": [finding.as_dict() for finding in findings],
    }


async def _new_page(
    yard: Yard, principal: Principal, entered: dict[str, str], problem: SkillyardError | None = None
) -> Page:
    places = [place.name for place in await yard.namespaces.visible(principal) if place.id in principal.roles]
    return Page(
        "skill/new.html",
        {"entered": {**_BEGUN, **entered}, "namespaces": places},
        extra={
            "visibilities": [Visibility.PRIVATE, Visibility.PUBLIC],
            "problem": problem.as_public_dict() if problem else None,
        },
        status=problem.http_status if problem else 200,
    )
