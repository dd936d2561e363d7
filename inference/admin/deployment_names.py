"""Names deployments on the console's pages of calls: by upstream and model, or by the upstream alone."""

from collections.abc import Callable, Collection
from typing import Any

from django.db import connection
from django.db.models import Value

from gateway.core.console import row_names
from inference.models import Deployment, RawModel
from inference.queries.rows import RAW_PREFIX, deployment_id


def _named(name: Callable[[Any], str]) -> row_names.Namer:
    """Build a namer of deployments and raw models. One that was removed has no name."""

    def names(deployment_ids: Collection[str]) -> dict[str, str]:
        raw = {each.removeprefix(RAW_PREFIX) for each in deployment_ids if each.startswith(RAW_PREFIX)}
        found: list[Any] = [*_rows(Deployment, set(deployment_ids)), *_rows(RawModel, raw)]
        return {deployment_id(row): name(row) for row in found}

    return names


def _rows(model: Any, keys: Collection[str]) -> Any:
    numbers = [int(key) for key in keys if key.isascii() and key.isdigit() and len(key) < 19]
    return model.objects.select_related("upstream").filter(pk__in=numbers) if numbers else ()


_UPSTREAMS = """
SELECT d.id::text, u.name FROM inference_deployment d JOIN inference_upstream u ON u.id = d.upstream_id
 WHERE d.id::text = ANY(%(ids)s)
UNION ALL
SELECT 'raw:' || r.id, u.name FROM inference_rawmodel r JOIN inference_upstream u ON u.id = r.upstream_id
 WHERE 'raw:' || r.id = ANY(%(ids)s)
"""


def _upstreams(deployment_ids: Collection[str]) -> dict[str, str]:
    """Return the names of the deployments' upstreams, in one statement, because the home page has few."""
    if not deployment_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_UPSTREAMS, {"ids": list(deployment_ids)})
        return dict(cursor.fetchall())


def _by_upstream() -> dict[str, list[str]]:
    """List the ids of deployments and raw models by their upstream's name, in one query."""
    own, raw = (
        model.objects.order_by().values_list(Value(prefix), "pk", "upstream__name")
        for model, prefix in ((Deployment, ""), (RawModel, RAW_PREFIX))
    )
    found = dict[str, list[str]]()
    for prefix, key, upstream in own.union(raw, all=True):
        found.setdefault(upstream, []).append(f"{prefix}{key}")
    return dict(sorted(found.items()))


row_names.register("deployment", _named(lambda row: f"{row.upstream}/{row.model}"))
row_names.register("upstream of deployment", _upstreams)
row_names.register_ids("upstream of deployment", _by_upstream)
