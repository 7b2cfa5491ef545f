"""The files of a skill: a tree of them, and each as people look at it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from fastapi import Query, Request, Response

from skillyard.registry.versions import DRAFT
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.file_schemas import StoredFileSchema
from skillyard.server.api.skill_schemas import SkillSchema
from skillyard.server.raw_files import file_response, is_text
from skillyard.server.web.page import TWIN, Page, PageRouter
from skillyard.server.web.reader import Reader
from skillyard.server.web.skill import SKILL, TheSkill
from skillyard.skill.bundle import SKILL_FILE

router = PageRouter()

IMAGES: Final = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "svg": "image/svg+xml",
}
MAX_LINES: Final = 5_000
MAX_SHOWN: Final = 512 * 1024

Version = Annotated[str, Query(max_length=200)]


@dataclass(kw_only=True)
class Folder:
    """Files and folders, as the tree shows them."""

    folders: dict[str, "Folder"] = field(default_factory=dict[str, "Folder"])
    files: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """The name of each, and its path."""


@router.get(f"{SKILL}/files/{{path:path}}", response_model=None)
@router.page(f"{SKILL}/files")
async def file(
    request: Request,
    skill: TheSkill,
    yard: TheYard,
    caller: Caller,
    path: str = SKILL_FILE,
    version: Version = DRAFT,
    *,
    raw: bool = False,
) -> Page | Response:
    """One file of a state of the skill; `raw` gives its bytes."""
    states = yard.registry.states
    state = await states.of(caller, skill, version)
    files = await states.files(state)
    # A file may itself be called so: then its page is meant, and its twin has that twice.
    twin = request.url.path.endswith(TWIN) and not (
        "path" in request.path_params and any(each.path == path for each in files)
    )
    if twin and "path" in request.path_params:
        path = path.removesuffix(TWIN)
    stored, data = await states.file_among(state, files, path)
    kind = IMAGES.get(path.rpartition(".")[2].lower(), "")
    if raw:
        headers = {"Cache-Control": Reader(request=request).cache_control}
        return Response(data, media_type=kind, headers=headers) if kind else file_response(data, path, headers)
    shown: dict[str, Any] = {
        "skill": SkillSchema.of(skill),
        "version": state.label,
        "file": StoredFileSchema.of_stored(stored),
        "files": [StoredFileSchema.of_stored(each) for each in files],
        "image": bool(kind),
        "text": data[:MAX_SHOWN].decode("utf-8", "replace") if is_text(data) else None,
    }
    lines = (shown["text"] or "").split("\n")
    extra = {
        "tree": tree_of([each.path for each in files]),
        "lines": lines[:MAX_LINES],
        "is_cut": len(lines) > MAX_LINES or len(data) > MAX_SHOWN,
        "marked": {each["line"] for each in skill.findings if each["file"] == path} if version == DRAFT else set[int](),
    }
    return Page("skill/file.html", shown, extra=extra, twin=twin)


def tree_of(paths: Sequence[str]) -> Folder:
    """The folders that paths make."""
    root = Folder()
    for path in sorted(paths):
        *folders, name = path.split("/")
        place = root
        for folder in folders:
            place = place.folders.setdefault(folder, Folder())
        place.files.append((name, path))
    return root
