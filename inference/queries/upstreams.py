"""Finds upstreams that support looking up their records of calls."""

from inference.models import Deployment, RawModel, Upstream
from inference.queries.rows import RAW_PREFIX, target_of
from inference.rules.upstream import GENERATIONS, UpstreamTarget


def is_any_looked_up() -> bool:
    """Return whether any upstream supports look-ups of its records."""
    return Upstream.objects.filter(options__looks_up=GENERATIONS).exists()


def looked_up_for(deployment: str) -> UpstreamTarget | None:
    """Return the upstream of a call's deployment, or None if it no longer exists or supports no look-ups."""
    rows = RawModel.objects if deployment.startswith(RAW_PREFIX) else Deployment.objects
    row = rows.select_related("upstream").filter(pk=deployment.removeprefix(RAW_PREFIX) or 0).first()
    target = target_of(row.upstream) if row else None
    return target if target and target.looks_up else None
