"""Names deployments on the console's pages of calls: the upstream and its model."""

from gateway.core.console import row_names
from inference.models import Deployment, RawModel
from inference.queries.rows import RAW_PREFIX


def deployment_name(deployment_id: str) -> str | None:
    """Return "upstream/model" of a call's deployment, an alias's or a raw model; None if it was removed."""
    is_raw = deployment_id.startswith(RAW_PREFIX)
    key = deployment_id.removeprefix(RAW_PREFIX)
    if not (key.isascii() and key.isdigit()):
        return None
    rows = (RawModel if is_raw else Deployment).objects.select_related("upstream")
    row = rows.filter(pk=int(key)).first()
    return f"{row.upstream}/{row.model}" if row else None


row_names.register("deployment", deployment_name)
