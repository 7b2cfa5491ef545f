"""Skills of the registry as something to deliver, each with all that it requires."""

from collections.abc import Collection
from functools import partial

from skillyard.delivery.bundle_source import Desired, DesiredBundle, Origin, Shortfall
from skillyard.registry.bundles import Bundles
from skillyard.registry.shipping import Shipment, ShippedSkill
from skillyard.skill.folder_names import folder_name


def desired_of(shipment: Shipment, bundles: Bundles, *, kind: str, latest: Collection[str] = ()) -> Desired:
    """What was worked out for those who may see it; what was asked for comes before what is only required.

    `latest` are the ids of skills of which nobody asked for a certain version.
    """
    items = sorted(shipment.items, key=lambda item: bool(item.required_by))
    return Desired(
        bundles=tuple(_bundle(item, bundles, kind, latest) for item in items),
        shortfalls=tuple(
            Shortfall(origin=Origin(kind=kind, skill=problem.skill), reason=problem.message)
            for problem in shipment.problems
            if not problem.is_warning
        ),
    )


def _bundle(item: ShippedSkill, bundles: Bundles, kind: str, latest: Collection[str]) -> DesiredBundle:
    return DesiredBundle(
        folder=folder_name(item.full_name.rpartition("/")[2]),
        digest=item.digest,
        origin=Origin(kind=kind, skill=item.full_name, version=item.version or ""),
        load=partial(bundles.load, item.digest),
        latest_of=item.skill_id if item.skill_id in latest else "",
    )
