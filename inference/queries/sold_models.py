"""Reads the models for sale, with the deployments that a catalogue of prices is compared with."""

from urllib.parse import urlsplit

from django.db.models import Prefetch

from inference.models import Alias, Deployment, RawModel, Upstream
from inference.queries.rows import deployment_id
from inference.rules.price_matching import Sold, Way


def sold_models() -> list[Sold]:
    """Return the aliases and raw models, each with its enabled deployments, by name."""
    enabled = Deployment.objects.filter(enabled=True).select_related("upstream").order_by("priority", "pk")
    aliases = Alias.objects.prefetch_related(Prefetch("deployments", enabled))
    raw_models = RawModel.objects.select_related("upstream")
    found = [Sold(alias.name, tuple(_way(row, row.upstream) for row in alias.deployments.all())) for alias in aliases]
    found += [Sold(raw.model, (_way(raw, raw.upstream),)) for raw in raw_models]
    return sorted(found, key=lambda sold: sold.name)


def upstreams_at(host: str) -> frozenset[str]:
    """Return the names of the upstreams whose address has this host."""
    return frozenset(row.name for row in Upstream.objects.exclude(base_url="") if _host(row) == host)


def known_upstreams() -> frozenset[str]:
    """Return the names of all upstreams."""
    return frozenset(Upstream.objects.values_list("name", flat=True))


def _way(row: Deployment | RawModel, upstream: Upstream) -> Way:
    return Way(upstream.name, _host(upstream), row.model, deployment_id(row))


def _host(upstream: Upstream) -> str:
    try:
        return urlsplit(upstream.base_url).hostname or ""
    except ValueError:
        return ""
