"""Finds upstreams by what they support, and by their origin."""

from gateway.core.outbound.distrust import Sign
from inference.interface.model import GENERATIONS, UpstreamTarget
from inference.models import Deployment, RawModel, Upstream
from inference.queries.rows import RAW_PREFIX, target_of


def is_any_looked_up() -> bool:
    """Return whether any upstream supports look-ups of its records."""
    return Upstream.objects.filter(options__looks_up=GENERATIONS).exists()


def looked_up_for(deployment: str) -> UpstreamTarget | None:
    """Return the upstream of a call's deployment, or None if it no longer exists or supports no look-ups."""
    rows = RawModel.objects if deployment.startswith(RAW_PREFIX) else Deployment.objects
    row = rows.select_related("upstream").filter(pk=deployment.removeprefix(RAW_PREFIX) or 0).first()
    target = target_of(row.upstream) if row else None
    return target if target and target.looks_up else None


def of_origin(origin: str) -> list[Upstream]:
    """Return the rows whose calls share this origin's connections."""
    return [row for row in Upstream.objects.exclude(base_url="") if row.origin == origin]


def signs() -> dict[str, Sign]:
    """Return what is known of the origins that have been out of turn. Rows with one origin are judged together."""
    found: dict[str, Sign] = {}
    for row in Upstream.objects.exclude(out_of_turn_at=None):
        assert row.out_of_turn_at is not None
        trusted_at = row.connections_trusted_at.timestamp() if row.connections_trusted_at else 0.0
        known = found.get(row.origin or "", Sign(0.0))
        sign = Sign(max(known.seen_at, row.out_of_turn_at.timestamp()), max(known.trusted_at, trusted_at))
        found[row.origin or ""] = sign
    return found
