"""What a skill's documents point at: its own files, other skills, or nothing that is there."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import PurePosixPath
from typing import Final

from skillyard.skill import markdown
from skillyard.skill.bundle import Bundle, BundleFile
from skillyard.skill.limits import KIB, SKILL_FILE_NAMES
from skillyard.skill.markdown import Link, Span
from skillyard.skill.models import Finding, Severity
from skillyard.skill.paths import printable
from skillyard.skill.reference_target import STANDARD_FOLDERS, KnownSkills, Places, Target, is_known

MAX_FINDINGS: Final = 100
MAX_REFERENCES: Final = 5_000
MAX_MARKDOWN_BYTES: Final = 512 * KIB
"""How much Markdown of a skill is looked at, all files together; no agent could read more."""

_MARKDOWN: Final = frozenset({".md", ".markdown", ".mdx"})
_MAX_CODE: Final = 300
_MENTION: Final = re.compile(
    r"\b(?:e\.g|examples?|for instance|such as|imagine|would|could|creat(?:e|es|ed|ing)|writ(?:e|es|ten|ing)|"
    r"sav(?:e|es|ed|ing)|outputs?|generat(?:e|es|ed|ing)|exports?|add|new|rename|placeholder|your (?:project|repo))\b"
    r"|例如|比如|示例|创建|保存|输出|生成|写入|新增|예를|예시|예:|생성|저장|출력|작성|例えば|作成|出力",
    re.IGNORECASE,
)
"""Words of a sentence that speaks of an example, or of a file that is yet to be made."""


class ReferenceKind(StrEnum):
    LINK = "link"
    IMAGE = "image"
    CODE = "code"
    WIKI = "wiki"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """One place in a document that names a file of this skill, or another skill."""

    source_file: str
    line: int
    text: str
    """The target as written."""
    kind: ReferenceKind
    target_skill: str | None
    """The other skill; `None` for this one."""
    target_path: str
    """The file in that skill; empty for the skill itself."""
    leaves: bool = False
    """The path leads out of the skill, to no other skill."""
    is_mention: bool = False
    """The sentence speaks of an example, or of a file that is yet to be made."""

    @property
    def external(self) -> bool:
        return self.target_skill is not None


def find_references(bundle: Bundle, skill_id: str, known_skills: KnownSkills | None = None) -> tuple[Reference, ...]:
    """Every link, image, code path and wiki link in the Markdown files of a skill, by file and line.

    `folder/file` is inside the skill; `skill-name/folder/file`, `../skill-name/file` and `[[skill-name]]` are
    another skill. Addresses, anchors and placeholders are no references, nor is anything in a code block.
    """
    places = Places.of(bundle, skill_id, known_skills)
    found = islice((ref for file in _looked_at(bundle) for ref in _references_in(file, places)), MAX_REFERENCES)
    return tuple(sorted(dict.fromkeys(found), key=lambda reference: (reference.source_file, reference.line)))


def _looked_at(bundle: Bundle) -> Iterator[BundleFile]:
    """The Markdown files, as far as there is room to look: a text made to be slow must not be."""
    room = MAX_MARKDOWN_BYTES
    for file in filter(_is_markdown, bundle):
        yield file._replace(data=file.data[:room])
        room -= min(room, len(file.data))


def _markdown_bytes(bundle: Bundle) -> int:
    return sum(len(file.data) for file in filter(_is_markdown, bundle))


def _is_markdown(file: BundleFile) -> bool:
    return PurePosixPath(file.path).suffix.lower() in _MARKDOWN


_NOT_ALL: Final = Finding(
    code="reference-incomplete",
    severity=Severity.INFO,
    message=f"References were looked for in the first {MAX_MARKDOWN_BYTES // KIB} KiB of Markdown only.",
    fix="Shorten the documents: no agent can read so much.",
)


def reference_findings(
    bundle: Bundle,
    skill_id: str,
    known_skills: KnownSkills | None = None,
    *,
    references: Iterable[Reference] | None = None,
) -> tuple[Finding, ...]:
    """The references that lead nowhere: missing files, paths out of the skill, unknown skills.

    Whether another skill is there is only checked when the known ones are given. `references` are those of the bundle,
    where they were found already.
    """
    places = Places.of(bundle, skill_id, known_skills)
    first: dict[tuple[str, str | None, str], Reference] = {}
    for reference in find_references(bundle, skill_id, known_skills) if references is None else references:
        first.setdefault((reference.source_file, reference.target_skill, reference.target_path), reference)
    findings = [found for reference in first.values() if (found := _judged(reference, places)) is not None]
    if _markdown_bytes(bundle) > MAX_MARKDOWN_BYTES:
        findings.insert(0, _NOT_ALL)
    if len(findings) <= MAX_FINDINGS:
        return tuple(findings)
    more = f"{len(findings) - MAX_FINDINGS:,} more references lead nowhere."
    rest = Finding(
        code="reference-broken", severity=Severity.WARNING, message=more, fix="Fix the others and check again."
    )
    return (*findings[:MAX_FINDINGS], rest)


def _references_in(file: BundleFile, places: Places) -> Iterator[Reference]:
    start = markdown.frontmatter_end(file.data)
    blocks = markdown.fenced_blocks(file.data)
    hidden = sorted({Span(0, start), *blocks, *markdown.comments(file.data, blocks)})
    prose = markdown.without(file.data, hidden)
    text = markdown.without(prose, markdown.code_spans(prose))
    lines = _Lines(file.data)
    for link in sorted(markdown.links(text)):
        kind = ReferenceKind.IMAGE if link.is_image else ReferenceKind.LINK
        target = places.linked(_decoded(link), file.path)
        if target is not None:
            yield _reference(file, lines.number(link.position), _decoded(link), kind, target)
    lines = _Lines(file.data)
    for link in markdown.wiki_links(text):
        target = places.wiki(_decoded(link))
        if target is not None and not (link.is_image and target.skill is not None):
            yield _reference(file, lines.number(link.position), _decoded(link), ReferenceKind.WIKI, target)
    yield from _code_references(file, prose, text, places)


def _code_references(file: BundleFile, prose: bytes, text: bytes, places: Places) -> Iterator[Reference]:
    """The paths in inline code; `text` is the prose without it."""
    lines = _Lines(text)
    for span in markdown.code_spans(prose):
        if span.end - span.start > _MAX_CODE:
            continue
        code = prose[span.start : span.end].strip(b"` \n").decode(errors="replace")
        for word in code.split():
            target = places.in_code(word, file.path, alone=word == code)
            if target is not None:
                number = lines.number(span.start)
                is_mention = _MENTION.search(lines.around(span)) is not None
                yield _reference(file, number, word, ReferenceKind.CODE, target, is_mention=is_mention)


class _Lines:
    """Line numbers for growing positions, counted once over the text."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._line = 1
        self._counted = 0

    def number(self, position: int) -> int:
        self._line += self._text.count(b"\n", self._counted, position)
        self._counted = position
        return self._line

    def around(self, span: Span) -> str:
        floor = max(0, span.start - _MAX_CODE)
        start = max(self._text.rfind(b"\n", floor, span.start) + 1, floor)
        end = self._text.find(b"\n", span.end, span.end + _MAX_CODE)
        return self._text[start : end if end >= 0 else span.end + _MAX_CODE].decode(errors="replace")


