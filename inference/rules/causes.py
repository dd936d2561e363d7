"""Names why a call failed or ended early, by its outcome alone: a word for the ledger and for telemetry."""

from typing import assert_never

from gateway.core.telemetry.causes import Cause, of_status
from inference.interface.answer import Answer
from inference.interface.upstream import Ambiguous, Failed, Outcome, Overloaded, Rejected, Unreachable

_OF_ALARMS = {"no deployment": Cause.NO_DEPLOYMENT}

_OF_REASONS = {
    "connection lost": Cause.CONNECTION,
    "lost": Cause.CONNECTION,
    "malformed": Cause.BAD_ANSWER,
    "failed in part": Cause.FAILED_IN_PART,
    "usage_missing": Cause.BAD_USAGE,
    "usage_malformed": Cause.BAD_USAGE,
    "internal_error": Cause.INTERNAL_ERROR,
    "misconfigured": Cause.MISCONFIGURED,
    "not sent": Cause.CONNECTION,
}


def cause_of(outcome: Outcome) -> str:
    """Return why an attempt failed, "" for an answer. An answer whose usage cannot be charged is none of its outcome's."""
    match outcome:
        case Answer():
            return ""
        case Rejected():
            return _of_refusal(outcome)
        case Overloaded(status=status):
            return of_status(429) if status == 429 else Cause.OVERLOADED.value
        case Unreachable(is_late=is_late):
            return (Cause.TIMEOUT_CONNECT if is_late else Cause.CONNECTION).value
        case Failed(status=status):
            return of_status(status)
        case Ambiguous(reason=reason):
            return of_reason(reason, has_begun=False)
    assert_never(outcome)


def of_reason(reason: str, *, has_begun: bool) -> str:
    """Return the word for the reason of a review, or of a stream's break; `has_begun`: after its first event."""
    if reason == "timed out":
        return (Cause.TIMEOUT_IDLE if has_begun else Cause.TIMEOUT_FIRST_BYTE).value
    return _OF_REASONS.get(reason, Cause.BROKEN_OFF).value


def _of_refusal(refused: Rejected) -> str:
    if refused.status is not None:
        return of_status(refused.status)
    if refused.alarm is not None:
        return _OF_ALARMS.get(refused.alarm.cause, Cause.MISCONFIGURED).value
    # Of a backend within the gateway, which refuses as an upstream would.
    return of_status(refused.error.status) if refused.error.status < 500 else Cause.MISCONFIGURED.value
