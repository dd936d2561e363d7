"""Dates what an upstream charges for a deployment or a raw model: cost rows are added, never edited."""

from billing.operations import costs
from billing.rules.prices import show
from gateway.config.prices import PriceRow
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
