"""Converts the failure of an exchange to an outcome, or to the end of a stream."""

import logging
from typing import Any

from gateway.core.contract.errors import ApiError, ModelUnavailable, UpstreamError, UpstreamInvalid, UpstreamTimeout
from gateway.core.outbound.failures import Failure, failure_of
from gateway.core.outbound.redaction import redacted
from gateway.core.runtime.logs import RecurringLog
from inference.adapters.exchange import NotJSONError
from inference.adapters.sse import EventTooLargeError
from inference.interface.upstream import Alarm, Ambiguous, Attempt, Outcome, Rejected, StreamBroken, Unreachable

_log = RecurringLog("inference.adapters", logging.WARNING)

_ERRORS: dict[Failure, type[ApiError]] = {
    Failure.TIMED_OUT: UpstreamTimeout,
    Failure.LOST: UpstreamError,
    Failure.MALFORMED: UpstreamInvalid,
}


def outcome_of_exception(attempt: Attempt[Any], error: Exception) -> Outcome:
    """Return the outcome of a call that raised. Only without a connection is it certain that the upstream accepted
    nothing."""
    match failure_of(error):
        case Failure.MISCONFIGURED:
            cause = _logged(attempt, Failure.MISCONFIGURED, error)
            return Rejected(ModelUnavailable(private=cause), alarm=Alarm(Failure.MISCONFIGURED.value, cause))
        case Failure.NOT_SENT:
            return Unreachable(_logged(attempt, Failure.NOT_SENT, error))
    broken = broken_by(attempt, error)
    return Ambiguous(broken.error, broken.reason)


def broken_by(attempt: Attempt[Any], error: Exception) -> StreamBroken:
    """Build the exception that tells the client and the operator how a sent call ended."""
    if isinstance(error, StreamBroken):
        return error
    failure = Failure.MALFORMED if isinstance(error, NotJSONError | EventTooLargeError) else failure_of(error)
    cause = _logged(attempt, failure, error)
    return StreamBroken(_ERRORS.get(failure, UpstreamError)(private=cause), failure.value)


def _logged(attempt: Attempt[Any], failure: Failure, error: Exception) -> str:
    cause = redacted(f"upstream {attempt.target.name} {failure}: {error!r}", [attempt.target.api_key])
    _log.write(f"{attempt.target.name} {failure} {type(error).__name__}", f"{cause} (call {attempt.call.usage_id})")
    return cause
