"""Ends a call that was answered in one piece: closes the call first, then answers the client."""

import logging
from collections.abc import Mapping
from typing import Any

from billing.operations import closings
from gateway.core.contract.errors import ApiError, InternalError
from inference.interface.answer import EVENT_STREAM_TYPE, Answer, Content
from inference.interface.upstream import Outcome
from inference.metering import closing
from inference.metering.answers import WholeAnswer, receipt_comment, receipt_headers, replay_of, to_store
from inference.metering.call import Call, stored_or_nothing
from inference.rules.verdicts import Release, Review, Settle, judge

log = logging.getLogger("inference.calls")

Reply = WholeAnswer | ApiError


async def conclude(call: Call, outcome: Outcome) -> Reply:
    """Close the call according to its outcome, and return the reply to the client."""
    verdict = judge(outcome, call.request, call.prices, bills_errors=call.bills_errors)
    match verdict:
        case Settle():
            return await _charge(call, verdict)
        case Release(error=error, reason=reason):
            await closing.deliver(call.entry, closings.release(call.reference, resolution=reason))
            return error
        case Review():
            return await _review(call, verdict)


async def give_up(call: Call, error: Exception) -> ApiError:
    """Leave a call to review after an unexpected error."""
    log.error("%s: failed unexpectedly", call.usage_id, exc_info=error)
    review = closings.review(call.reference, reason="internal_error", evidence=call.record or None)
    await closing.deliver(call.entry, review)
    return InternalError()


async def _charge(call: Call, verdict: Settle) -> WholeAnswer:
    content, expected = call.request.content(verdict.answer), min(verdict.cost_microusd, call.hold_microusd)
    answer = _answer(call, content, expected)
    settlement = closings.settle(
        call.reference,
        cost_microusd=verdict.cost_microusd,
        basis="upstream",
        quantities=verdict.used.counts(),
        stored=_stored(call, verdict.answer),
        replay=await to_store(replay_of(answer), call.usage_id),
        function=call.arrival.route.close_function,
    )
    settled = await closing.deliver(call.entry, settlement)
    charged = settled.charge_microusd if settled else None
    return answer if charged == expected else _answer(call, content, charged)


async def _review(call: Call, verdict: Review) -> Reply:
    content = verdict.reply
    reply = _answer(call, content, None) if isinstance(content, Content) else content
    replay = replay_of(reply) if isinstance(reply, WholeAnswer) else None
    review = closings.review(
        call.reference,
        reason=verdict.reason,
        evidence=call.record or None,
        stored=_stored(call, verdict.answer) if verdict.answer else {},
        replay=await to_store(replay, call.usage_id),
        function=call.arrival.route.close_function,
    )
    await closing.deliver(call.entry, review)
    return reply


def _stored(call: Call, answer: Answer) -> Mapping[str, Any]:
    return stored_or_nothing(call, lambda: call.request.stored(answer))


def _answer(call: Call, content: Content, charge_microusd: int | None) -> WholeAnswer:
    """Render an answer with its receipt: in the headers, or at the end of an event stream."""
    if content.media_type != EVENT_STREAM_TYPE:
        headers = receipt_headers(call.usage_id, call.hold_microusd, charge_microusd)
        return WholeAnswer(200, {"Content-Type": content.media_type, **headers}, content.body)
    headers = receipt_headers(call.usage_id, call.hold_microusd, None)
    receipt = receipt_comment(call.usage_id, charge_microusd)
    return WholeAnswer(200, {"Content-Type": EVENT_STREAM_TYPE, **headers}, content.body + receipt)