def _decoded(link: Link) -> str:
    return link.target.decode(errors="replace")


def _reference(
    file: BundleFile, line: int, text: str, kind: ReferenceKind, target: Target, *, is_mention: bool = False
) -> Reference:
    return Reference(
        source_file=file.path,
        line=line,
        text=text,
        kind=kind,
        target_skill=target.skill,
        target_path=target.path,
        leaves=target.leaves,
        is_mention=is_mention,
    )


def _judged(reference: Reference, places: Places) -> Finding | None:
    if reference.leaves:
        return _finding(
            reference,
            "reference-leaves-skill",
            f"`{printable(reference.text)}` leads out of the skill; it is not there once the skill is installed.",
            "Copy the file into the skill and refer to it there.",
        )
    if reference.target_skill is not None:
        return _judged_skill(reference, reference.target_skill, places)
    if places.has(reference.target_path) or (reference.kind is ReferenceKind.CODE and not _is_owned(reference, places)):
        return None
    close = places.close_to(reference.target_path)
    return _finding(
        reference,
        "reference-broken",
        f"`{printable(reference.text)}` is not in the skill.",
        f"Write `{printable(close)}`." if close else "Add the file, correct the path, or remove the reference.",
    )


def _judged_skill(reference: Reference, skill: str, places: Places) -> Finding | None:
    if places.known_skills is None or is_known(places.known_skills, skill):
        return None
    is_plain = reference.text.startswith("..") or reference.target_path in SKILL_FILE_NAMES
    if reference.kind is ReferenceKind.CODE and not is_plain:
        return None
    return _finding(
        reference,
        "reference-unknown-skill",
        f"`{printable(reference.text)}` refers to the skill {printable(skill)!r}, which is not known here.",
        "Install that skill, correct its name, or remove the reference.",
    )


def _is_owned(reference: Reference, places: Places) -> bool:
    """Whether a path in code surely means a file of this skill and not of the project it is used on."""
    folder, _, name = reference.target_path.partition("/")
    if reference.is_mention or folder not in STANDARD_FOLDERS or not PurePosixPath(name).suffix:
        return False
    return folder == "references" or places.has(folder)


def _finding(reference: Reference, code: str, message: str, fix: str) -> Finding:
    return Finding(
        code=code,
        severity=Severity.WARNING,
        message=message,
        fix=fix,
        file=reference.source_file,
        line=reference.line,
    )
