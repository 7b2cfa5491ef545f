"""What a task is called, and what is said of it."""

import builtins
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final

from skillyard.releases.mining.acts import Act
from skillyard.releases.mining.addresses import origin_of
from skillyard.releases.mining.browser_acts import BrowserAct
from skillyard.releases.mining.naming import key_of, plain_words
from skillyard.releases.mining.python_acts import PythonAct
from skillyard.releases.mining.shell_acts import ShellAct
from skillyard.releases.mining.shell_tools import EVERYDAY, INTERPRETING, LOOKING
from skillyard.releases.mining.signing_in import end_of_sign_in
from skillyard.releases.mining.snapshots import headings_in

_BARE: Final = frozenset(
    "save submit send ok okay add create next finish confirm continue done apply register search go update book".split()  # noqa: SIM905 -- a list of words
)
"""What buttons everywhere say: of what, the page says."""
_GOING_ON: Final = frozenset({"next", "continue", "proceed"})
"""What leads from one part of a form to the next."""
_AGREEING: Final = frozenset({"confirm", "ok", "okay", "yes", "done", "continue", "finish"})
_MAKING: Final = re.compile(r"^(?:new|create|add|make|edit) (?:an? |the )?")
_SITE: Final = re.compile(r"\s+[-–—|·:]\s+.*$")  # noqa: RUF001 -- dashes as titles have them
_DIGITS: Final = re.compile(r"\d")
_SHORT: Final = 5
"""Words of a label that still is a name for something."""
_QUIET_CALLS: Final = frozenset(
    (
        *dir(builtins),
        *("Path", "read", "write", "close", "join", "append", "format", "items", "get"),
        *("reader", "writer", "DictReader", "DictWriter", "writeheader", "writerow", "writerows", "readlines"),
        *("load", "loads", "dump", "dumps", "read_text", "write_text", "read_bytes", "write_bytes", "mkdir"),
        *("split", "splitlines", "strip", "replace", "lower", "upper", "values", "keys", "update", "extend", "add"),
    )
)
"""Reading, writing and taking apart: of that there is some in any code."""
_OPENING: Final = frozenset({"combobox", "listbox", "option", "textbox", "searchbox", "spinbutton"})
_FETCHING: Final = frozenset({"curl", "wget", "http", "https"})
_WRITING: Final = "write "
"""Files that are written are mostly for what is done then."""
_MOST: Final = 6
_MOST_DEEDS: Final = 2
_MOST_SUMMARY: Final = 500


def skill_key(acts: Sequence[Act], values: Collection[str], *, described: str, canonical: str) -> str:
    """A key for a skill, of what was done; `values` are no part of what it is called."""
    own = " ".join(plain_words(described).split()[:_MOST])
    key = key_of(own) or key_of(*_joined(list(_phrases(acts, values))))
    kind = "browser" if acts and isinstance(acts[0], BrowserAct) else "code"
    return key or f"{kind}-task-{canonical[:8]}"


def summary_of(
    acts: Sequence[Act], values: Collection[str], *, described: str, names: Sequence[str], repeats: int
) -> str:
    """A sentence or two about what it does."""
    said = described.strip() or _sentence(list(_phrases(acts, values)), acts)
    with_values = f" With {', '.join(names)}." if names else ""
    often = "Done once." if repeats == 1 else f"Done {repeats} times."
    return f"{said.rstrip('.')[:_MOST_SUMMARY]}.{with_values} {often}"


def _sentence(phrases: Sequence[str], acts: Sequence[Act]) -> str:
    said = " and ".join(phrases) or "Do what was done"
    where = next((origin_of(act.values[0]) for act in acts if isinstance(act, BrowserAct) and act.verb == "open"), "")
    return f"{said[:1].upper()}{said[1:]}{f' at {where}' if where else ''}"


def _joined(phrases: Sequence[str]) -> Iterator[str]:
    for index, phrase in enumerate(phrases):
        if index:
            yield "and"
        yield phrase


def _phrases(acts: Sequence[Act], values: Collection[str]) -> Iterator[str]:
    browser = [act for act in acts if isinstance(act, BrowserAct)]
    if browser:
        yield from _of_browser(browser, values)
    programs = list(
        dict.fromkeys(phrase for act in acts if isinstance(act, ShellAct) for phrase in _of_shell(act, values))
    )
    yield from ([phrase for phrase in programs if not phrase.startswith(_WRITING)] or programs)[:2]
    calls = list(dict.fromkeys(call for act in acts if isinstance(act, PythonAct) for call in _of_python(act, values)))
    yield from calls[:2] if not programs else ()


def _of_browser(acts: Sequence[BrowserAct], values: Collection[str]) -> Iterator[str]:
    end = end_of_sign_in(acts, known=False)
    if end:
        yield "log in"
    rest = acts[end:]
    sent = [act for act in rest if act.verb in {"click", "dblclick", "press"} and not _only_opens(act)]
    named = [act for act in sent if _label(act, values)]
    if not named:
        if sent:
            yield f"enter {_label(sent[-1], ()) or 'text'}" if not end else "go on"
        return
    for act in _telling(rest, named):
        yield _deed(acts, act, values)


