import pytest

from skillyard.skill.markdown import code_spans, comments, fenced_blocks, frontmatter_end, is_inside, without


def texts(text: bytes, spans) -> list[bytes]:
    return [text[span.start : span.end] for span in spans]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        (b"a\n```\nb\n```\nc", [b"```\nb\n```"]),
        (b"~~~py\nb\n~~~\n", [b"~~~py\nb\n~~~"]),
        (b"````\n```\n````\n", [b"````\n```\n````"]),
        (b"```\n~~~\n```\n", [b"```\n~~~\n```"]),
        (b"```\nb ```\n```py\n```\n", [b"```\nb ```\n```py\n```"]),
        (b"- ```\n  b\n  ```\n", [b"- ```\n  b\n  ```"]),
        (b"> ```\n> b\n> ```\n", [b"> ```\n> b\n> ```"]),
        (b"```\nnever closed", [b"```\nnever closed"]),
        (b"```inline``` code\n", []),
        (b"text ``` text\n", []),
    ],
)
def test_fenced_blocks(text: bytes, blocks: list[bytes]):
    assert texts(text, fenced_blocks(text)) == blocks


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        (b"a `b` c", [b"`b`"]),
        (b"``a ` b``", [b"``a ` b``"]),
        (b"`a\nb`", [b"`a\nb`"]),
        (b"`a\n\nb`", []),
        (b"`never closed", []),
        (b"`a`` b` c", [b"`a`` b`"]),
        (b"`a` `b`", [b"`a`", b"`b`"]),
    ],
)
def test_inline_code(text: bytes, spans: list[bytes]):
    assert texts(text, code_spans(text)) == spans


def test_comments_outside_of_blocks():
    text = b"<!-- a --> `<!-- b -->`\n```\n<!-- c -->\n```\n<!-- open"
    assert texts(text, comments(text, fenced_blocks(text))) == [b"<!-- a -->", b"<!-- open"]


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (b"---\na: b\n---\nbody", 13),
        (b"\xef\xbb\xbf---\r\na: b\r\n---\r\n", 19),
        (b"--- a\n---\n", 0),
        (b"---\nopen", 0),
        (b"", 0),
    ],
)
def test_the_body_starts_after_the_frontmatter(text: bytes, end: int):
    assert frontmatter_end(text) == end


def test_blanking_out_keeps_lines_and_positions():
    text = b"a `b\nc` d"
    assert without(text, code_spans(text)) == b"a   \n   d"


def test_a_position_is_inside_a_span_or_not():
    blocks = fenced_blocks(b"a\n```\nb\n```\nc")
    assert [is_inside(blocks, position) for position in (0, 2, 6, 12)] == [False, True, True, False]
