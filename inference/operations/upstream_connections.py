"""Allows the connections of an upstream that was out of turn to be reused."""

from datetime import datetime

from inference.models import Upstream
from inference.queries.upstreams import of_origin


def reuse(upstream_id: int, *, now: datetime) -> Upstream:
    """Allow it for all upstreams with the same origin, because they share connections. Every process follows within 15 s.
    What the origin does from `now` on counts again."""
    upstream = Upstream.objects.get(pk=upstream_id)
    rows = of_origin(upstream.origin or "") or [upstream]
    Upstream.objects.filter(pk__in=[row.pk for row in rows]).update(connections_trusted_at=now)
    return upstream
