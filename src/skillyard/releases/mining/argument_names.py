"""What the arguments of a command are called: by the script that takes them, by what it says of its use, or by what
became of them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from skillyard.releases.mining import shell_tools as tools
from skillyard.releases.mining.acts import Act, Slot
from skillyard.releases.mining.shell_acts import ShellAct
from skillyard.releases.payloads import VariableType

VAGUE: Final = frozenset({"value", "file", "path"})
"""What values are called that nothing better is known of."""
_INPUT: Final = "input file"
_OUTPUT: Final = "output file"
_WROTE: Final = re.compile(
    r"\b(?:wrote|written|saved?|saving|created?|creating|generated?|exported|stored)\b|\boutput (?:in|to|file)\b|->|→",
    re.IGNORECASE,
)
_USAGE: Final = re.compile(r"(?im)^usage:[ \t]*(.+(?:\n[ \t]+\S.*)*)")
_SAYS_USAGE: Final = re.compile(r"(?im)^[^\n]*?\busage:?[ \t]+([^\n\"'`]+)")
"""A line of a script that tells how it is used: a comment, or what it prints."""
_COMMENT: Final = re.compile(r"(?m)^[ \t]*#+[ \t]*([^\n]+)$")
_PLACEHOLDER: Final = re.compile(r"<[A-Za-z][\w -]*>|[A-Z][A-Z0-9_]+")
_BRACKETS: Final = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}|\([^()]*\)")
_WORD: Final = re.compile(r"<?([A-Za-z][\w -]*?)>?(?:\.\.\.)?")
_DECLARED: Final = re.compile(r"add_argument\(\s*[\"']([A-Za-z]\w*)[\"']")
_PICKED: Final = re.compile(
    r"(?m)(?:^|;)[ \t]*(?:export |local )?([A-Za-z_]\w*)[ \t]*=[^=;\n]*?(?:\bargv\[(\d)\]|\"?\$\{?(\d)\b)"
)
_UNPACKED: Final = re.compile(r"(?m)^[ \t]*([\w, \t]+?)[ \t]*=[ \t]*(?:\w+\.)?argv(\[1:\d?\])?[ \t]*$")
_BESIDE: Final = re.compile(r"(?<=[ \t])([A-Za-z_]\w*)=\"?\$\{?(\d)\b")
_TOGETHER: Final = re.compile(r"(?m)^[ \t]*(\w+(?:[ \t]*,[ \t]*\w+)+)[ \t]*=([^=\n].*)$")
_TAKEN: Final = re.compile(r"\bargv\[(\d)\]")
_PARTED: Final = re.compile(r"\s*,\s*")


def arguments_named(acts: Iterable[Act]) -> dict[str, dict[int, str]]:
    """For each script that was written or told its use in what was done, the names of its arguments by their place."""
    found: dict[str, dict[int, str]] = {}
    for act in acts:
        if isinstance(act, ShellAct):
            for name, body in _scripts(act):
                found.setdefault(name, {}).update(_of_source(body) or _of_remarks(name, body))
        for text in (act.output, *(look.output for look in act.looks)):
            for usage in _USAGE.finditer(text):
                name, words = _command(usage[1])
                found.setdefault(name, _numbered(words))
    return found


def _command(usage: str) -> tuple[str, list[str]]:
    """The program that a usage is of, and the words for its arguments."""
    name, *words = _BRACKETS.sub(" ", usage).split() or [""]
    if tools.INTERPRETING.fullmatch(name) and words:
        name, *words = words
    return name.rpartition("/")[2], words


def _numbered(words: Iterable[str]) -> dict[int, str]:
    names = [word[1] for word in map(_WORD.fullmatch, words) if word]
    return dict(enumerate(names, start=1))


def better_named(slot: Slot, known: Mapping[str, Mapping[int, str]]) -> Slot:
    """A slot with the name that the script gives to its argument, where it has none of its own."""
    name = known.get(slot.program, {}).get(slot.argument) if slot.label in VAGUE | {_INPUT, _OUTPUT} else None
    return replace(slot, label=name) if name else slot


def name_files(act: ShellAct) -> None:
    """Tell the files that a command reads from those that it writes, where it says so."""
    reading = act.reading
    named = [index for index, slot in enumerate(reading.slots) if _is_some_file(slot)]
    lines = [line for line in act.output.splitlines() if _WROTE.search(line)]
    made = [index for index in named if any(_stands_in(reading.slots[index].value, line) for line in lines)]
    reading.writes += [index for index in made if index not in reading.writes]
    if not reading.writes:
        return
    for index in named:
        label = _OUTPUT if index in reading.writes else _INPUT
        reading.slots[index] = replace(reading.slots[index], label=label)
    act.slots = tuple(reading.slots)


def _is_some_file(slot: Slot) -> bool:
    is_argument = bool(slot.argument) and slot.program not in tools.EVERYDAY
    return is_argument and slot.label == "file" and slot.type is VariableType.PATH


def _stands_in(path: str, line: str) -> bool:
    return re.search(rf"(?<![\w./-]){re.escape(path)}(?![\w/-])", line) is not None


def _scripts(act: ShellAct) -> Iterator[tuple[str, str]]:
    """The files that a command writes from what stands in it."""
    for simple in act.commands:
        targets = [redirect.target.text for redirect in simple.redirects if ">" in redirect.operator]
        for heredoc in simple.heredocs:
            yield from ((target.rpartition("/")[2], act.text[heredoc.start : heredoc.end]) for target in targets)


def _of_source(body: str) -> dict[int, str]:
    declared = _DECLARED.findall(body)
    if declared:
        return dict(enumerate(declared, start=1))
    unpacked = _UNPACKED.search(body)
    if unpacked:
        return dict(enumerate(_PARTED.split(unpacked[1].strip(", ")), start=1 if unpacked[2] else 0))
    named = {int(picked[2] or picked[3]): picked[1] for picked in _PICKED.finditer(body)}
    named |= {int(place): name for name, place in _BESIDE.findall(body)}
    for together in _TOGETHER.finditer(body):
        names, places = _PARTED.split(together[1]), _TAKEN.findall(together[2])
        if len(names) == len(places):
            named |= {int(place): name for place, name in zip(places, names, strict=True)}
    return named


def _of_remarks(script: str, body: str) -> dict[int, str]:
    """What a script says of its use: `# usage: push.sh REGION NAME`, or `echo "usage: $0 <region> <name>"`."""
    for usage in _SAYS_USAGE.finditer(body):
        name, words = _command(usage[1])
        if words and (name == script or name.startswith("$")):
            return _numbered(words)
    for remark in _COMMENT.finditer(body):
        name, words = _command(remark[1])
        if name == script and words and all(map(_PLACEHOLDER.fullmatch, words)):
            return _numbered(words)
    return {}
