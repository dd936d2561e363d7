"""Ends a call that was answered in one piece: the money first, then the client."""

import logging

from billing.operations import closings
from gateway.api.json import dumps
from gateway.contract.errors import ApiError, InternalError
from inference.adapters.base import Outcome
from inference.operations import closing
from inference.operations.answers import JSON_TYPE, STREAM_TYPE, WholeAnswer, kept, receipt_comment, receipt_headers
from inference.operations.call import Call
from inference.rules.outcomes import Charge, GiveBack, Unknown, judge

log = logging.getLogger("inference.calls")

Conclusion = WholeAnswer | ApiError


async def conclude(call: Call, outcome: Outcome) -> Conclusion:
    """Do with the hold what the outcome asks for, and give what the client gets."""
    match _verdict(call, outcome):
        case Charge() as charge:
            return await _charge(call, charge)
        case GiveBack(error=error, reason=reason):
            release = closings.release(owner=call.owner, usage_id=call.usage_id, resolution=reason)
            await closing.close(call.entry, release)
            return error
        case Unknown() as unknown:
            return await _leave_open(call, unknown)


async def give_up(call: Call, error: Exception) -> ApiError:
    """Leave a call to reconciliation whose process stumbled over something that it does not know."""
    log.error("%s: failed unexpectedly", call.usage_id, exc_info=error)
    review = closings.review(
        owner=call.owner, usage_id=call.usage_id, reason="internal_error", deployment=call.deployment_id
    )
    await closing.close(call.entry, review)
    return InternalError()


def _verdict(call: Call, outcome: Outcome) -> Charge | GiveBack | Unknown:
    rules, demand, prices = call.intake.rules, call.demand, call.ready.price.prices
    return judge(outcome, lambda usage: rules.read_usage(usage, demand, prices), bills_errors=call.bills_errors)


async def _charge(call: Call, verdict: Charge) -> WholeAnswer:
    answer = _answer(call, verdict.body, call.charge_microusd(verdict.quantities))
    charged = await closing.settle(call, verdict.quantities, "upstream", kept(answer))
    return answer if charged == call.charge_microusd(verdict.quantities) else _answer(call, verdict.body, charged)


async def _leave_open(call: Call, verdict: Unknown) -> Conclusion:
    answer = _answer(call, verdict.body, None) if verdict.body is not None else None
    review = closings.review(
        owner=call.owner,
        usage_id=call.usage_id,
        reason=verdict.reason,
        replay=kept(answer) if answer else None,
        deployment=call.deployment_id,
    )
    await closing.close(call.entry, review)
    if answer:
        return answer
    assert verdict.error
    return verdict.error


def _answer(call: Call, body: dict[str, object], charge_microusd: int | None) -> WholeAnswer:
    """Render an answer with its receipt; as an event stream where one was asked for."""
    if not call.demand.stream:
        headers = receipt_headers(call.usage_id, call.hold_microusd, charge_microusd)
        return WholeAnswer(200, {"Content-Type": JSON_TYPE, **headers}, dumps(body))
    events = call.intake.rules.as_events(body, call.demand)
    headers = receipt_headers(call.usage_id, call.hold_microusd, None)
    receipt = receipt_comment(call.usage_id, charge_microusd)
    return WholeAnswer(200, {"Content-Type": STREAM_TYPE, **headers}, events + receipt)
