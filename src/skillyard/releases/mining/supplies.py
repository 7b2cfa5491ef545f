"""What commands and code leave behind, and what they need: names of Python, and files."""

from collections.abc import Iterable, Iterator
from typing import Final

from skillyard.releases.mining.acts import Act
from skillyard.releases.mining.python_acts import PythonAct
from skillyard.releases.mining.shell_acts import ShellAct

_MOST: Final = 40
"""Acts that something may need to have been done before it."""


class Supplies:
    """Knows, act after act, who left what."""

    def __init__(self) -> None:
        self._left: dict[tuple[str, str], Act] = {}
        self._suppliers: dict[int, list[Act]] = {}
        self._order: dict[int, int] = {}

    def take(self, act: Act) -> list[Act] | None:
        """What had to be done before an act, which then leaves what it leaves; None if that is too much to tell."""
        wanted = dict.fromkeys(key for key in _needs(act) if key in self._left)
        self._suppliers[id(act)] = list({id(one): one for key in wanted for one in [self._left[key]]}.values())
        self._order[id(act)] = len(self._order)
        self._left.update(dict.fromkeys(_leaves(act), act))
        return self._all_before(act)

    def _all_before(self, act: Act) -> list[Act] | None:
        found: dict[int, Act] = {}
        waiting = list(self._suppliers[id(act)])
        while waiting:
            one = waiting.pop()
            if id(one) not in found:
                found[id(one)] = one
                waiting += self._suppliers[id(one)]
            if len(found) > _MOST:
                return None
        return sorted(found.values(), key=lambda one: self._order[id(one)])


def _needs(act: Act) -> Iterator[tuple[str, str]]:
    if isinstance(act, PythonAct):
        yield from (("name", name) for name in sorted(act.needs))
    yield from (("file", path.rstrip("/")) for path in sorted(_mentioned(act)))


def _leaves(act: Act) -> Iterator[tuple[str, str]]:
    if isinstance(act, PythonAct):
        yield from (("name", name) for name in act.defines)
    yield from (("file", path) for path in _written(act))


def _mentioned(act: Act) -> Iterable[str]:
    """The files that an act speaks of, but those that it makes itself."""
    if isinstance(act, ShellAct):
        scripts = {word for program in act.programs for word in program[:2]}
        anew = [index for index in act.reading.writes if index not in act.reading.appends]
        made = {act.slots[index].value.removeprefix("./") for index in anew}
        return (act.reading.mentions | scripts) - made
    if isinstance(act, PythonAct):
        return act.mentions - {act.slots[index].value.removeprefix("./") for index in act.writes}
    return ()


def _written(act: Act) -> Iterator[str]:
    indices = act.reading.writes if isinstance(act, ShellAct) else act.writes if isinstance(act, PythonAct) else ()
    return (act.slots[index].value.removeprefix("./").rstrip("/") for index in indices)
