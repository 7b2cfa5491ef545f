"""Skills of the registry as something to deliver, each with all that it requires."""

from functools import partial

from skillyard.delivery.bundle_source import Desired, DesiredBundle, Origin, Shortfall
from skillyard.registry.bundles import Bundles
from skillyard.registry.shipping import Shipment, ShippedSkill


def desired_of(shipment: Shipment, bundles: Bundles, *, kind: str) -> Desired:
    """What was worked out for those who may see it; what was asked for comes before what is only required."""
    items = sorted(shipment.items, key=lambda item: bool(item.required_by))
    return Desired(
        bundles=tuple(_bundle(item, bundles, kind) for item in items),
        shortfalls=tuple(
            Shortfall(origin=Origin(kind=kind, skill=problem.skill), reason=problem.message)
            for problem in shipment.problems
            if not problem.is_warning
        ),
    )


def _bundle(item: ShippedSkill, bundles: Bundles, kind: str) -> DesiredBundle:
    return DesiredBundle(
        folder=item.full_name.rpartition("/")[2],
        digest=item.digest,
        origin=Origin(kind=kind, skill=item.full_name, version=item.version or ""),
        load=partial(bundles.load, item.digest),
    )
