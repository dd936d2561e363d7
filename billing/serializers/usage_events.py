"""Wire format of the events of calls: the usage record, with the account that made the call."""

from typing import Any

from billing.queries import usage
from billing.serializers.usage import QUANTITIES, render_call
from gateway.core.events.models import Event


def render_usage_event(event: Event) -> dict[str, Any]:
    """Render the call as what happened left it: one that was left to review may be settled by now."""
    call = usage.one(event.data["usageId"])
    record = {"did": call.actor_did, **render_call(call)}
    if event.type != "usage.reconciling":
        return record
    undecided = {"status": "reconciling", "heldMicrousd": call.hold_microusd, "chargedMicrousd": 0, "settledAt": None}
    return {**record, **dict.fromkeys(QUANTITIES), **undecided}
