"""Skills as text for people: API answers, logs, the terminal. What they hold cannot break out of its place.

Everything a skill's author wrote at length stands verbatim inside a code fence longer than any in the text; names,
descriptions and tags are escaped and put on one line.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Protocol, TypeAlias

from skillyard.skill.bundle import SKILL_FILE, Bundle
from skillyard.skill.limits import KIB, MIB
from skillyard.skill.models import SkillDocument
from skillyard.skill.names import replace_hidden

_BACKTICKS: Final = re.compile("`+")
_SHORTEST_FENCE: Final = 3
_MARKUP: Final = re.compile(r"[\\`*_\[\]<>&|~#!]")
_BLOCK_START: Final = re.compile(r"\A(\d{0,9})([-+=.)])")
"""What makes a line a list, a rule or an underline; the rest that starts a block is markup anywhere."""
_LANGUAGES: Final = {
    ".bash": "bash",
    ".css": "css",
    ".html": "html",
    ".js": "javascript",
    ".json": "json",
    ".md": "markdown",
    ".py": "python",
    ".rb": "ruby",
    ".sh": "bash",
    ".sql": "sql",
    ".toml": "toml",
    ".ts": "typescript",
    ".xml": "xml",
    ".yaml": "yaml",
    ".yml": "yaml",
}


_Folder: TypeAlias = "dict[str, _Folder]"
"""What is in a folder by name; the names of folders end in `/`."""


class PlacedFile(Protocol):
    @property
    def path(self) -> str: ...


class FormattedFile(PlacedFile, Protocol):
    @property
    def content(self) -> str | bytes | None:
        """None when it is not loaded; text may come as its bytes."""

    @property
    def size(self) -> int: ...


class ListedSkill(Protocol):
    """What a list tells of a skill."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def tags(self) -> Sequence[str]: ...


class StructuredSkill(Protocol):
    """What the tree of a skill's files is drawn from."""

    @property
    def name(self) -> str: ...

    @property
    def files(self) -> Sequence[PlacedFile]: ...


class FormattedSkill(ListedSkill, Protocol):
    """A skill as it is shown whole."""

    @property
    def content(self) -> str:
        """The Markdown body of its `SKILL.md`."""
        ...

    @property
    def license(self) -> str: ...

    @property
    def compatibility(self) -> str: ...

    @property
    def allowed_tools(self) -> Sequence[str]: ...

    @property
    def files(self) -> Sequence[FormattedFile]: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownFile:
    path: str
    content: bytes

    @property
    def size(self) -> int:
        return len(self.content)


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownSkill:
    """A skill with its files, wherever they were read, ready to be formatted."""

    document: SkillDocument
    bundle: Bundle

    @property
    def name(self) -> str:
        return self.document.name

    @property
    def description(self) -> str:
        return self.document.description

    @property
    def content(self) -> str:
        return self.document.body

    @property
    def tags(self) -> tuple[str, ...]:
        return self.document.tags

    @property
    def license(self) -> str:
        return self.document.license

    @property
    def compatibility(self) -> str:
        return self.document.compatibility

    @property
    def allowed_tools(self) -> tuple[str, ...]:
        return self.document.allowed_tools

    @property
    def files(self) -> tuple[ShownFile, ...]:
        return tuple(ShownFile(path=file.path, content=file.data) for file in self.bundle)


