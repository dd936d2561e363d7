"""Classifies the HTTP client's exceptions by whether the other side may have accepted the request."""

from enum import StrEnum

import aiohttp

from gateway.core.outbound.aiohttp_internals import HttpProcessingError


class Failure(StrEnum):
    """How a call ended without a complete answer."""

    MISCONFIGURED = "misconfigured"  # the address or a header cannot be sent at all
    NOT_SENT = "not sent"  # no connection: refused, DNS, TLS, or not established in time
    TIMED_OUT = "timed out"  # sent, but no response in time
    LOST = "connection lost"  # sent, but the connection ended before the answer was complete
    MALFORMED = "malformed"  # the response is not HTTP, or too large


class NotSentError(Exception):
    """The connection was lost before anything was written to it."""


class InterimResponsesError(Exception):
    """The other side sent too many informational responses."""


class TooLargeError(Exception):
    """The answer is larger than any legitimate one."""


class MisconfiguredError(Exception):
    """The call cannot be made as the operator configured it."""


_FAILURES: tuple[tuple[Failure, tuple[type[BaseException], ...]], ...] = (
    (Failure.MISCONFIGURED, (MisconfiguredError, aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError)),
    # The client raises these only while connecting. If the other side closed a pooled connection, it raises
    # ServerDisconnectedError, and the request may have arrived.
    (Failure.NOT_SENT, (NotSentError, aiohttp.ConnectionTimeoutError, aiohttp.ClientConnectorError)),
    (Failure.TIMED_OUT, (TimeoutError,)),
    (Failure.MALFORMED, (TooLargeError, InterimResponsesError, aiohttp.ClientResponseError, HttpProcessingError)),
)


def is_late_connection(error: BaseException) -> bool:
    """Return whether a connection was not established in time."""
    return isinstance(error, aiohttp.ConnectionTimeoutError)


def failure_of(error: BaseException) -> Failure:
    """Classify the client's exception. After an unknown one, the request may have been accepted."""
    return next((failure for failure, kinds in _FAILURES if isinstance(error, kinds)), Failure.LOST)
