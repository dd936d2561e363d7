"""Upstreams whose own records of calls are looked up."""

from inference.models import Deployment, RawModel, Upstream
from inference.queries.rows import RAW_PREFIX, target_of
from inference.rules.upstream import GENERATIONS, UpstreamTarget


def is_any_looked_up() -> bool:
    """Return whether there is an upstream whose records are looked up."""
    return Upstream.objects.filter(options__looks_up=GENERATIONS).exists()


def looked_up_for(deployment: str) -> UpstreamTarget | None:
    """Return the upstream of a call's deployment, None where it is gone, or its records are not looked up."""
    rows = RawModel.objects if deployment.startswith(RAW_PREFIX) else Deployment.objects
    row = rows.select_related("upstream").filter(pk=deployment.removeprefix(RAW_PREFIX) or 0).first()
    target = target_of(row.upstream) if row else None
    return target if target and target.looks_up else None