class SkillFormatter:
    """The three ways a skill is written down; pure functions, kept together under the name they are known by."""

    @staticmethod
    def format_skill_content(skill: FormattedSkill, include_file_contents: bool = True) -> str:
        """A whole skill as Markdown: fields, body and files, or only the names and sizes of the files."""
        blocks = [f"# {_inline(skill.name)}", _paragraph(skill.description)]
        fields = [f"- **{label}**: {value}" for label, value in _fields(skill) if value]
        if fields:
            blocks.append("\n".join(fields))
        blocks += ["## Instructions", _fenced(skill.content.strip("\r\n"), "markdown")]
        files = [file for file in skill.files if file.path != SKILL_FILE]
        if files:
            blocks.append("## Files")
        if include_file_contents:
            for file in files:
                blocks += [f"### {_code(file.path)}", _file_content(file)]
        elif files:
            blocks.append("\n".join(f"- {_code(file.path)} ({_size(file.size)})" for file in files))
        return "\n\n".join(block for block in blocks if block) + "\n"

    @staticmethod
    def format_skill_list(skills: Iterable[ListedSkill]) -> str:
        """The skills as a Markdown list, one line each, in the order given."""
        return "\n".join([_list_line(skill) for skill in skills] or ["No skills."]) + "\n"

    @staticmethod
    def format_skill_structure(skill: StructuredSkill) -> str:
        """The files of a skill as a tree, the way `tree` draws one."""
        root: _Folder = {}
        for path in sorted({SKILL_FILE, *(file.path for file in skill.files)}):
            folder = root
            *parents, name = path.split("/")
            for parent in parents:
                folder = folder.setdefault(f"{parent}/", {})
            folder[name] = {}
        return "\n".join([f"{_one_line(skill.name)}/", *_branches(root)]) + "\n"


def _fields(skill: FormattedSkill) -> Iterator[tuple[str, str]]:
    yield "License", _inline(skill.license)
    yield "Compatibility", _inline(skill.compatibility)
    yield "Allowed tools", _codes(skill.allowed_tools)
    yield "Tags", _codes(skill.tags)


def _list_line(skill: ListedSkill) -> str:
    tags = _codes(skill.tags)
    return f"- **{_inline(skill.name)}**: {_inline(skill.description)}{f' ({tags})' if tags else ''}"


def _file_content(file: FormattedFile) -> str:
    if file.content is None:
        return f"*Not loaded, {_size(file.size)}.*"
    text = file.content if isinstance(file.content, str) else _decoded(file.content)
    if text is None:
        return f"*Binary file, {_size(file.size)}.*"
    return _fenced(text, _LANGUAGES.get(PurePosixPath(file.path).suffix.lower(), ""))


def _decoded(data: bytes) -> str | None:
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None


def _fenced(text: str, language: str) -> str:
    fence = "`" * max(_SHORTEST_FENCE, _longest_run(text) + 1)
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{fence}{language}\n{text}{end}{fence}"


def _codes(texts: Iterable[str]) -> str:
    return ", ".join(filter(None, map(_code, texts)))


def _code(text: str) -> str:
    """The text as inline code, in more backticks than it holds in a row."""
    line = _one_line(text)
    if not line:
        return ""
    ticks = "`" * (_longest_run(line) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def _paragraph(text: str) -> str:
    return _BLOCK_START.sub(r"\1\\\2", _inline(text))


def _inline(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", _one_line(text))


def _one_line(text: str) -> str:
    # Words that cannot be seen leave spaces behind, and four of them would start a block of code.
    return " ".join(replace_hidden(" ".join(text.split()), "").split())


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)


def _branches(root: _Folder) -> Iterator[str]:
    # A stack in place of recursion: paths may be deep.
    waiting = list(_under(root, ""))
    while waiting:
        line, indent, folder = waiting.pop()
        yield line
        waiting += _under(folder, indent)


def _under(folder: _Folder, indent: str) -> Iterator[tuple[str, str, _Folder]]:
    """The lines of what is in a folder, the last first, each with the indent of what is below it."""
    for number, (name, below) in enumerate(reversed(folder.items())):
        fork, further = ("├── ", "│   ") if number else ("└── ", "    ")
        yield f"{indent}{fork}{_one_line(name)}", indent + further, below


def _size(size: int) -> str:
    if size < KIB:
        return "1 byte" if size == 1 else f"{size} bytes"
    return f"{size / KIB:.1f} KiB" if size < MIB else f"{size / MIB:.1f} MiB"
