"""Skills of the registry put into a sandbox by request, each with what it requires."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, TypeAlias, TypeVar
from uuid import UUID

from skillyard.delivery.backend_place import BackendPlace, FilesBackend
from skillyard.delivery.registry_bundles import desired_of
from skillyard.delivery.sandbox_place import SKILLS_FOLDER, SandboxPlace, Workspace
from skillyard.delivery.ship import ship
from skillyard.delivery.ship_plan import IN_PLACE, ShipItem, Step
from skillyard.delivery.skills_place import SkillsPlace
from skillyard.errors import NotAllowedError, SkillyardError
from skillyard.identity.principals import Principal
from skillyard.registry.rights import no_skill
from skillyard.registry.service import Registry
from skillyard.registry.shipping import Shipment, SkillRef

LOADED: Final = "loaded"
"""The kind of the origins of what was loaded by request: it stays until the sandbox's workspace goes."""
_log: Final = logging.getLogger(__name__)

SkillsBackend: TypeAlias = Workspace | FilesBackend | SkillsPlace
"""Where skills can be loaded to: a sandbox's session, a backend as deepagents has them, or any place of skills."""
SkillId = TypeVar("SkillId", UUID, str)
PrincipalOf: TypeAlias = Callable[[str | None], Awaitable[Principal]]


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadStatus:
    """What became of one skill. True only when it is in the sandbox with all that it requires."""

    loaded: bool
    reason: str = ""
    """Why not, or what a person should know."""
    folder: str = ""
    digest: str = ""
    version: str = ""
    """Empty for a working copy."""
    step: Step | None = None

    def __bool__(self) -> bool:
        return self.loaded


class SkillSandboxLoader:
    """Loads what a person may see, and nothing else. One skill that cannot be loaded stops no other."""

    SKILLS_BASE_DIR: ClassVar[str] = f"/workspace/{SKILLS_FOLDER}"

    def __init__(
        self, registry: Registry, *, principal: Principal | None = None, principal_of: PrincipalOf | None = None
    ) -> None:
        """`principal` loads when a call names no user; `principal_of` finds the principal of a user, or of no user."""
        self._registry = registry
        self._principal = principal
        self._principal_of = principal_of

    async def load_skill_to_sandbox(
        self, skill_id: UUID | str, backend: SkillsBackend, user_id: str | None = None
    ) -> bool:
        """Load one skill; whether it is there."""
        return bool((await self.load_skills_to_sandbox([str(skill_id)], backend, user_id))[str(skill_id)])

    async def load_skills_to_sandbox(
        self, skill_ids: Sequence[SkillId], backend: SkillsBackend, user_id: str | None = None
    ) -> dict[SkillId, LoadStatus]:
        """Load several skills in one go; for each what became of it. Never raises."""
        refs = {skill_id: SkillRef.of(str(skill_id)) for skill_id in skill_ids}
        try:
            principal = await self._who(user_id)
            found = await self._load(list(refs.values()), principal, backend)
        except SkillyardError as error:
            _log.warning("Skills could not be loaded: %s", error.message)
            return dict.fromkeys(refs, LoadStatus(loaded=False, reason=error.message))
        except Exception as error:  # noqa: BLE001 -- callers are promised a status for every skill
            _log.exception("Skills could not be loaded.")
            reason = f"{type(error).__name__}: {error}"
            return dict.fromkeys(refs, LoadStatus(loaded=False, reason=reason))
        for skill_id, ref in refs.items():
            if not found[ref]:
                _log.warning("The skill %s was not loaded: %s", skill_id, found[ref].reason)
        return {skill_id: found[ref] for skill_id, ref in refs.items()}

    async def _who(self, user_id: str | None) -> Principal:
        if user_id is None and self._principal is not None:
            return self._principal
        if self._principal_of is not None:
            return await self._principal_of(user_id)
        raise NotAllowedError(
            "Nobody is known on whose behalf skills could be loaded.", hint="Give the user whose sandbox it is."
        )

    async def _load(
        self, refs: Sequence[SkillRef], principal: Principal, backend: SkillsBackend
    ) -> Mapping[SkillRef, LoadStatus]:
        shipping = self._registry.shipping
        offers = await shipping.offers(principal, refs)
        shipment = await shipping.resolve_shipment(principal, refs)
        desired = desired_of(shipment, self._registry.bundles, kind=LOADED)
        plan = await ship(_place(backend), desired.bundles, speaks_for=())
        outcome = _Outcome(shipment, plan.items)
        return {
            ref: outcome.status(offers[ref].full_name)
            if ref in offers
            else LoadStatus(loaded=False, reason=no_skill(ref.name).message)
            for ref in refs
        }


def _place(backend: SkillsBackend) -> SkillsPlace:
    if isinstance(backend, SkillsPlace):
        return backend
    return BackendPlace(backend) if isinstance(backend, FilesBackend) else SandboxPlace(backend)


class _Outcome:
    """What became of each skill of a shipment, by its full name."""

    def __init__(self, shipment: Shipment, items: Iterable[ShipItem]) -> None:
        self._items = {item.origin.skill: item for item in items if item.step is not Step.REMOVE}
        self._problems = {problem.skill: problem.message for problem in shipment.problems if not problem.is_warning}
        self._needs: dict[str, list[str]] = {}
        for each in (*shipment.resolution.locked, *shipment.resolution.missing):
            for by in each.required_by:
                self._needs.setdefault(by, []).append(each.name)
        for conflict in shipment.resolution.conflicts:
            for by, _ in conflict.required:
                self._needs.setdefault(by, []).append(conflict.name)

    def status(self, full_name: str) -> LoadStatus:
        own = self._trouble(full_name)
        others = [f"{name}: {trouble}" for name in self._all_needs(full_name) if (trouble := self._trouble(name))]
        reason = own or (f"It is there, but not all that it requires. {' '.join(others)}" if others else "")
        item = self._items.get(full_name)
        if item is None:
            return LoadStatus(loaded=False, reason=reason)
        return LoadStatus(
            loaded=not reason,
            reason=reason or item.reason,
            folder=item.folder,
            digest=item.digest,
            version=item.origin.version,
            step=item.step,
        )

    def _trouble(self, full_name: str) -> str:
        item = self._items.get(full_name)
        if item is None:
            return self._problems.get(full_name) or "It is not there, or not for you."
        return "" if item.step in IN_PLACE else item.reason

    def _all_needs(self, full_name: str) -> list[str]:
        found: dict[str, None] = {}
        waiting = [full_name]
        while waiting:
            for name in self._needs.get(waiting.pop(), ()):
                if name not in found and name != full_name:
                    found[name] = None
                    waiting.append(name)
        return list(found)
