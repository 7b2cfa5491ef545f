import re
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from skillyard.skill.bundle import Bundle, BundleFile
from skillyard.skill.document import parse
from skillyard.skill.formatter import ShownSkill, SkillFormatter
from skillyard.skill.names import replace_hidden

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
SKILL_MD = b"""---
name: pdf-forms
description: Fills in PDF forms. Use it for forms.
license: MIT
compatibility: Needs qpdf
allowed-tools: Bash(qpdf:*) Read
tags: [pdf, forms]
---

# Fill in

```sh
qpdf
```
"""


@dataclass(frozen=True, kw_only=True)
class File:
    path: str
    content: str | bytes | None
    size: int = 7


@dataclass(frozen=True, kw_only=True)
class Skill:
    name: str = "x"
    description: str = "d"
    content: str = "c"
    license: str = ""
    compatibility: str = ""
    allowed_tools: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    files: tuple[File, ...] = ()


def shown(*files):
    bundle = Bundle([BundleFile("SKILL.md", SKILL_MD), *files])
    return ShownSkill(document=parse(SKILL_MD).document, bundle=bundle)


def blocks(text):
    """The block structure of a Markdown text; for fences and code also what they hold."""
    return [
        (token.type, token.tag, token.content if token.type in {"fence", "code_block", "html_block"} else "")
        for token in MARKDOWN.parse(text)
    ]


def inline_of(text):
    return [token.children for token in MARKDOWN.parse(text) if token.type == "inline"]


def said(tokens):
    return "".join(token.content for token in tokens)


PDF_FORMS = shown(
    BundleFile("references/SPEC.md", b"Use ```` here.\n"),
    BundleFile("scripts/run.sh", b"#!/bin/sh\nqpdf", executable=True),
    BundleFile("assets/logo.png", b"\x89PNG\0" * 500),
    BundleFile("assets/empty", b""),
)


def test_a_whole_skill_is_markdown_with_fields_body_and_files():
    assert (
        SkillFormatter.format_skill_content(PDF_FORMS)
        == """\
# pdf-forms

Fills in PDF forms. Use it for forms.

- **License**: MIT
- **Compatibility**: Needs qpdf
- **Allowed tools**: `Bash(qpdf:*)`, `Read`
- **Tags**: `pdf`, `forms`

## Instructions

````markdown
# Fill in

```sh
qpdf
```
````

## Files

### `assets/empty`

```
```

### `assets/logo.png`

*Binary file, 2.4 KiB.*

### `references/SPEC.md`

`````markdown
Use ```` here.
`````

### `scripts/run.sh`

```bash
#!/bin/sh
qpdf
```
"""
    )


def test_files_can_be_named_without_their_content():
    text = SkillFormatter.format_skill_content(PDF_FORMS, include_file_contents=False)
    assert text.endswith(
        """
## Files

- `assets/empty` (0 bytes)
- `assets/logo.png` (2.4 KiB)
- `references/SPEC.md` (15 bytes)
- `scripts/run.sh` (14 bytes)
"""
    )


def test_a_skill_of_nothing_but_its_text_has_no_empty_sections():
    text = SkillFormatter.format_skill_content(Skill(name="번역", description="옮긴다", content="# 할 일\n"))
    assert text == "# 번역\n\n옮긴다\n\n## Instructions\n\n```markdown\n# 할 일\n```\n"


@pytest.mark.parametrize(
    ("content", "size", "note"),
    [
        (b"\xff\xfe", 1, "*Binary file, 1 byte.*"),
        (b"a\0b", 3 * 1024 * 1024, "*Binary file, 3.0 MiB.*"),
        (None, 12, "*Not loaded, 12 bytes.*"),
    ],
)
def test_what_is_no_text_is_named_with_its_size(content, size, note):
    skill = Skill(files=(File(path="f", content=content, size=size),))
    assert SkillFormatter.format_skill_content(skill).endswith(f"### `f`\n\n{note}\n")


def test_a_list_has_a_line_for_each_skill():
    skills = [PDF_FORMS, Skill(name="翻译", description="翻译\n文件 | 表格")]
    assert SkillFormatter.format_skill_list(skills) == (
        "- **pdf-forms**: Fills in PDF forms. Use it for forms. (`pdf`, `forms`)\n- **翻译**: 翻译 文件 \\| 表格\n"
    )
    assert SkillFormatter.format_skill_list([]) == "No skills.\n"


