"""What an upstream's answer means for the money and for the client.

Three things can happen to a hold: a charge is made, all of it is given back, or it stands until somebody knows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from billing.rules.quantities import MalformedUsage, Quantities
from gateway.contract.errors import ApiError, UpstreamError, UpstreamInvalid, UpstreamOverloaded
from inference.adapters.base import Ambiguous, Answer, Failed, Outcome, Overloaded, Rejected, Unreachable
from inference.rules.usage import MissingUsage

ReadUsage = Callable[[Mapping[str, Any]], Quantities]


@dataclass(frozen=True, slots=True)
class Charge:
    """The upstream answered and said what it counted."""

    body: dict[str, Any]
    quantities: Quantities


@dataclass(frozen=True, slots=True)
class GiveBack:
    """The upstream took nothing. `alarm` is for the operator."""

    error: ApiError
    reason: str
    alarm: str | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """Work may have been done: the hold stands. The client gets the answer where there is one, else the error."""

    reason: str
    error: ApiError | None = None
    body: dict[str, Any] | None = None


Verdict = Charge | GiveBack | Unknown


def judge(outcome: Outcome, read_usage: ReadUsage, *, bills_errors: bool) -> Verdict:
    """Decide about a call by its outcome alone. `bills_errors`: an error answer of the upstream may have cost money."""
    match outcome:
        case Answer():
            return _judge_answer(outcome, read_usage)
        case Rejected(error=error, alarm=alarm):
            return GiveBack(error, "rejected", alarm)
        case Overloaded(retry_after=seconds):
            return GiveBack(_overloaded(seconds), "overloaded")
        case Unreachable(cause=cause):
            return GiveBack(UpstreamError(private=cause), "unreachable")
        case Failed(status=status):
            error = UpstreamError(private=f"upstream answered {status}")
            return Unknown("upstream_failed", error) if bills_errors else GiveBack(error, "upstream_failed")
        case Ambiguous(error=error, reason=reason):
            return Unknown(reason, error)


def _judge_answer(answer: Answer, read_usage: ReadUsage) -> Verdict:
    try:
        return Charge(answer.body, read_usage(answer.usage or {}))
    except MissingUsage:
        return Unknown("usage_missing", body={**answer.body, "usage": None})
    except MalformedUsage as malformed:
        return Unknown("usage_malformed", UpstreamInvalid(private=f"usage: {malformed}"))


def _overloaded(seconds: float | None) -> UpstreamOverloaded:
    wait = 1 if seconds is None else min(max(int(seconds + 0.999), 1), 3600)
    return UpstreamOverloaded(headers={"Retry-After": str(wait)})
