"""What must hold afterwards: what was so every time that the task was done, without what changes by itself."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from skillyard.releases.mining.acts import Act, Look, Ref, Template, written
from skillyard.releases.mining.addresses import common_glob, path_glob
from skillyard.releases.mining.browser_acts import BrowserAct
from skillyard.releases.mining.expressions import Row, rendered, substituted
from skillyard.releases.mining.python_acts import PythonAct
from skillyard.releases.mining.shell_acts import ShellAct
from skillyard.releases.mining.snapshots import named_in, texts_in
from skillyard.releases.mining.tasks import Occurrence
from skillyard.releases.payloads import Check, CheckKind
from skillyard.sandbox.capture.markers import MARKER

_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\.?"
)
_VOLATILE: Final = re.compile(
    rf"{MARKER.pattern}|\*\*\*|\b{_MONTH}\s+\d[\w:,./-]*|\b\d[\w:./-]*\s+{_MONTH}(?!\w)|\b(?=\w*\d)[\w:./-]*\d[\w:./-]*"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:today|yesterday|just now|ago)\b",
    re.IGNORECASE,
)
"""Numbers, times and ids change by themselves."""
_SPACES: Final = re.compile(r"\s+")
_LEAST_LETTERS: Final = 4
_MOST_TEXT: Final = 160
_MOST_TEXTS: Final = 2
_MOST_FILES: Final = 3
_MOST_LINES: Final = 400
_MOVING: Final = frozenset({"cd", "pushd", "popd"})
_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """The times that a task was done, and what its variables were each time."""

    occurrences: Sequence[Occurrence]
    at: int
    values: Mapping[str, Row]

    @property
    def told(self) -> list[tuple[str, str]]:
        """The variables of the time that is told, those with the longest values first."""
        pairs = [(name, row[self.at]) for name, row in self.values.items()]
        return sorted(((name, value) for name, value in pairs if value), key=lambda pair: -len(pair[1]))

    @property
    def end_with_opening(self) -> bool:
        """Whether a page was opened at the end, every time, only to look at it."""
        return all(any(look.verb == "open" for look in one.acts[-1].looks) for one in self.occurrences)

    def shows(self, template: Template, texts: Sequence[Sequence[str]]) -> bool:
        """Whether a text, with the values of each time, stood in what was seen at that time."""
        for time, seen in enumerate(texts):
            wanted = rendered(template, lambda name, time=time: self.values[name][time])
            if wanted is None or not any(wanted in text for text in seen):
                return False
        return True


def end_checks(times: Times) -> tuple[Check, ...]:
    """What is checked in the browser when all is done."""
    lasts = [_last_browser_act(occurrence) for occurrence in times.occurrences]
    if any(last is None for last in lasts):
        return ()
    acts = [last for last in lasts if last is not None]
    checks = [Check(kind=CheckKind.TEXT_VISIBLE, value=written(text)) for text in _texts(times, acts)]
    glob = _where(times, acts)
    if glob:
        checks.insert(0, Check(kind=CheckKind.URL_MATCHES, value=glob))
    return tuple(checks or _appeared(times, acts))


def output_check(act: Act, times: Times) -> tuple[Check, ...]:
    """What the last command or code printed every time."""
    if isinstance(act, BrowserAct):
        return ()
    checks = [Check(kind=CheckKind.EXIT_CODE, value="0")] if isinstance(act, ShellAct) else []
    outputs = [_lines(occurrence.acts[-1].output) for occurrence in times.occurrences]
    found = _best(times, outputs[times.at], outputs, before=())
    return (*checks, *(Check(kind=CheckKind.OUTPUT_CONTAINS, value=written(text)) for text in found[:1]))


def file_checks(
    acts: Sequence[Act], templates: Mapping[int, Sequence[Template | None]]
) -> tuple[tuple[Check, ...], tuple[Check, ...]]:
    """The files that are there afterwards, and those that must be there before."""
    made: dict[str, str] = {}
    needed: dict[str, str] = {}
    for act in acts:
        if not isinstance(act, ShellAct | PythonAct):
            continue
        writes, reads = (
            (act.reading.writes, act.reading.reads) if isinstance(act, ShellAct) else (act.writes, act.reads)
        )
        given = templates.get(id(act), [None] * len(act.slots))
        cwd = act.cwd if isinstance(act, ShellAct) else None
        moved = _first_move(act) if isinstance(act, ShellAct) else None
        for indices, paths in ((reads, needed), (writes, made)):
            for index in indices:
                if moved is not None and isinstance(act, ShellAct) and act.reading.places[index].start > moved:
                    continue  # it is not seen from where the command began
                path = _in_workspace(act.slots[index].value, cwd)
                if path and (paths is made or path not in made):
                    template = given[index] or (act.slots[index].value,)
                    paths[path] = _in_workspace(written(template), cwd)
        if isinstance(act, ShellAct):
            for removed in _removed(act):
                made.pop(_in_workspace(removed, cwd), None)
    return _existing(made.values()), _existing(needed.values())


def is_volatile(text: str) -> bool:
    """Whether something in a text changes by itself."""
    return _VOLATILE.search(text) is not None


def _existing(paths: Iterable[str]) -> tuple[Check, ...]:
    return tuple(
        Check(kind=CheckKind.FILE_EXISTS, value=path) for path in list(dict.fromkeys(paths))[-_MOST_FILES:] if path
    )


def _in_workspace(path: str, cwd: str | None) -> str:
    """A path as seen from the workspace; empty for one that is not in it."""
    path = path.removeprefix("/workspace/").removeprefix("./").rstrip("/")
    if not path or path.startswith(("/", "~", "-")) or ".." in path.split("/") or re.search(r"[*?\[\]$\n]", path):
        return ""
    return f"{cwd}/{path}" if cwd else path


def _first_move(act: ShellAct) -> int | None:
    """Where in a command line the folder is changed, from where on paths are others; None if it never is."""
    moves = (simple.words[0].start for simple in act.commands if simple.words and simple.words[0].text in _MOVING)
    return min(moves, default=None)


def _removed(act: ShellAct) -> Iterator[str]:
    for simple in act.commands:
        words = [word.text for word in simple.words]
        if words[:1] == ["rm"] or words[:1] == ["mv"]:
            yield from (word for word in words[1:] if not word.startswith("-"))


def _last_browser_act(occurrence: Occurrence) -> BrowserAct | None:
    return next((act for act in reversed(occurrence.acts) if isinstance(act, BrowserAct)), None)


def _where(times: Times, acts: Sequence[BrowserAct]) -> str:
    """Where the browser was at the end, as a pattern; empty if that was not the same kind of page every time."""
    globs: set[str] = set()
    for time, act in enumerate(acts):
        values = {value for row in times.values.values() if (value := row[time])}
        opened = [look.address for look in _at_end(act, times) if look.verb == "open" and look.address]
        globs.add(path_glob(opened[0] if opened else act.after, values))
    return unquote(common_glob(globs))


def _texts(times: Times, acts: Sequence[BrowserAct]) -> list[Template]:
    seen = [list(_seen_at_end(act, times)) for act in acts]
    chosen = acts[times.at]
    earlier = [act for act in times.occurrences[times.at].all if act is not chosen]
    before = [text for act in earlier for text in (*_shown(act), *(said for look in act.looks for said in _said(look)))]
    awaited = [look.awaited for look in _at_end(chosen, times) if look.awaited]
    return _best(times, [*awaited, *seen[times.at]], seen, before=before)


def _seen_at_end(act: BrowserAct, times: Times) -> Iterator[str]:
    """The texts that were seen on the page where all ended."""
    looks = _at_end(act, times)
    if not any(look.verb == "open" for look in looks):
        yield from _shown(act)
    for look in looks:
        yield from _said(look)


def _at_end(act: BrowserAct, times: Times) -> Sequence[Look]:
    """The looks at the last page: the one that was opened to see what came of it, if that was done every time."""
    opened = [index for index, look in enumerate(act.looks) if look.verb == "open"]
    if not opened:
        return act.looks
    return act.looks[opened[-1] :] if times.end_with_opening else act.looks[: opened[0]]


def _shown(act: Act) -> Iterator[str]:
    return map(_plain, (act.title, *act.shown) if isinstance(act, BrowserAct) else ())


def _said(look: Look) -> Iterator[str]:
    if look.verb == "snapshot":
        yield from map(_plain, texts_in(look.output))
    elif look.verb in {"get", "eval"}:
        yield from _lines(look.output)
    elif look.awaited:
        yield _plain(look.awaited)


def _best(
    times: Times, texts: Sequence[str], seen: Sequence[Sequence[str]], *, before: Sequence[str]
) -> list[Template]:
    """The most telling texts that were there every time; what was there before tells nothing."""
    found: dict[str, tuple[int, Template]] = {}
    for place, text in enumerate(texts[:_MOST_LINES]):
        for template in _fragments(text, times.told):
            if not times.shows(template, seen):
                continue
            names = sum(isinstance(part, Ref) for part in template)
            if not names and any("".join(map(str, template)) in one for one in before):
                continue
            found.setdefault(written(template), (-names * 100 - _letters(template) + place, template))
    ranked = [template for _, template in sorted(found.values(), key=lambda pair: pair[0])]
    kept: list[Template] = []
    for template in ranked:
        if not any(written(template) in written(other) for other in kept):
            kept.append(template)
    return kept[:_MOST_TEXTS]


def _fragments(text: str, told: Sequence[tuple[str, str]]) -> Iterator[Template]:
    """The parts of a text that can be there again, with variables in them."""
    template: Template = (text,)
    for name, value in told:
        template = substituted(template, name, value)
    fragment: list[str | Ref] = []
    for part in template:
        if isinstance(part, Ref):
            fragment.append(part)
            continue
        at = 0
        for volatile in _VOLATILE.finditer(part):
            fragment.append(part[at : volatile.start()])
            yield from _telling(fragment)
            fragment = []
            at = volatile.end()
        fragment.append(part[at:])
    yield from _telling(fragment)


def _telling(fragment: Sequence[str | Ref]) -> Iterator[Template]:
    parts = [part for part in fragment if isinstance(part, Ref) or part]
    if parts and isinstance(parts[0], str):
        parts[0] = parts[0].lstrip(" #.,:;-–|/\t")  # noqa: RUF001 -- dashes as pages have them
    if parts and isinstance(parts[-1], str):
        parts[-1] = parts[-1].rstrip(" #,:;-–|/(\t")  # noqa: RUF001
    template = tuple(part for part in parts if isinstance(part, Ref) or part)
    size = sum(len(part.value if isinstance(part, Ref) else part) for part in template)
    if template and size <= _MOST_TEXT and _letters(template) >= _LEAST_LETTERS:
        yield template


def _letters(template: Template) -> int:
    """How much a text says; signs that are words count for more."""
    text = "".join(part.value if isinstance(part, Ref) else part for part in template)
    return sum(3 if _CJK.match(character) else 1 for character in text if character.isalpha())


def _appeared(times: Times, acts: Sequence[BrowserAct]) -> Iterator[Check]:
    """An element that was there only afterwards, every time."""
    common: set[tuple[str, str]] | None = None
    for act, occurrence in zip(acts, times.occurrences, strict=True):
        after = {pair for look in act.looks if look.verb == "snapshot" for pair in named_in(look.output)}
        earlier = [look for one in occurrence.all if one is not act for look in one.looks]
        before = {pair for look in earlier if look.verb == "snapshot" for pair in named_in(look.output)}
        new = after - before
        common = new if common is None else common & new
    for role, name in sorted(common or ())[:1]:
        if not _VOLATILE.search(name):
            yield Check(kind=CheckKind.ELEMENT_PRESENT, value=f"{role}\n{written((name,))}")


def _lines(text: str) -> list[str]:
    return [_plain(line) for line in text.splitlines()[:_MOST_LINES] if line.strip()]


def _plain(text: str) -> str:
    return _SPACES.sub(" ", text).strip()