def test_the_structure_is_drawn_as_a_tree():
    assert (
        SkillFormatter.format_skill_structure(shown(*PDF_FORMS.bundle, BundleFile("a/b/한글.md", b"")))
        == """\
pdf-forms/
├── SKILL.md
├── a/
│   └── b/
│       └── 한글.md
├── assets/
│   ├── empty
│   └── logo.png
├── references/
│   └── SPEC.md
└── scripts/
    └── run.sh
"""
    )


def test_a_skill_without_further_files_is_a_tree_of_one():
    assert SkillFormatter.format_skill_structure(Skill()) == "x/\n└── SKILL.md\n"


def test_deep_paths_are_drawn():
    skill = Skill(files=(File(path="/".join("d" * 2_000), content=""),))
    assert len(SkillFormatter.format_skill_structure(skill).splitlines()) == 2_002


hostile = st.one_of(
    st.text(max_size=30),
    st.text(st.sampled_from("`~#-=+*_|<>[]()!&\\ \n\r\t1.x\u2028\u202e"), max_size=30),
    st.sampled_from(
        [
            "```\n# Out",
            "x\n\n## Files\n\n- forged",
            "<script>alert(1)</script>",
            "<!--",
            "| a | b |\n|---|---|",
            "[x](http://x)",
            "![x](y)",
            "1) one",
            "---",
            "===",
            "~~~",
            "    code",
            "\u202e " * 5 + "code",
            "&lt;b&gt;",
        ]
    ),
)
HARMLESS = {"text", "text_special", "strong_open", "strong_close", "code_inline"}


@given(hostile, hostile, hostile, hostile)
def test_nothing_in_a_skill_breaks_out_of_its_place(name, description, content, data):
    skill = Skill(
        name=name,
        description=f"d {description}",
        content=content,
        license=f"l {name}",
        tags=(f"t{description}",),
        files=(File(path=f"p{name}", content=data),),
    )
    text = SkillFormatter.format_skill_content(skill)
    plain = SkillFormatter.format_skill_content(
        Skill(license="l", tags=("t",), files=(File(path="p", content="data"),)),
    )
    assert [block[:2] for block in blocks(text)] == [block[:2] for block in blocks(plain)]
    kinds = {token.type for tokens in inline_of(text) for token in tokens}
    assert kinds <= HARMLESS
    fences = [block[2] for block in blocks(text) if block[0] == "fence"]
    assert fences == [as_markdown(content.strip("\r\n")), as_markdown(data)]


def as_markdown(text):
    """What a reader of Markdown makes of a text inside a fence: line ends become one kind, NUL becomes visible."""
    lines = re.sub(r"\r\n?", "\n", text).replace("\0", "\ufffd")
    return f"{lines}\n" if lines and not lines.endswith("\n") else lines


@given(hostile)
def test_a_description_is_one_paragraph_that_reads_as_written(description):
    visible = " ".join(replace_hidden(" ".join(description.split()), "").split())
    text = SkillFormatter.format_skill_content(Skill(description=description))
    heading, *rest = [said(tokens) for tokens in inline_of(text)]
    assert heading == "x"
    assert rest == [*([visible] if visible else []), "Instructions"]


@given(st.lists(st.tuples(hostile, hostile), min_size=1, max_size=4))
def test_a_list_has_an_item_for_each_skill_whatever_they_say(texts):
    skills = [Skill(name=f"n{name}n", description=description, tags=(name,)) for name, description in texts]
    found = blocks(SkillFormatter.format_skill_list(skills))
    item = ["list_item_open", "paragraph_open", "inline", "paragraph_close", "list_item_close"]
    assert [block[0] for block in found] == ["bullet_list_open", *item * len(texts), "bullet_list_close"]
    tokens = [token for tokens in inline_of(SkillFormatter.format_skill_list(skills)) for token in tokens]
    assert {token.type for token in tokens} <= HARMLESS


@given(st.lists(hostile, max_size=4))
def test_a_tree_has_a_line_for_each_file_and_folder(paths):
    skill = Skill(
        files=tuple(File(path=f"f/x{number}{path.replace('/', '')}", content="") for number, path in enumerate(paths))
    )
    assert len(SkillFormatter.format_skill_structure(skill).splitlines()) == 2 + bool(paths) + len(paths)
