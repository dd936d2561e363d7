"""Decides from an upstream's outcome about the hold and the client's response.

A hold is settled, released, or stays for review until the outcome is known.
"""

from billing.rules.cost import cost_microusd
from billing.rules.prices import PriceError, PriceList
from billing.rules.quantities import MalformedUsage, Quantities
from gateway.core.contract.errors import ApiError, UpstreamError, UpstreamInvalid, UpstreamOverloaded
from gateway.core.contract.values import value_class
from inference.interface.answer import Answer, Content
from inference.interface.request import BoundedRequest
from inference.interface.upstream import Ambiguous, Failed, Outcome, Overloaded, Rejected, Unreachable
from inference.rules.causes import cause_of
from inference.rules.usage import MissingUsage


@value_class(frozen=True, slots=True)
class Settle:
    """The upstream responded, and its usage is known and has a price."""

    answer: Answer
    used: Quantities
    cost_microusd: int


@value_class(frozen=True, slots=True)
class Release:
    """The call cost nothing. `cause` is why, in a word that the ledger keeps."""

    error: ApiError
    cause: str


@value_class(frozen=True, slots=True)
class Review:
    """The call may have cost money, so the hold stays. The client gets the response if there is one, otherwise the
    error."""

    reason: str
    reply: ApiError | Content
    answer: Answer | None = None


Verdict = Settle | Release | Review


def judge(outcome: Outcome, request: BoundedRequest, prices: PriceList, *, bills_errors: bool) -> Verdict:
    """Decide about a call by nothing but its outcome. `bills_errors`: an error response of the upstream may have cost
    money."""
    match outcome:
        case Answer():
            return _judge_answer(outcome, request, prices)
        case Rejected(error=error):
            return Release(error, cause_of(outcome))
        case Overloaded(retry_after=seconds, cause=cause):
            return Release(_overloaded(seconds, cause), cause_of(outcome))
        case Unreachable(cause=cause):
            return Release(UpstreamError(private=cause), cause_of(outcome))
        case Failed(cause=cause):
            error = UpstreamError(private=cause)
            return Review("upstream_failed", error) if bills_errors else Release(error, cause_of(outcome))
        case Ambiguous(error=error, reason=reason):
            return Review(reason, error)


def _judge_answer(answer: Answer, request: BoundedRequest, prices: PriceList) -> Verdict:
    try:
        used = request.usage(answer)
        return Settle(answer, used, cost_microusd(used, prices))
    except MissingUsage:
        return Review("usage_missing", request.content(answer, usage_is_known=False), answer)
    except (MalformedUsage, PriceError) as malformed:
        return Review("usage_malformed", UpstreamInvalid(private=f"usage: {malformed}"))


def _overloaded(seconds: float | None, cause: str | None) -> UpstreamOverloaded:
    wait = 1 if seconds is None else min(max(int(seconds + 0.999), 1), 3600)
    return UpstreamOverloaded(headers={"Retry-After": str(wait)}, private=cause)
