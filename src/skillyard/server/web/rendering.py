"""Templates into HTML. What is shown is escaped unless it was made here."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

import skillyard
from skillyard.releases.placeholders import fill_text
from skillyard.server.web.diffs import side_rows, unified_rows
from skillyard.server.web.figures import duration, figure, percent
from skillyard.server.web.fragments import ago, badge, skill_link, words
from skillyard.server.web.links import skill_path
from skillyard.server.web.markdown import to_html
from skillyard.server.web.messages import told
from skillyard.server.web.reader import FORM_FIELD, Reader, Theme
from skillyard.server.web.static_files import asset_url
from skillyard.server.web.texts import LANGUAGES, Texts

_FOLDER: Final = Path(__file__).parent / "templates"
_DOTS: Final = "••••••"
_UNITS: Final = ("B", "KiB", "MiB", "GiB")
_STEP: Final = 1024


def render(template: str, reader: Reader, data: Mapping[str, Any], *, address: str = "") -> str:
    """A page for a reader. A script that wants but a part of it picks that out itself.

    `address` is where it is found again if it answers a form.
    """
    request = reader.request
    is_answer = request.method == "POST" and bool(address)
    asked_at = f"{request.url.path}?{request.query_params}" if request.query_params else request.url.path
    names: dict[str, Any] = {
        **data,
        "t": reader.texts,
        "reader": reader,
        "person": reader.principal,
        "path": request.url.path,
        "address": address if is_answer else asked_at,
        "is_answer": is_answer,
        "query": request.query_params,
        "done": request.query_params.get("done", ""),
    }
    return _environment().get_template(template).render(names)


def template_names() -> list[str]:
    return _environment().list_templates()


def load_template(name: str) -> None:
    """Have a template ready: it is compiled when it is first used, which takes longer than to render it."""
    _environment().get_template(name)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals.update(  # pyright: ignore[reportUnknownMemberType] -- jinja does not say of what
        asset=asset_url,
        yard_version=skillyard.__version__,
        languages=LANGUAGES,
        themes=list(Theme),
        form_token=_form_token,
        skill_path=skill_path,
        skill_link=skill_link,
        badge=badge,
    )
    environment.filters.update(  # pyright: ignore[reportUnknownMemberType] -- as above
        ago=ago,
        size=_size,
        markdown=_markdown,
        count=_count,
        as_json=_as_json,
        percent=percent,
        duration=duration,
        figure=figure,
        unified_rows=unified_rows,
        side_rows=side_rows,
        told=_told,
        words=words,
        filled=_fill,
    )
    return environment


@pass_context
def _form_token(context: Context) -> Markup:
    """The hidden field that every form of ours has."""
    reader: Reader = context["reader"]
    return Markup('<input type="hidden" name="{}" value="{}">').format(FORM_FIELD, reader.form_token)


@pass_context
def _told(context: Context, text: str | None) -> str:
    """What a service said, in the reader's language."""
    texts: Texts = context["t"]
    return told(text, texts.language) if text else ""


def _size(count: int) -> str:
    """A number of bytes, as people say it."""
    number = float(count)
    for unit in _UNITS:
        if number < _STEP or unit == _UNITS[-1]:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= _STEP
    raise AssertionError


def _markdown(
    text: str, files: str = "", skills: Mapping[str, str] | None = None, paths: Iterable[str] | None = None
) -> Markup:
    """Markdown as HTML; links to files of its own lead to where `files` are served, others to the pages of `skills`."""
    return Markup(to_html(text, files=files, skills=skills, paths=paths))  # noqa: S704 -- made so that it can do nothing


def _fill(text: str, values: Mapping[str, object]) -> str:
    """A step with the values that it was taken with; a secret is dotted."""
    return fill_text(text, lambda name: str(values.get(name, _DOTS)))


def _count(number: int) -> str:
    return f"{number:,}"


def _as_json(value: object, indent: int | None = None) -> str:
    """A value as JSON that people read, in whichever script it is written."""
    return json.dumps(value, ensure_ascii=False, indent=indent, default=str)
