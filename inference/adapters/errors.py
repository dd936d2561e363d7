"""Converts an upstream's error response, or the failure of an exchange, to an outcome with the gateway's own messages."""

import logging
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from gateway.core.contract.errors import (
    ApiError,
    InputTooLarge,
    InvalidRequest,
    ModelUnavailable,
    UpstreamError,
    UpstreamInvalid,
    UpstreamTimeout,
)
from gateway.core.outbound.failures import Failure, failure_of, is_late_connection
from gateway.core.outbound.redaction import redacted
from gateway.core.runtime.logs import RecurringLog
from inference.adapters.error_codes import (
    MESSAGES_CODE,
    OUT_OF_CREDIT_WORDS,
    OUT_OF_QUOTA_CODES,
    OVERLOAD_CODES,
    OVERLOAD_WORDS,
    PARAMS,
    TEXT_OF_CODE,
    TOO_LONG_WORDS,
)
from inference.adapters.exchange import NotJSONError, Refusal
from inference.adapters.sse import EventTooLargeError
from inference.interface.upstream import (
    Alarm,
    Ambiguous,
    Attempt,
    Failed,
    Outcome,
    Overloaded,
    Rejected,
    StreamBroken,
    Unreachable,
)

_PARAM = re.compile(r"([A-Za-z_]\w{0,63})(?:\.\w{1,64}|\[\d{1,6}\]){0,8}", re.ASCII)
_RETRY_AFTER_MAX_SECONDS = 3600.0

_log = RecurringLog("inference.adapters", logging.WARNING)

_ERRORS: dict[Failure, type[ApiError]] = {
    Failure.TIMED_OUT: UpstreamTimeout,
    Failure.LOST: UpstreamError,
    Failure.MALFORMED: UpstreamInvalid,
}


def outcome_of(attempt: Attempt[Any], refusal: Refusal) -> Outcome:
    """Return the outcome of a complete response that is not a 2xx."""
    error = error_object(refusal.body)
    match refusal.status:
        case 400 if OUT_OF_CREDIT_WORDS.match(str(error.get("message"))):
            return _unavailable(attempt, refusal)
        case 400 | 422:
            return Rejected(_invalid_request(attempt, error), status=refusal.status)
        case 413:
            return Rejected(InputTooLarge(private=describe(attempt, refusal)), status=refusal.status)
        case 401 | 403 | 404:
            return _unavailable(attempt, refusal)
        case 429:
            return _overloaded(attempt, refusal, error, _quota_alarm(attempt, refusal))
        case 529 if attempt.target.has_messages:
            return _overloaded(attempt, refusal, error)
        case 503 if _says_overloaded(error) or "Retry-After" in refusal.headers:
            return _overloaded(attempt, refusal, error)
    # A redirect or an unpaid bill persists until an operator acts.
    needs_operator = refusal.status < 400 or refusal.status in {402, 407}
    return Failed(refusal.status, _alarm(attempt, refusal) if needs_operator else None, describe(attempt, refusal))


def _overloaded(
    attempt: Attempt[Any], refusal: Refusal, error: Mapping[str, Any], alarm: Alarm | None = None
) -> Overloaded:
    seconds, cause = retry_after(refusal.headers), describe(attempt, refusal)
    return Overloaded(seconds, alarm, cause, is_explicit=_says_overloaded(error), status=refusal.status)


def _unavailable(attempt: Attempt[Any], refusal: Refusal) -> Rejected:
    alarm = _alarm(attempt, refusal)
    return Rejected(ModelUnavailable(private=alarm.text), alarm=alarm, status=refusal.status)


def _alarm(attempt: Attempt[Any], refusal: Refusal) -> Alarm:
    return Alarm(str(refusal.status), describe(attempt, refusal))


def _quota_alarm(attempt: Attempt[Any], refusal: Refusal) -> Alarm | None:
    """Return an alarm if the account at the upstream is out of quota, which a retry cannot fix; else None."""
    return _alarm(attempt, refusal) if _code(error_object(refusal.body)) in OUT_OF_QUOTA_CODES else None


