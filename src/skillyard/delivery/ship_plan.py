"""What a delivery would do to a place of skills, decided from what is wanted and what is there."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from skillyard.delivery.bundle_source import DesiredBundle, Origin
from skillyard.delivery.manifest import MAX_ENTRIES, Manifest, ManifestEntry
from skillyard.delivery.skills_place import UNREADABLE
from skillyard.skill.folder_names import folder_problem
from skillyard.skill.paths import printable
from skillyard.skill.requires import name_key


class Step(StrEnum):
    ADD = "add"
    CHANGE = "change"
    """Replace what we delivered before by something else."""
    REPAIR = "repair"
    """Write again what we delivered before and somebody changed or a crash interrupted."""
    REMOVE = "remove"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"
    FAILED = "failed"
    """It was to be written, and could not be."""


WRITES: Final = frozenset({Step.ADD, Step.CHANGE, Step.REPAIR})
IN_PLACE: Final = WRITES | {Step.UNCHANGED}


@dataclass(frozen=True, kw_only=True, slots=True)
class ShipItem:
    """What becomes of one folder, or of one skill that wanted it."""

    step: Step
    folder: str
    origin: Origin
    digest: str = ""
    """Of what the folder is to hold."""
    reason: str = ""
    is_there: bool = False
    """Whether something has the name now that must give way."""
    is_ours: bool = True
    """False where a folder of somebody else holds the very same: it counts, but we do not take it over."""
    wanted: DesiredBundle | None = None

    def as_dict(self) -> dict[str, str]:
        return {
            "action": self.step.value,
            "folder": self.folder,
            "digest": self.digest,
            "origin": self.origin.kind,
            "skill": self.origin.skill,
            "version": self.origin.version,
            "reason": self.reason,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class ShipPlan:
    """The steps of a delivery; after it was carried out, what became of them."""

    items: tuple[ShipItem, ...]
    manifest: Manifest
    """As it was found; after the plan was carried out, as it is then."""

    def of(self, *steps: Step) -> tuple[ShipItem, ...]:
        return tuple(item for item in self.items if item.step in steps)

    @property
    def writes(self) -> tuple[ShipItem, ...]:
        return self.of(*WRITES)

    @property
    def in_place(self) -> tuple[ShipItem, ...]:
        """The wanted skills that are there, or will be when the plan is carried out."""
        return self.of(*IN_PLACE)

    @property
    def trouble(self) -> tuple[ShipItem, ...]:
        return self.of(Step.SKIPPED, Step.FAILED)

    def as_dict(self) -> dict[str, object]:
        return {"items": [item.as_dict() for item in self.items]}


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What is in a place."""

    manifest: Manifest
    digests: Mapping[str, str | None]
    """At least of the wanted folders that can be there at all."""
    names: Sequence[str] = ()
    """Of everything there; needed only where something is to be added."""


def nameable(desired: Sequence[DesiredBundle]) -> list[str]:
    """The folders that could be wanted and asked about."""
    return list(dict.fromkeys(each.folder for each in desired if not folder_problem(each.folder)))


def plan_shipping(desired: Sequence[DesiredBundle], seen: Seen, *, speaks_for: Collection[str]) -> ShipPlan:
    """What would be done. Of what we delivered and is wanted no more, only that of the given kinds is taken away."""
    return _Planning(seen, frozenset(speaks_for)).plan(desired)


class _Planning:
    def __init__(self, seen: Seen, speaks_for: frozenset[str]) -> None:
        self._seen = seen
        self._entries = seen.manifest.entries
        self._speaks_for = speaks_for
        self._kept = sum(entry.origin.kind not in speaks_for for entry in self._entries.values())
        self._taken: dict[str, DesiredBundle] = {}
        """By the name as disks may compare it."""

    def plan(self, desired: Sequence[DesiredBundle]) -> ShipPlan:
        chosen = [(each, self._refusal(each)) for each in desired if not self._is_repeated(each)]
        removed = list(self._removed())
        gone = {item.folder for item in removed}
        others = {name_key(name): name for name in self._seen.names if name not in gone}
        items = [_skipped(each, reason) if reason else self._item(each, others) for each, reason in chosen]
        return ShipPlan(items=(*items, *removed), manifest=self._seen.manifest)

    def _is_repeated(self, each: DesiredBundle) -> bool:
        """Whether another source wanted the very same before."""
        first = self._taken.get(name_key(each.folder))
        return first is not None and (first.folder, first.digest) == (each.folder, each.digest)

    def _refusal(self, each: DesiredBundle) -> str:
        """Why a skill cannot have the folder it wants, whatever lies there; else the folder is its own."""
        problem = folder_problem(each.folder)
        if problem:
            return problem
        first = self._taken.setdefault(name_key(each.folder), each)
        if first is not each:
            return f"The folder '{first.folder}' goes to another skill: {first.origin}."
        if len(self._taken) + self._kept > MAX_ENTRIES:
            return f"A place holds at most {MAX_ENTRIES:,} delivered skills."
        return ""

    def _removed(self) -> Iterator[ShipItem]:
        wanted = {each.folder for each in self._taken.values()}
        for folder, entry in self._entries.items():
            if folder not in wanted and entry.origin.kind in self._speaks_for:
                yield ShipItem(step=Step.REMOVE, folder=folder, origin=entry.origin, is_there=True)

    def _item(self, each: DesiredBundle, others: Mapping[str, str]) -> ShipItem:
        there, entry = self._seen.digests.get(each.folder), self._entries.get(each.folder)
        if entry is not None and there is not None and self._belongs_to_others(entry, each):
            if there == each.digest:
                reason = f"The very same is there already: {entry.origin}."
                return _item(each, Step.UNCHANGED, is_there=True, is_ours=False, reason=reason)
            return _skipped(each, f"The folder is delivered as another skill: {entry.origin}.")
        if there == each.digest:
            is_ours = entry is not None or not self._seen.manifest.is_sound
            reason = "" if is_ours else "The very same is there already, and not from us."
            return _item(each, Step.UNCHANGED, is_there=True, is_ours=is_ours, reason=reason)
        if there is not None and entry is None:
            what = "that cannot be looked into" if there == UNREADABLE else "that we did not deliver"
            return _skipped(each, f"There is a '{printable(each.folder)}' {what}; it is left alone.")
        alike = others.get(name_key(each.folder), each.folder)
        if there is None and alike != each.folder:
            return _skipped(each, f"There is a '{printable(alike)}', which is the same name on some disks.")
        if entry is None:
            return _item(each, Step.ADD)
        step = Step.REPAIR if entry.digest == each.digest else Step.CHANGE
        return _item(each, step, is_there=there is not None)

    def _belongs_to_others(self, entry: ManifestEntry, each: DesiredBundle) -> bool:
        return entry.origin.kind not in self._speaks_for and entry.origin.skill != each.origin.skill


def _item(
    each: DesiredBundle, step: Step, *, is_there: bool = False, is_ours: bool = True, reason: str = ""
) -> ShipItem:
    return ShipItem(
        step=step,
        folder=each.folder,
        origin=each.origin,
        digest=each.digest,
        reason=reason,
        is_there=is_there,
        is_ours=is_ours,
        wanted=each,
    )


def _skipped(each: DesiredBundle, reason: str) -> ShipItem:
    return ShipItem(
        step=Step.SKIPPED, folder=each.folder, origin=each.origin, digest=each.digest, reason=reason, wanted=each
    )
