"""Names deployments on the console's pages of calls: by upstream and model, or by the upstream alone."""

from collections.abc import Callable, Collection
from typing import Any

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


row_names.register("deployment", _named(lambda row: f"{row.upstream}/{row.model}"))
row_names.register("upstream of deployment", _named(lambda row: str(row.upstream)))
