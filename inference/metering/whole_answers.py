"""Ends a call that was answered in one piece: closes the call first, then answers the client."""

import logging
from collections.abc import Mapping
from typing import Any

from billing.operations import closings
from gateway.core.contract.errors import ApiError, InternalError
from inference.interface.answer import EVENT_STREAM_TYPE, Answer, Content
from inference.interface.upstream import Outcome
from inference.metering import closing
from inference.metering.answers import WholeAnswer, receipt_comment, receipt_headers, replay_of
from inference.metering.call import Call, stored_or_nothing
from inference.rules.verdicts import Release, Review, Settle, judge

log = logging.getLogger("inference.calls")

Reply = WholeAnswer | ApiError


async def conclude(call: Call, outcome: Outcome) -> Reply:
    """Close the call according to its outcome, and return the reply to the client."""
    verdict = judge(outcome, call.checked.request, call.checked.price.prices, bills_errors=call.bills_errors)
    match verdict:
        case Settle():
            return await _settle(call, verdict)
        case Release(error=error, reason=reason):
            await closing.close(call.entry, closings.release(call.reference, resolution=reason))
            return error
        case Review():
            return await _review(call, verdict)


async def give_up(call: Call, error: Exception) -> ApiError:
    """Leave a call to review after an unexpected error."""
    log.error("%s: failed unexpectedly", call.usage_id, exc_info=error)
    review = closings.review(call.reference, reason="internal_error", evidence=call.record or None)
    await closing.close(call.entry, review)
    return InternalError()


async def _settle(call: Call, verdict: Settle) -> WholeAnswer:
    request = call.checked.request
    content, expected = request.content(verdict.answer), min(verdict.cost_microusd, call.hold_microusd)
    answer = _answer(call, content, expected)
    extra = _stored(call, verdict.answer)
    charged = await closing.settle(call, verdict.used, verdict.cost_microusd, "upstream", replay_of(answer), extra)
    return answer if charged == expected else _answer(call, content, charged)


async def _review(call: Call, verdict: Review) -> Reply:
    content = verdict.reply
    reply = _answer(call, content, None) if isinstance(content, Content) else content
    replay = replay_of(reply) if isinstance(reply, WholeAnswer) else None
    extra = _stored(call, verdict.answer) if verdict.answer else {}
    await closing.review(call, verdict.reason, evidence=call.record or None, replay=replay, stored=extra)
    return reply


def _stored(call: Call, answer: Answer) -> Mapping[str, Any]:
    return stored_or_nothing(call, lambda: call.checked.request.stored(answer))


def _answer(call: Call, content: Content, charge_microusd: int | None) -> WholeAnswer:
    """Render an answer with its receipt: in the headers, or at the end of an event stream."""
    if content.media_type != EVENT_STREAM_TYPE:
        headers = receipt_headers(call.usage_id, call.hold_microusd, charge_microusd)
        return WholeAnswer(200, {"Content-Type": content.media_type, **headers}, content.body)
    headers = receipt_headers(call.usage_id, call.hold_microusd, None)
    receipt = receipt_comment(call.usage_id, charge_microusd)
    return WholeAnswer(200, {"Content-Type": EVENT_STREAM_TYPE, **headers}, content.body + receipt)
