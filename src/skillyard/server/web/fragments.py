"""Small pieces of HTML that a page may have hundreds of: a macro of a template takes several times as long for one."""

import re
from datetime import datetime
from typing import Final

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from skillyard.clock import utc_now
from skillyard.server.web.links import skill_path
from skillyard.server.web.moments import ago as time_between
from skillyard.server.web.moments import parsed

_NEVER: Final = Markup("&ndash;")
_CODE: Final = re.compile("`([^`\n]+)`")
_PAGES: Final = {
    "fb": "/learning/feedback/",
    "mem": "/learning/memories/",
    "prop": "/learning/proposals/",
    "rule": "/learning/rules/",
    "run": "/releases/runs/",
    "sc": "/releases/candidates/",
    "se": "/releases/evaluations/",
    "sr": "/releases/",
}
"""Where something is, by how its id begins."""
_ID: Final = re.compile(rf"\b({'|'.join(_PAGES)})-[0-9a-f]{{12}}\b", re.ASCII)
"""A letter of another script may follow: Korean joins particles to what they are about."""


def skill_link(full_name: str) -> Markup:
    """A skill by its name, `namespace/name`, which leads to its page."""
    namespace, slash, name = full_name.rpartition("/")
    place = f'<span class="ns">{escape(namespace)}/</span>' if slash else ""
    return _html(f'<a class="skill-name" href="{escape(skill_path(full_name))}">{place}{escape(name)}</a>')


def badge(text: object, kind: str = "") -> Markup:
    """A short fact; `kind` is how it is to be taken: good, bad, warn or info."""
    return _html(f'<span class="badge{f" {escape(kind)}" if kind else ""}">{escape(text)}</span>')


def words(text: str) -> Markup:
    """What a service said: what stands in backticks as code, and ids as links to what they name."""
    linked = _ID.sub(lambda found: f'<a href="{_PAGES[found[1]]}{found[0]}">{found[0]}</a>', str(escape(text)))
    return _html(_CODE.sub(r"<code>\1</code>", linked))


@pass_context
def ago(context: Context, moment: datetime | str | None) -> Markup:
    """How long ago something was, and when exactly."""
    when = parsed(moment)
    if when is None:
        return _NEVER
    exact = f"{when:%Y-%m-%d %H:%M:%S} UTC"
    told = escape(time_between(when, utc_now(), context["t"]))
    return _html(f'<time datetime="{when.isoformat()}" title="{exact}">{told}</time>')


def _html(text: str) -> Markup:
    return Markup(text)  # noqa: S704 -- whatever came from elsewhere was escaped above
