"""Markdown on pages: readable, and harmless whatever is written."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skillyard.server.web.markdown import MAX_LENGTH, to_html

TAGS = re.compile(r"<[a-z/!?][^>]*>", re.IGNORECASE)
HARMLESS = re.compile(
    r"</?(?:h[2-6]|p|ul|ol|li|strong|em|s|code|blockquote|hr|br|table|thead|tbody|tr|th|td|div|pre|a|img)\b"
    r'(?: (?:href|src|alt|title|class|loading|tabindex|rel|start)="[^"<>]*"| id="text-[\w-]+")*\s*/?>'
)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "[a](data:text/html,<script>alert(1)</script>)",
        "[a](vbscript:x)",
        "![x](javascript:alert(1))",
        "<a href='javascript:alert(1)'>x</a>",
        "```<script>\nalert(1)\n```",
        "[a]: javascript:alert(1)\n\n[a]",
        '[a](https://h/"onmouseover="alert(1))',
        "<https://h/\"onload='x'>",
    ],
)
def test_nothing_runs(text):
    html = to_html(text, files="/files")
    assert all(HARMLESS.fullmatch(tag) for tag in TAGS.findall(html)), html
    assert not re.search(r'(?:href|src)="(?:javascript|data|vbscript):', html)


@given(
    st.lists(
        st.one_of(
            st.text(max_size=20),
            st.sampled_from(
                [
                    "<script>",
                    "](javascript:",
                    "![",
                    "`",
                    "```\n",
                    "<!--",
                    "|",
                    "\n",
                    "> ",
                    "# ",
                    "&lt;",
                    '"',
                    "'",
                    "<a b=",
                ]
            ),
        ),
        max_size=20,
    ).map("".join)
)
@example("| a |\n|---|\n| <b onclick=x> |")
def test_whatever_is_written_only_harmless_tags_come_of_it(text):
    html = to_html(text, files="/files")
    assert all(HARMLESS.fullmatch(tag) for tag in TAGS.findall(html)), html


def test_own_files_are_linked_and_pictures_from_elsewhere_are_not_loaded():
    html = to_html("[a](references/a.md#x) ![b](assets/b.png) ![c](https://h/c.png) [d](#e)", files="/skills/x/y/files")
    assert 'href="/skills/x/y/files/references/a.md#x"' in html
    assert 'src="/skills/x/y/files/assets/b.png?raw=1"' in html
    assert "<img" not in html.partition("assets/b.png")[2]
    assert 'href="https://h/c.png" rel="noreferrer noopener nofollow"' in html
    assert 'href="#text-e"' in html


@pytest.mark.parametrize(
    "target",
    ["/settings", "../../settings", "a/../../../settings", "..", "%2e%2E/.%2e/settings", "../other/a.md"],
)
def test_a_text_leads_nowhere_on_this_server_but_to_its_own_files(target):
    html = to_html(f"[a]({target}) ![b]({target})", files="/skills/x/y/files")
    assert html == "<p><a>a</a> b</p>\n"


def test_other_skills_are_linked_where_they_are_known():
    skills = {"pdf": "/skills/x/pdf"}
    html = to_html(
        "[[pdf]] [[pdf#a]] [[other]] `[[pdf]]` [a](../pdf/SKILL.md) [b](../other)", files="/f", skills=skills
    )
    assert html.count('<a href="/skills/x/pdf">') == 3
    assert "[[other]] <code>[[pdf]]</code>" in html
    assert "<a>b</a>" in html


def test_the_same_text_leads_each_reader_to_the_skills_that_they_know():
    text = "See [[other]]."
    known = to_html(text, skills={"other": "/skills/ana/other"})
    assert "/skills/ana/other" in known
    assert "<a" not in to_html(text)
    assert "/skills/bob/other" in to_html(text, skills={"other": "/skills/bob/other"})
    assert to_html(text, skills={"other": "/skills/ana/other"}) == known


def test_headings_leave_the_first_to_the_page():
    assert to_html("# A\n\n###### B\n") == '<h2 id="text-a">A</h2>\n<h6 id="text-b">B</h6>\n'


def test_a_text_without_end_is_shown_as_it_is():
    assert to_html("*a*" * MAX_LENGTH).startswith('<pre tabindex="0">*a*')


def test_cells_say_where_their_text_stands_without_a_style():
    html = to_html("| a | b | c |\n|:--|--:|:-:|\n| 1 | 2 | 3 |\n")
    assert "style" not in html
    assert '<td>1</td>\n<td class="right">2</td>\n<td class="center">3</td>' in html


def test_links_within_a_text_lead_to_its_headings_and_never_to_a_part_of_the_page():
    text = "# Usage\n\n## How `it` *works*!\n\n## Usage\n\n## 사용법\n\n[a](#usage) [b](#How-it-works) [c](#main)\n"
    html = to_html(text)
    assert re.findall(' id="([^"]+)"', html) == ["text-usage", "text-how-it-works", "text-usage-1", "text-사용법"]
    assert re.findall('href="([^"]+)"', html) == ["#text-usage", "#text-how-it-works", "#text-main"]


def test_a_checklist_has_boxes_that_only_show():
    shown = to_html(
        "- [ ] Ask *first*\n- [x] Pay\n\n  [ ] later\n- [link](x) \n- [] no\n\n[ ] no item\n\n1. [X] Thank\n"
    )
    assert shown.count('<li class="task">') == 3
    assert "☐ Ask <em>first</em>" in shown
    assert "☑ Pay" in shown
    assert "☑ Thank" in shown
    assert "[] no" in shown
    assert "[ ] later" in shown
    assert "[ ] no item" in shown
    assert "<input" not in shown
