"""Ends a call that was answered in one piece: closes the call first, then answers the client."""

import logging
from functools import partial

from billing.operations import closings
from gateway.core.contract.errors import ApiError, InternalError
from gateway.core.telemetry.causes import Cause
from gateway.core.telemetry.observation import Outcome as Ending
from inference.interface.answer import Content
from inference.interface.upstream import Outcome
from inference.metering import observing
from inference.metering.answers import WholeAnswer, replay_of, stored_or_nothing, to_store, whole_answer
from inference.metering.call import Call
from inference.rules.causes import cause_of
from inference.rules.verdicts import Release, Review, Settle, judge

log = logging.getLogger("inference.calls")

Reply = WholeAnswer | ApiError


async def conclude(call: Call, outcome: Outcome) -> Reply:
    """Close the call according to its outcome, and return the reply to the client."""
    observing.upstream_done(call.observation)
    verdict = judge(outcome, call.request, call.prices, bills_errors=call.bills_errors)
    match verdict:
        case Settle():
            return await _charge(call, verdict)
        case Release(error=error, cause=cause):
            await call.close(closings.release(call.reference, resolution=cause), Ending.RELEASED, cause)
            return error
        case Review():
            return await _leave_to_review(call, verdict, cause_of(outcome) or Cause.BAD_USAGE.value)


async def give_up(call: Call, error: Exception) -> ApiError:
    """Leave a call to review after an unexpected error."""
    log.error("%s: failed unexpectedly", call.usage_id, exc_info=error)
    review = closings.review(call.reference, reason="internal_error", evidence=call.record())
    await call.close(review, Ending.REVIEW, Cause.INTERNAL_ERROR.value)
    return InternalError()


async def _charge(call: Call, verdict: Settle) -> WholeAnswer:
    content, expected = call.request.content(verdict.answer), min(verdict.cost_microusd, call.hold_microusd)
    answer = whole_answer(content, call.usage_id, call.hold_microusd, expected)
    settlement = closings.settle(
        call.reference,
        cost_microusd=verdict.cost_microusd,
        basis="upstream",
        stored=stored_or_nothing(call.usage_id, partial(call.request.stored, verdict.answer)),
        replay=await to_store(replay_of(answer), call.usage_id),
        quantities=call.settled_usage_of(verdict.used),
        function=call.arrival.route.close_function,
    )
    call.report_unpriced(verdict.used)
    call.arrival.limits.use((verdict.used.input_tokens or 0) + (verdict.used.output_tokens or 0))
    settled = await call.close(settlement, Ending.SETTLED)
    charged = settled.charge_microusd if settled else None
    return answer if charged == expected else whole_answer(content, call.usage_id, call.hold_microusd, charged)


async def _leave_to_review(call: Call, verdict: Review, cause: str) -> Reply:
    content, upstream_answer = verdict.reply, verdict.answer
    if isinstance(content, Content):
        reply: Reply = whole_answer(content, call.usage_id, call.hold_microusd, None)
    else:
        reply = content
    replay = replay_of(reply) if isinstance(reply, WholeAnswer) else None
    stored = partial(call.request.stored, upstream_answer) if upstream_answer else dict
    review = closings.review(
        call.reference,
        reason=verdict.reason,
        evidence=call.record(),
        stored=stored_or_nothing(call.usage_id, stored),
        replay=await to_store(replay, call.usage_id),
        function=call.arrival.route.close_function,
    )
    await call.close(review, Ending.REVIEW, cause)
    return reply
