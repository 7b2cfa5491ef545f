"""Units: the parts of a session that may be a task, or a part of one. Each can be done again from its beginning."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from skillyard.releases.mining.acts import Act, Look
from skillyard.releases.mining.addresses import address_form, origin_of, same_page
from skillyard.releases.mining.browser_acts import BrowserAct
from skillyard.releases.mining.form_parts import parts_of, rounds_in
from skillyard.releases.mining.loops import Loop, loop_in
from skillyard.releases.mining.python_acts import PythonAct
from skillyard.releases.mining.reading import Break, Event, Failure
from skillyard.releases.mining.returns import without_last_returns, without_returns
from skillyard.releases.mining.shell_acts import ShellAct
from skillyard.releases.mining.signing_in import end_of_sign_in, leaves
from skillyard.releases.mining.supplies import Supplies
from skillyard.releases.mining.tidying import tidied


@dataclass(kw_only=True, eq=False, slots=True)
class Unit:
    """Acts that belong together, from where they can be begun."""

    acts: list[Act]
    before: list[Act] = field(default_factory=list[Act])
    """What must have been done, but is no part of it: files that it uses, names that it needs."""
    is_whole: bool = True
    """Whether all is known that must have been done."""
    only_signs_in: bool = False
    life: int = 0
    """Which life of the sandbox."""

    @property
    def is_browser(self) -> bool:
        return isinstance(self.acts[0], BrowserAct)

    @property
    def origin(self) -> str:
        first = self.acts[0]
        return origin_of(first.values[0]) if isinstance(first, BrowserAct) and first.verb == "open" else ""

    @property
    def weight(self) -> int:
        return sum(act.weight for act in self.acts)

    @property
    def learn(self) -> bool:
        return all(act.learn for act in self.acts)

    @property
    def forms(self) -> list[str]:
        """What it is, whatever the values, in an order that is the same for the same task."""
        return [form for form, _ in ordered(self.acts)]


def ordered(acts: Iterable[Act]) -> list[tuple[str, Act]]:
    """Acts with their forms; what is entered into one form of a page in one order, in whatever it was entered."""
    found: list[tuple[str, Act]] = []
    entries: list[tuple[str, Act]] = []
    typed: list[str] = []
    for act in acts:
        form = act.form(typed)
        if act.is_entry:
            entries.append((form, act))
        else:
            found += [*sorted(entries, key=lambda pair: pair[0]), (form, act)]
            entries = []
        typed += act.entered
    return [*found, *sorted(entries, key=lambda pair: pair[0])]


def units_of(events: Iterable[Event]) -> tuple[list[Unit], list[Failure]]:
    """The units of a session in their order, and what failed in it."""
    failures: list[Failure] = []
    units: list[Unit] = []
    for life, acts in enumerate(_lives(events, failures)):
        units += [*_Units(tidied(acts), life).all()]
    return units, failures


def acts_of(events: Iterable[Event]) -> list[Act]:
    """All that was done in a session, what only shows something too; from where the browser was at the beginning."""
    shown = (_as_act(event) if isinstance(event, Look) else event for event in events)
    acts = [act for life in _lives(shown, []) for act in tidied(life)]
    first = next((index for index, act in enumerate(acts) if isinstance(act, BrowserAct)), None)
    if first is not None:
        acts[first:first] = _start_of(acts[first])
    return acts


def _as_act(look: Look) -> Event:
    if look.verb == "shell":
        return ShellAct(execution_id=look.execution_id, text=look.text, output=look.output)
    if look.verb == "python":
        return PythonAct(execution_id=look.execution_id, code=look.text, output=look.output)
    return look


def _start_of(act: Act) -> list[BrowserAct]:
    """Opening the page that something was done on, where that was not done before it."""
    if not isinstance(act, BrowserAct) or act.verb == "open" or not origin_of(act.before):
        return []
    values = (act.before,)
    return [BrowserAct(execution_id=act.execution_id, verb="open", values=values, after=act.before, learn=act.learn)]


def _lives(events: Iterable[Event], failures: list[Failure]) -> Iterator[list[Act]]:
    """The acts of each life of a sandbox, with the looks that followed each."""
    acts: list[Act] = []
    for event in events:
        match event:
            case Break():
                yield acts
                acts = []
            case Failure():
                failures.append(event)
            case Look():
                if acts:
                    acts[-1].looks.append(event)
            case Act():
                acts.append(event)
    yield acts


class _Units:
    """Splits the acts of one life."""

    def __init__(self, acts: Sequence[Act], life: int) -> None:
        self._acts = acts
        self._life = life
        self._supplies = Supplies()
        self._signed_in: dict[str, list[Act]] = {}
        """By origin, what was done to be let in."""

    def all(self) -> list[Unit]:
        units: list[Unit] = []
        for acts in self._pieces():
            if isinstance(acts[0], BrowserAct):
                units += self._of_browser(acts, units)
            else:
                before = self._supplies.take(acts[0])
                units.append(Unit(acts=acts, before=before or [], is_whole=before is not None, life=self._life))
        used = {id(act) for unit in units if not unit.only_signs_in for act in unit.acts}
        return [unit for unit in units if not (unit.only_signs_in and id(unit.acts[-1]) in used)]

    def _pieces(self) -> Iterator[list[Act]]:
        """What is done in the browser from one opened page on; every other act by itself."""
        piece: list[Act] = []
        for act in self._acts:
            if isinstance(act, BrowserAct) and act.verb != "open" and piece and isinstance(piece[0], BrowserAct):
                piece.append(act)
                continue
            if piece:
                yield piece
            piece = [act]
        if piece:
            yield piece

    def _of_browser(self, acts: list[Act], units: list[Unit]) -> Iterator[Unit]:
        browser = [act for act in acts if isinstance(act, BrowserAct)]
        closing = next((index for index, act in enumerate(browser) if act.verb == "close"), None)
        if closing is not None:
            browser = browser[:closing]
        if browser and browser[0].verb != "open":
            browser = [*self._start(browser[0], units), *browser]
        if browser:
            yield from self._opened(browser, units)
        if closing is not None:
            self._signed_in.clear()

    def _start(self, act: BrowserAct, units: list[Unit]) -> list[BrowserAct]:
        """How the page was reached on which something was done: what was done there before, or its address."""
        if units and self._life == units[-1].life:
            earlier = next((unit for unit in reversed(units) if unit.is_browser), None)
            if earlier is not None:
                return [act for act in earlier.acts if isinstance(act, BrowserAct)]
        return _start_of(act)

    def _opened(self, acts: list[BrowserAct], units: list[Unit]) -> Iterator[Unit]:
        origin = origin_of(acts[0].values[0]) if acts[0].verb == "open" else ""
        if not any(act.weight for act in acts):
            self._looked_again(acts, origin, units)
            return
        end = end_of_sign_in(acts, known=origin in self._signed_in)
        if end:
            self._signed_in[origin] = list(acts[:end])
        elif origin in self._signed_in:
            end = len(self._signed_in[origin])
            acts = self._after_sign_in(acts, origin)
        leaving = next((index for index, act in enumerate(acts) if leaves(act)), None)
        if leaving is not None:
            self._signed_in.pop(origin, None)
            acts = acts[:leaving] if any(act.weight for act in acts[end:leaving]) else acts
        yield from self._repeated(acts, end)

    def _after_sign_in(self, acts: list[BrowserAct], origin: str) -> list[BrowserAct]:
        """The same with what let one in; without opening once more the page where that begins or leads."""
        before = [act for act in self._signed_in[origin] if isinstance(act, BrowserAct)]
        again = same_page(acts[0].values[0], before[0].values[0]) or same_page(acts[0].values[0], before[-1].after)
        again = again or same_page(acts[0].after, before[-1].after)
        return [*before, *(acts[1:] if again else acts)]

    def _repeated(self, acts: list[BrowserAct], signed_in: int) -> Iterator[Unit]:
        """Each time that something was done again on the same page is a unit of its own."""
        lead, rest = acts[:signed_in], acts[signed_in:]
        onward = without_returns(rest, lead)
        loop = loop_in([form for form, _ in ordered(onward)])
        if loop is None or loop.end < len(onward):
            loop = _loop_over_things(onward)
        if loop is None or loop.end < len(onward):
            rounds = list(_rounds(onward))
            if rounds:
                yield from (Unit(acts=[*lead, *one], life=self._life) for one in rounds)
                return
            onward = without_last_returns(rest, lead)
            loop = loop_in([form for form, _ in ordered(onward)])
        if loop is None:
            yield Unit(acts=[*lead, *onward], only_signs_in=bool(signed_in) and not onward, life=self._life)
            return
        in_order = [act for _, act in ordered(onward)]
        for time in range(loop.times):
            first = loop.start + time * loop.length
            body = {id(act) for act in (*in_order[: loop.start], *in_order[first : first + loop.length])}
            yield Unit(acts=[*lead, *(act for act in onward if id(act) in body)], life=self._life)

    def _looked_again(self, acts: list[BrowserAct], origin: str, units: list[Unit]) -> None:
        """A page that was only looked at: to see what came of what was done before."""
        if units and units[-1].is_browser and units[-1].origin == origin and units[-1].life == self._life:
            last = units[-1].acts[-1]
            for act in acts:
                if act.verb == "open":
                    last.looks.append(
                        Look(
                            verb="open",
                            text=act.step([None] * len(act.slots), "").text,
                            output=act.output,
                            execution_id=act.execution_id,
                            kept=True,
                            address=act.after,
                        )
                    )
                last.looks += act.looks


def _rounds(acts: Sequence[BrowserAct]) -> Iterator[list[BrowserAct]]:
    """Each time that forms were filled in, with what leads to them, where not all fields were filled in each time."""
    parts = parts_of(acts)
    found = rounds_in(parts) if parts else None
    if parts is None or found is None:
        return
    ends = [0, *(part.at + 1 for part in parts[:-1])]
    for time in range(found.times):
        first = found.start + time * found.length
        yield [*acts[: ends[found.start]], *acts[ends[first] : ends[first + found.length]]]


def _loop_over_things(acts: Sequence[BrowserAct]) -> Loop | None:
    """The same done with one thing of a list after the other, each known by its name and with a form of its own."""
    done = ordered(acts)
    loop = loop_in([kind_of_thing(act) or form for form, act in done])
    if loop is None or not any(act.is_entry for _, act in done[loop.start : loop.start + loop.length]):
        return None
    return loop


def kind_of_thing(act: Act) -> str:
    """What a thing of a list is one of, by its page; empty for what is none."""
    if not isinstance(act, BrowserAct) or act.verb != "click" or not any(slot.listed for slot in act.slots):
        return ""
    return f"{act.skeleton()} {address_form(act.after)}" if act.after and act.after != act.before else ""
