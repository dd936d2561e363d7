"""Dates what an upstream charges for a deployment or a raw model: cost rows are added, never edited."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from billing.operations import costs
from billing.queries.costs import current
from billing.rules.prices import show
from gateway.config.prices import PriceRow, in_order
from gateway.config.run import CREATED, UNCHANGED, Run
from inference.models import Deployment, RawModel
from inference.queries.rows import deployment_id


def set_cost(run: Run, deployment: Deployment | RawModel, cost: PriceRow | None) -> None:
    """Add a version that applies from now on, unless the one in force is the same; without a cost, that it is not known."""
    components = cost.components() if cost else {}
    version = costs.publish(deployment_id(deployment), components, now=run.now)
    if version is None:
        run.add_line(UNCHANGED, f"cost of {deployment}")
    else:
        shown = show(components) or "not known"
        what = f"cost of {deployment} from {version.effective_at:%Y-%m-%d %H:%M:%S} UTC: {shown}"
        run.add_change(CREATED, what, version)


def exported_costs(rows: Sequence[Deployment | RawModel], now: datetime) -> dict[int, dict[str, Any]]:
    """Return the costs in force that are known, by the rows' keys, as a file states them."""
    versions = current([deployment_id(row) for row in rows], now)
    found = {row.pk: versions[deployment_id(row)] for row in rows if deployment_id(row) in versions}
    return {key: in_order(version.components) for key, version in found.items() if version.components}
