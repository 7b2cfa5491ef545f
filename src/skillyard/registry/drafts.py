"""From a bundle to everything that is derived from it; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from skillyard.errors import InputError
from skillyard.skill.bundle import SKILL_FILE, Bundle, BundleFile, bundle_of, left_out_part
from skillyard.skill.document import parse, tools_in
from skillyard.skill.folder_names import folder_problem, id_in_folder
from skillyard.skill.models import Finding, Profile, SkillDocument, has_errors
from skillyard.skill.names import is_valid_name, slugify
from skillyard.skill.paths import path_findings, printable
from skillyard.skill.references import Reference, find_references, reference_findings
from skillyard.skill.requires import name_key, requirements_of
from skillyard.skill.scan import scan
from skillyard.skill.write import render_skill_md

_MAX_NAME: Final = 256
_MAX_TAG: Final = 256
_WRITTEN: Final = {"license": "license", "compatibility": "compatibility", "metadata": "metadata", "tags": "tags"}
"""Fields of a skill that a caller may set, and how SKILL.md calls them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A bundle with all that follows from it."""

    name: str
    """The id under which it is kept; the name in SKILL.md may be for display only."""
    bundle: Bundle
    document: SkillDocument
    findings: tuple[Finding, ...]
    """What reading it, scanning it and following its references found."""
    references: tuple[Reference, ...]
    requires: str

    @property
    def tags(self) -> tuple[str, ...]:
        return _distinct(self.document.tags)


def draft_of(bundle: Bundle, *, folder: str | None = None, found: Sequence[Finding] = ()) -> Draft:
    """Read a bundle leniently; what cannot be loaded at all is refused with every finding.

    A skill that comes in a folder and has a name that no folder can have everywhere is given a valid one.
    """
    stated = document_of(bundle, folder=folder).name
    name = stated if folder is None else id_in_folder(stated, folder)
    require_folder_name(name)
    require_portable(bundle)
    return _draft(bundle, name, folder if name == stated else name, found)


def draft_as(bundle: Bundle, name: str) -> Draft:
    """The same for a skill with this name; another valid name in its SKILL.md is its new name."""
    stated = document_of(bundle, folder=name).name
    return _draft(bundle, stated if is_valid_name(stated) else name, name, ())


def _draft(bundle: Bundle, name: str, folder: str | None, found: Sequence[Finding]) -> Draft:
    document, read = _read(bundle, folder, found)
    requirements, problems = requirements_of(document)
    references = find_references(bundle, name)
    # Whether another skill is there depends on who looks, so only references within this one are judged.
    broken = reference_findings(bundle, name, references=references)
    return Draft(
        name=name,
        bundle=bundle,
        document=document,
        findings=(*read, *problems, *broken, *scan(bundle)),
        references=references,
        requires=" ".join(map(str, requirements)),
    )


def document_of(bundle: Bundle, *, folder: str | None = None) -> SkillDocument:
    """What SKILL.md says, without looking at the other files."""
    return _read(bundle, folder, ())[0]


def _read(bundle: Bundle, folder: str | None, found: Sequence[Finding]) -> tuple[SkillDocument, tuple[Finding, ...]]:
    file = bundle.get(SKILL_FILE)
    if file is None:
        raise InputError(f"The skill has no {SKILL_FILE}.", hint="Add one: skillyard init NAME shows how it looks.")
    parsed = parse(file.data, folder=folder, profile=Profile.LENIENT)
    findings = (*found, *parsed.findings, *_todos(file.data, folder))
    if parsed.document is None or has_errors(parsed.findings):
        raise refused(findings)
    return parsed.document, findings


def _todos(data: bytes, folder: str | None) -> tuple[Finding, ...]:
    """Leftover TODOs: a reader ignores them, but the publisher should know."""
    if b"TODO:" not in data:
        return ()
    judged = parse(data, folder=folder, profile=Profile.STRICT).findings
    return tuple(finding for finding in judged if finding.code == "todo-left")


def refused(findings: Sequence[Finding]) -> InputError:
    """The error for content that cannot be taken: the first thing wrong with it, and all of them."""
    worst = min(findings, key=lambda finding: finding.severity.rank)
    return InputError(worst.message, hint=worst.fix, details={"findings": [finding.as_dict() for finding in findings]})


def written_bundle(fields: Mapping[str, Any], body: str, files: Sequence[BundleFile]) -> Bundle:
    """The bundle of a skill that is given as fields and a body, with further files."""
    text = render_skill_md(_frontmatter({}, fields), f"\n{body}")
    return _with_skill_file(BundleFile(SKILL_FILE, text.encode()), files)


def edited_bundle(bundle: Bundle, document: SkillDocument, fields: Mapping[str, Any], body: str | None) -> Bundle:
    """The bundle with some fields and perhaps the body of its SKILL.md replaced; all others stay as they are.

    What says the same as before stays as it is written, to the byte.
    """
    stated = _stated(document)
    changed = {key: value for key, value in fields.items() if value != stated[key]}
    same_body = body is None or body == document.body.removeprefix("\n")
    if not changed and same_body:
        return bundle
    kept_body = document.body if same_body else f"\n{body}"
    if changed:
        text = render_skill_md(_frontmatter(document.fields, changed), kept_body)
    else:
        text = f"---\n{document.frontmatter}---\n{kept_body}"
    present = bundle.get(SKILL_FILE) or BundleFile(SKILL_FILE, b"")
    made = with_file(bundle, present._replace(data=text.encode()))
    if "name" in changed:
        # What cannot be read back would silently stay the present name.
        require_folder_name(changed["name"] if document_of(made).name == changed["name"] else "")
    return made


def with_files(bundle: Bundle, files: Sequence[BundleFile]) -> Bundle:
    """The bundle with these files beside its SKILL.md, and no others."""
    return _with_skill_file(bundle.get(SKILL_FILE) or BundleFile(SKILL_FILE, b""), files)


def with_file(bundle: Bundle, file: BundleFile) -> Bundle:
    """The bundle with one file added or replaced."""
    _require_kept(file)
    return bundle_of([*(other for other in bundle if other.path != file.path), file]).require()


def without_file(bundle: Bundle, path: str) -> Bundle:
    if path == SKILL_FILE:
        raise InputError(
            f"{SKILL_FILE} cannot be deleted: it makes the skill.", hint="Delete the skill itself, or edit the file."
        )
    return bundle_of(file for file in bundle if file.path != path).require()


def _with_skill_file(skill_file: BundleFile, files: Sequence[BundleFile]) -> Bundle:
    for file in files:
        _require_kept(file)
        if file.path.lower() == SKILL_FILE.lower():
            raise InputError(
                f"{SKILL_FILE} is written from the fields and cannot be among the files.",
                hint="Give its text as 'content', or import an archive.",
                details={"field": "files", "value": file.path},
            )
    return bundle_of([skill_file, *files]).require()


def _require_kept(file: BundleFile) -> None:
    """Refuses a file that would be left out without a word."""
    if left_out_part(file.path):
        raise InputError(
            f"The file '{printable(file.path)}' is no part of a skill: it is a cache or belongs to a tool.",
            hint="Leave it out, or give it another name.",
            details={"field": "path", "value": printable(file.path)},
        )


def _stated(document: SkillDocument) -> dict[str, Any]:
    """What SKILL.md says, in the words of `fields`."""
    return {
        "name": document.name,
        "description": document.description,
        "license": document.license,
        "compatibility": document.compatibility,
        "metadata": dict(document.metadata),
        "tags": list(_distinct(document.tags)),
        "allowed_tools": list(document.allowed_tools),
    }


def _distinct(tags: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag[:_MAX_TAG] for tag in tags if tag))


def _frontmatter(present: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    values = dict(present)
    for key in ("name", "description"):
        if key in fields:
            values[key] = fields[key]
    for key, written in _WRITTEN.items():
        if key in fields:
            _set(values, written, fields[key])
    if "allowed_tools" in fields:
        tools: list[str] = fields["allowed_tools"]
        line = " ".join(tools)
        # A list keeps apart what spaces would not.
        _set(values, "allowed-tools", line if list(tools_in(line)) == tools else tools)
    return values


def _set(values: dict[str, Any], key: str, value: object) -> None:
    if value:
        values[key] = value
    else:
        values.pop(key, None)


def require_folder_name(name: str) -> None:
    """Refuses a name for a new skill that cannot be a folder on every system."""
    if not name:
        raise InputError(
            "The skill has no name that can be read.",
            hint=f"Write one into {SKILL_FILE}: 'name: my-skill'.",
            details={"field": "name"},
        )
    problem = folder_problem(name)
    if not problem and len(name_key(name)) > _MAX_NAME:
        problem = "Its form for comparisons is too long."
    if problem:
        usable = slugify(name) or "my-skill"
        raise InputError(
            f"The name {name[:80]!r} cannot be a folder everywhere: {problem}",
            hint=f"Use another one, such as {usable!r}.",
            details={"field": "name", "value": name[:80], "limit": _MAX_NAME, "usable": usable},
        )


def require_portable(bundle: Bundle) -> None:
    """Refuses files that some disk cannot store, or would store differently."""
    wrong = next((found for file in bundle for found in path_findings(file.path)), None)
    if wrong is not None:
        raise InputError(wrong.message, hint=wrong.fix, details={"field": "path", "value": wrong.file})
