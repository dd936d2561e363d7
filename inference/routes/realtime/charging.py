"""Charges a session's call: one usage record, once, by the upstream's reports of all its responses."""

from billing.operations import closings
from billing.operations.ledger import Replay
from billing.rules.prices import PriceError
from gateway.core.json.strict import dumps
from gateway.core.telemetry.causes import Cause
from gateway.core.telemetry.observation import Outcome
from inference.metering import observing
from inference.metering.answers import receipt_headers, to_store
from inference.metering.call import Call
from inference.routes.realtime.endings import Ending
from inference.routes.realtime.state import State


async def charge(call: Call, state: State, ending: Ending) -> None:
    """Close the call: charge what was reported, or leave it to review if some usage is unknown."""
    observing.upstream_done(call.observation, ending.cause)
    used = state.tally.reported()
    try:
        cost_microusd = call.cost_microusd(used)
    except PriceError:
        cost_microusd = call.hold_microusd
    if state.is_complete and ending.review_reason not in ("usage_malformed", "internal_error"):
        settlement = closings.settle(
            call.reference,
            cost_microusd=cost_microusd,
            basis="upstream",
            quantities=call.settled_usage_of(used),
            replay=await _receipt(call, min(cost_microusd, call.hold_microusd)),
        )
        await call.close(settlement, Outcome.SETTLED, ending.cause)
        return
    review = closings.review(
        call.reference,
        reason=ending.review_reason or "usage_missing",
        evidence=call.evidence(state.tally.delivered()),
        replay=await _receipt(call, None),
    )
    await call.close(review, Outcome.REVIEW, ending.cause or Cause.BAD_USAGE)


async def _receipt(call: Call, charge_microusd: int | None) -> Replay | None:
    """Build the receipt for repeated handshakes, encrypted."""
    headers = receipt_headers(call.usage_id, call.hold_microusd, charge_microusd)
    body = dumps({"usage_id": call.usage_id, "charge_microusd": charge_microusd})
    return await to_store(Replay(200, list(headers.items()), body), call.usage_id)