def error_object(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the error in a body: the member `error`, as in the vendor's API, or the body itself, as some servers send it."""
    error = body.get("error", body)
    return error if isinstance(error, Mapping) else {"message": error}


class OverloadedAtOnce(StreamBroken):
    """A stream whose first event says that the upstream is overloaded, so that it has accepted nothing."""

    def __init__(self, broken: StreamBroken) -> None:
        super().__init__(broken.error, broken.reason)
        self.outcome = Overloaded(cause=broken.error.private, is_explicit=True)


def broken_by_event(attempt: Attempt[Any], event: Mapping[str, Any], *, is_first: bool = False) -> StreamBroken:
    """Build the exception for a stream that its upstream broke off with an error event: `OverloadedAtOnce` if that is the first
    one and names an overload."""
    error = error_object(event)
    names = (error.get("type"), error.get("code"))
    return broken_off(attempt, f"{names[0]} {names[1]} {error.get('message')}", names if is_first else ())


def broken_off(attempt: Attempt[Any], text: str, first_names: Iterable[Any] = ()) -> StreamBroken:
    """Build the exception for a stream that its upstream broke off with the message `text`, which is only logged. `first_names` are
    the names of the error if it is the stream's first event."""
    private = redacted(text, [attempt.target.api_key])
    broken = StreamBroken(UpstreamError(private=private), "the upstream broke its stream off with an error")
    return OverloadedAtOnce(broken) if _name_overload(first_names) else broken


def describe(attempt: Attempt[Any], refusal: Refusal) -> str:
    """Return an upstream's error as one line for the log, without secrets."""
    error = error_object(refusal.body)
    text = " ".join(str(error[name]) for name in ("type", "code", "message") if error.get(name))
    line = f"upstream {attempt.target.name} answered {refusal.status} for {attempt.upstream_model}: {text or 'nothing'}"
    return redacted(line, [attempt.target.api_key])


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the Retry-After header in seconds (RFC 9110 section 10.2.3: seconds or a date), or None."""
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), _RETRY_AFTER_MAX_SECONDS)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    seconds = (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return min(max(seconds, 0.0), _RETRY_AFTER_MAX_SECONDS)


def _invalid_request(attempt: Attempt[Any], error: Mapping[str, Any]) -> ApiError:
    """Keep a recognised code and the parameter at fault. The message is ours, because the upstream's may contain anything."""
    code = _code(error)
    if code == MESSAGES_CODE:
        return _invalid_message(attempt, error)
    # Without the upstream's message, which may quote the customer's text.
    private = redacted(f"upstream {attempt.target.name} refused: {code} {error.get('param')}", [attempt.target.api_key])
    if code not in TEXT_OF_CODE:
        return InvalidRequest("The model's provider rejected the request.", private=private)
    param = _param(attempt, error.get("param"))
    return InvalidRequest(TEXT_OF_CODE[code], param=param, details={"code": code}, private=private)


def _invalid_message(attempt: Attempt[Any], error: Mapping[str, Any]) -> ApiError:
    """Keep what the vendor of Messages says only in its text: that the input is too long, or the parameter with which it begins."""
    message = str(error.get("message"))[:2000]
    private = f"upstream {attempt.target.name} refused: {MESSAGES_CODE}"
    if TOO_LONG_WORDS.match(message):
        code = "context_length_exceeded"
        return InvalidRequest(TEXT_OF_CODE[code], details={"code": code}, private=private)
    path, colon, _ = message.partition(": ")
    param = _param(attempt, path if colon else None)
    return InvalidRequest("The model's provider rejected the request.", param=param, private=private)


def _param(attempt: Attempt[Any], param: Any) -> str | None:
    """Return the name of a parameter only if the client sent it or the vendor's API defines it."""
    if not isinstance(param, str):
        return None
    named = _PARAM.fullmatch(param)
    return param if named and (named[1] in attempt.request.members or named[1] in PARAMS) else None


def _code(error: Mapping[str, Any]) -> str:
    code = error.get("code") or error.get("type")
    return code.lower() if isinstance(code, str) else ""


def _says_overloaded(error: Mapping[str, Any]) -> bool:
    names = (error.get("code"), error.get("type"))
    return _name_overload(names) or OVERLOAD_WORDS.search(str(error.get("message"))[:2000]) is not None


def _name_overload(names: Iterable[Any]) -> bool:
    return not OVERLOAD_CODES.isdisjoint(str(name).lower() for name in names)


def outcome_of_exception(attempt: Attempt[Any], error: Exception) -> Outcome:
    """Return the outcome of a call that raised. Only without a connection is it certain that the upstream accepted
    nothing."""
    if isinstance(error, OverloadedAtOnce):
        return error.outcome
    match failure_of(error):
        case Failure.MISCONFIGURED:
            cause = _logged(attempt, Failure.MISCONFIGURED, error)
            return Rejected(ModelUnavailable(private=cause), alarm=Alarm(Failure.MISCONFIGURED.value, cause))
        case Failure.NOT_SENT:
            return Unreachable(_logged(attempt, Failure.NOT_SENT, error), is_late=is_late_connection(error))
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
