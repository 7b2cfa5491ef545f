"""Changes to a skill as edits of its files: what is not named stays as it is, to the byte."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from skillyard.errors import InputError
from skillyard.learning.skills.artifact import SkillArtifact, files_of, format_skill_document, new_file
from skillyard.registry.drafts import document_of, edited_bundle
from skillyard.skill.archive import EVALS
from skillyard.skill.bundle import SKILL_FILE, Bundle, BundleFile, bundle_of
from skillyard.skill.limits import MAX_DESCRIPTION
from skillyard.skill.paths import printable
from skillyard.skill.reference_target import STANDARD_FOLDERS

_MAX_EDITS: Final = 100
_MAX_OUTDATED: Final = 10
_MAX_PROMPT: Final = 300


class FileEdit(BaseModel):
    """One place of a file, or the whole of one."""

    model_config = ConfigDict(extra="ignore")

    path: str = Field(min_length=1)
    find: str | None = Field(default=None, description="text that stands exactly once in the file")
    replace: str | None = Field(default=None, description="what stands there instead")
    content: str | None = Field(default=None, description="the whole content, of a new file")

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.content is None) == (self.find is None or self.replace is None):
            raise ValueError("give find and replace, or content")
        if self.find == "":
            raise ValueError("find is empty")
        return self


class SkillEdits(BaseModel):
    """What is to change in a skill."""

    model_config = ConfigDict(extra="ignore")

    summary: str = Field(min_length=1, max_length=500, description="what changes, in one sentence")
    description: str | None = Field(default=None, max_length=MAX_DESCRIPTION, description="only if it must change")
    edits: list[FileEdit] = Field(default_factory=list[FileEdit], max_length=_MAX_EDITS)
    outdated_evals: list[Annotated[str, StringConstraints(max_length=_MAX_PROMPT)]] = Field(
        default_factory=list[str],
        max_length=_MAX_OUTDATED,
        description="prompts of evals/evals.json whose right answer is another one after this change",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Revision:
    """What a change would make of a skill."""

    bundle: Bundle
    rewritten: frozenset[str]
    """Files that were there and are given as a whole."""


def edited(old: Bundle, answer: SkillEdits) -> Revision:
    """The skill with these edits; one that cannot be made is an error that says why."""
    files = {file.path: file for file in old}
    rewritten: set[str] = set()
    for edit in answer.edits:
        present = files.get(edit.path)
        if edit.content is not None:
            if present is not None:
                rewritten.add(edit.path)
            files[edit.path] = _rewritten(edit.path, edit.content, present)
        elif present is None:
            raise _wrong(edit.path, "there is no such file", "Use a path of the skill, or give the whole content.")
        else:
            files[edit.path] = present._replace(data=_replaced(present, edit.find or "", edit.replace or ""))
    bundle = bundle_of(files.values()).require()
    if answer.description:
        bundle = edited_bundle(bundle, document_of(bundle), {"description": answer.description}, None)
    return Revision(bundle=bundle, rewritten=frozenset(rewritten))


def overlaid(old: Bundle, artifact: SkillArtifact, name: str) -> Revision:
    """The skill with a whole artifact laid over it: the name, and fields that an artifact has not, stay."""
    document = document_of(old, folder=name)
    kept = {key: value for key, value in document.fields.items() if key not in {"name", "description"}}
    text = format_skill_document(
        name,
        artifact.description,
        artifact.overview,
        artifact.steps,
        artifact.usage,
        body_markdown=artifact.body_markdown,
        additional_fields=kept,
    )
    new = {file.path: file for file in files_of(artifact.additional_files)}
    new[SKILL_FILE] = BundleFile(SKILL_FILE, text.encode("utf-8", "replace"))
    present = {file.path: file for file in old}
    files = present | {path: file._replace(executable=_runs(file, present.get(path))) for path, file in new.items()}
    rewritten = frozenset(present.keys() & new.keys())
    return Revision(bundle=bundle_of(files.values()).require(), rewritten=rewritten)


def misplaced(new: Bundle, old: Bundle | None) -> list[str]:
    """Files that a lesson may not add or change: outside the usual folders, evidence, or another skill's SKILL.md."""
    problems: list[str] = []
    for file in new:
        present = old.get(file.path) if old else None
        if present is not None and present.data == file.data:
            continue
        path = PurePosixPath(file.path)
        if old is not None and file.path.startswith(EVALS):
            problems.append(f"{file.path}: evals are what a skill is judged by; a lesson does not change them.")
        elif path.name.lower() == SKILL_FILE.lower() and file.path != SKILL_FILE:
            problems.append(f"{file.path}: a skill holds no other skill; change that one by itself.")
        elif present is None and file.path != SKILL_FILE and not _is_usual(path):
            problems.append(f"{file.path}: new files go into {', '.join(f'{each}/' for each in STANDARD_FOLDERS)}.")
    return problems


def _is_usual(path: PurePosixPath) -> bool:
    top = path.parts[0]
    hidden = any(part.startswith(".") for part in path.parts)
    return len(path.parts) > 1 and (top in STANDARD_FOLDERS or f"{top}/" == EVALS) and not hidden


def _rewritten(path: str, content: str, present: BundleFile | None) -> BundleFile:
    file = new_file(path, content)
    return file._replace(executable=_runs(file, present))


def _runs(file: BundleFile, present: BundleFile | None) -> bool:
    return file.executable if present is None else present.executable


def _replaced(file: BundleFile, find: str, replace: str) -> bytes:
    try:
        text = file.data.decode()
    except UnicodeDecodeError:
        raise _wrong(file.path, "it is no text", "Leave it as it is.") from None
    if "\r\n" in text:
        # Models answer with plain line ends, whatever they were shown.
        find, replace = (re.sub(r"\r?\n", "\r\n", each) for each in (find, replace))
    times = text.count(find)
    if times != 1:
        what = "does not stand in it" if not times else f"stands in it {times} times"
        raise _wrong(file.path, f"{find[:80]!r} {what}", "Quote a text that stands there exactly once.")
    return text.replace(find, replace).encode("utf-8", "replace")


def _wrong(path: str, problem: str, hint: str) -> InputError:
    return InputError(f"{printable(path)}: {problem}.", hint=hint, details={"field": "edits", "value": printable(path)})