def _telling(acts: Sequence[BrowserAct], named: Sequence[BrowserAct]) -> list[BrowserAct]:
    """The acts that say what is done: those that send a form, and the last one; of many the last two."""
    every = [act for before, act in pairwise(acts) if before.is_entry and act in named]
    sending = [act for act in every if plain_words(_label(act, ())) not in _GOING_ON] or every
    if sending and plain_words(_label(named[-1], ())) in _AGREEING:
        return sending[-_MOST_DEEDS:]  # it only says yes to what was sent
    return list(dict.fromkeys([*sending, named[-1]]))[-_MOST_DEEDS:]


def _deed(acts: Sequence[BrowserAct], act: BrowserAct, values: Collection[str]) -> str:
    """What is done by a button: what it says, and to what."""
    label = _label(act, values)
    words = plain_words(label)
    if words and words not in _BARE:
        return label
    thing = _thing(acts, act, values)
    made = _MAKING.match(plain_words(thing)) if words in _BARE else None
    if made:
        verb = "edit" if made[0].startswith("edit") else "create"
        return f"{verb} {plain_words(thing)[made.end() :]}"
    return f"{label} {thing}".strip()


def _label(act: BrowserAct, values: Collection[str]) -> str:
    """What an element is called, if that is no value."""
    name = act.spot.name if act.spot else ""
    return name if _is_name(name, values) else ""


def _thing(acts: Sequence[BrowserAct], last: BrowserAct, values: Collection[str]) -> str:
    """What a form was about: what led to it, or what its page said of itself."""
    for act in reversed([act for act in acts[: acts.index(last)] if not act.is_entry]):
        led = _label(act, values) if act.verb == "click" else ""
        if led and _MAKING.match(plain_words(led)):
            return led
        found = next((text for text in _said_of_itself(act) if _is_name(text, values)), led)
        if found:
            return found
    return ""


def opened_for(acts: Sequence[Act], act: Act) -> str:
    """What an option of a list is for: what the element is called that was clicked so that it was offered."""
    if not isinstance(act, BrowserAct) or act.verb != "click" or act.spot is None or act.spot.role != "option":
        return ""
    before = next((one for one in reversed(acts[: acts.index(act)]) if isinstance(one, BrowserAct)), None)
    opener = before.spot if before is not None and before.verb == "click" else None
    return opener.name if opener is not None and opener.role in _OPENING - {"option"} else ""


def _only_opens(act: BrowserAct) -> bool:
    """Whether something is filled in or chosen there: nothing is sent by it."""
    return act.is_entry or (act.spot is not None and act.spot.role in _OPENING)


def listed_on(acts: Sequence[Act], act: Act) -> str:
    """What the things are that a page lists, from which one was chosen: the page's own name, for one of them."""
    before = [one for one in acts[: acts.index(act)] if isinstance(one, BrowserAct)]
    found = next((text for one in reversed(before) for text in _said_of_itself(one) if _is_name(text, ())), "")
    return found[:-1] if found.isascii() and found.endswith("s") and not found.endswith("ss") else found


def _said_of_itself(act: BrowserAct) -> Iterator[str]:
    yield from act.shown
    for look in act.looks:
        if look.verb == "snapshot":
            yield from headings_in(look.output)
    if act.title:
        yield _SITE.sub("", act.title)


def _is_name(text: str, values: Collection[str]) -> bool:
    if not text or len(text.split()) > _SHORT or _DIGITS.search(text) or not plain_words(text):
        return False
    return not any(value and value in text for value in values)


def _of_shell(act: ShellAct, values: Collection[str]) -> Iterator[str]:
    for name, *others in act.programs:
        if name in LOOKING | EVERYDAY:
            continue
        if INTERPRETING.fullmatch(name):
            script = others[0].rpartition("/")[2].partition(".")[0] if others else ""
            yield f"run {script or name.rstrip('0123456789.')}"
        elif name in _FETCHING:
            yield _request(act)
        else:
            yield " ".join([name, *others])
    if act.reading.writes and all(name in LOOKING for name, *_ in act.programs):
        yield f"{_WRITING}{_file(act.slots[act.reading.writes[-1]].value, values)}"


def _file(path: str, values: Collection[str]) -> str:
    """What a file is called; of one whose name differs, what kind it is."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2] if any(value and value in name for value in values) else name


def _request(act: ShellAct) -> str:
    """`post items`."""
    words = [word.text for simple in act.commands for word in simple.words]
    method = next((words[index + 1] for index, word in enumerate(words[:-1]) if word in {"-X", "--request"}), "")
    sends = any(word in {"-d", "--data", "--json", "-F"} for word in words)
    address = next((word for word in words if origin_of(word)), "")
    path = [
        part for part in re.split(r"[/?]", address[len(origin_of(address)) :]) if re.fullmatch(r"[A-Za-z_-]+", part)
    ]
    return f"{(method or ('post' if sends else 'get')).lower()} {path[-1] if path else 'page'}"


def _of_python(act: PythonAct, values: Collection[str]) -> Iterator[str]:
    calls = [call for call in act.calls if call.rpartition(".")[2] not in _QUIET_CALLS]
    yield from (call.replace(".", " ") for call in calls[:2])
    if act.writes and not calls:
        yield f"write {_file(act.slots[act.writes[-1]].value, values)}"
