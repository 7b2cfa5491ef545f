"""Markdown as HTML that can do nothing: no HTML of its own, no scripts, and nothing loaded from elsewhere."""

# ruff: noqa: ARG001 -- the renderer gives all of this to every rule

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

MAX_LENGTH: Final = 512 * 1024
"""Longer texts are shown as they were written."""
_LONGEST_KEPT: Final = 32 * 1024
_KEPT: Final = 128
"""Texts up to that length whose HTML is kept: a few megabytes at most."""
_FILES: Final = "files"
_SKILLS: Final = "skills"
_PATHS: Final = "paths"
_ELSEWHERE: Final = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_WIKI: Final = re.compile(r"\[\[([^\s\[\]|#][^\[\]\n|#]{0,200})(?:[#|]([^\[\]\n]{0,200}))?\]\]")
_DOT: Final = re.compile("%2e", re.IGNORECASE)
_DEEPEST: Final = 6
_HEADINGS: Final = "headings"
_ID_PREFIX: Final = "text-"
"""Keeps the ids of headings apart from those of the page, whose scripts and labels go by them."""
_BOXES: Final = {"[ ] ": "☐", "[x] ": "☑", "[X] ": "☑"}
_ITEM: Final = ("list_item_open", "paragraph_open", "inline")
_NOT_IN_ID: Final = re.compile(r"[^\w -]")


def to_html(
    text: str, *, files: str = "", skills: Mapping[str, str] | None = None, paths: Iterable[str] | None = None
) -> str:
    """The text as HTML; links to files of its own lead to where `files` are served.

    `paths` are the existing files: a link to any other file is marked as broken. `skills` are the pages of other
    skills that it may refer to, by name. Any other address on this server is not made a link: a text must not send
    its reader to pages that act for them.
    """
    if len(text) > MAX_LENGTH:
        return f'<pre tabindex="0">{escapeHtml(text)}</pre>'
    known = tuple(sorted((skills or {}).items()))
    there = None if paths is None else frozenset(paths)
    return (_rendered_before if len(text) <= _LONGEST_KEPT else _rendered)(text, files, known, there)


def _rendered(text: str, files: str, skills: tuple[tuple[str, str], ...], paths: frozenset[str] | None) -> str:
    return _parser().render(text, {_FILES: files, _SKILLS: dict(skills), _PATHS: paths, _HEADINGS: Counter[str]()})


_rendered_before: Final = lru_cache(maxsize=_KEPT)(_rendered)
"""The same text is shown again and again, and it takes longer to render than all else on its page."""


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    for name, rule in (
        ("image", _image),
        ("link_open", _link),
        ("heading_open", _heading),
        ("heading_close", _heading),
        ("table_open", _table),
        ("table_close", _table),
        ("th_open", _cell),
        ("td_open", _cell),
        ("fence", _code),
        ("code_block", _code),
    ):
        parser.add_render_rule(name, rule)
    parser.inline.ruler.before("link", "wiki", _wiki)
    parser.core.ruler.push("checklist", _checklist)
    parser.render("ready")  # which has its rules ready, too: the first rendering writes them down for all threads
    return parser


def _checklist(state: StateCore) -> None:
    """`- [ ] to do` and `- [x] done`, with boxes that only show."""
    for item, paragraph, inline in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        kinds = (item.type, paragraph.type, inline.type)
        first = inline.children[0] if inline.children else None
        box = _BOXES.get(first.content[:4]) if first and kinds == _ITEM else None
        if first and box:
            first.content = f"{box} {first.content[4:]}"
            item.attrSet("class", "task")


def _wiki(state: StateInline, silent: bool) -> bool:
    """`[[other-skill]]`, which is a link where that skill is known."""
    found = _WIKI.match(state.src, state.pos)
    page = found and state.env[_SKILLS].get(found[1].strip())
    if not found or not page:
        return False
    if not silent:
        state.push("link_open", "a", 1).attrSet("href", page)
        state.push("text", "", 0).content = found[1].strip()
        state.push("link_close", "a", -1)
    state.pos = found.end()
    return True


def _image(_: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    """A picture of the skill; one from elsewhere is only linked, for loading it would tell others of the reader."""
    token = tokens[at]
    source, text = str(token.attrGet("src") or ""), token.content
    if _ELSEWHERE.match(source):
        return f'<a href="{escapeHtml(source)}" rel="noreferrer noopener nofollow">{escapeHtml(text or source)}</a>'
    own = _own(source, env, raw=True)
    if own is None:
        return escapeHtml(text or source)
    return f'<img src="{escapeHtml(own)}" alt="{escapeHtml(text)}" loading="lazy">'


def _link(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[at]
    target = str(token.attrGet("href") or "")
    if _ELSEWHERE.match(target):
        token.attrSet("rel", "noreferrer noopener nofollow")
        return renderer.renderToken(tokens, at, options, env)
    own = target if target in env[_SKILLS].values() else _own(target, env, raw=False)
    if own is None:
        return "<a>"
    if _is_lost(target, env):
        return '<a class="lost">'
    token.attrSet("href", own)
    return renderer.renderToken(tokens, at, options, env)


def _is_lost(target: str, env: EnvType) -> bool:
    """Whether a link is to a file that the skill does not have."""
    path = unquote(posixpath.normpath(target.partition("#")[0].partition("?")[0]))
    paths: Any = env.get(_PATHS)
    if paths is None or target.startswith(("#", "..")) or target in env[_SKILLS].values():
        return False
    return path not in paths and not any(known.startswith(f"{path}/") for known in paths)


def _own(target: str, env: EnvType, *, raw: bool) -> str | None:
    """Where a path within the text leads: to a file of the skill or to a skill beside it, else nowhere."""
    if target.startswith("#"):
        return f"#{_ID_PREFIX}{target[1:].lower()}"
    files: Any = env.get(_FILES)
    written, mark, place = target.partition("#")
    # Browsers go up by an encoded dot as well.
    path = posixpath.normpath(_DOT.sub(".", written.partition("?")[0]))
    if not files or not written or path.startswith("/"):
        return None
    if path.startswith(".."):
        return None if raw else env[_SKILLS].get(path.removeprefix("../").removesuffix("/SKILL.md"))
    return f"{files}/{path}{'?raw=1' if raw else ''}{mark}{place}"


def _heading(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    """One level down: the page has a first heading of its own. Links within the text lead to it by its words."""
    token = tokens[at]
    level = min(int(token.tag[1:]) + 1, _DEEPEST)
    if token.nesting < 0:
        return f"</h{level}>\n"
    words = "".join(each.content for each in tokens[at + 1].children or () if each.type in {"text", "code_inline"})
    slug = _NOT_IN_ID.sub("", words.lower()).strip().replace(" ", "-")
    before = env[_HEADINGS][slug]
    env[_HEADINGS][slug] += 1
    return f'<h{level} id="{_ID_PREFIX}{slug}{f"-{before}" if before else ""}">' if slug else f"<h{level}>"


def _table(_: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    """Tables that are too wide are moved by themselves, not with the page."""
    return "</table></div>\n" if tokens[at].nesting < 0 else '<div class="wide" tabindex="0"><table>\n'


def _cell(_: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    """A cell; styles within a page are not allowed, so where its text stands is said by a class."""
    token = tokens[at]
    side = str(token.attrGet("style") or "").partition("text-align:")[2]
    return f'<{token.tag} class="{side}">' if side in {"right", "center"} else f"<{token.tag}>"


def _code(_: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    return f'<pre tabindex="0"><code>{escapeHtml(tokens[at].content)}</code></pre>\n'
