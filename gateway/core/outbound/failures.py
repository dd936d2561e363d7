"""What an exception of the HTTP client says about the request: whether the other side can have taken it."""

from enum import StrEnum

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError


class Failure(StrEnum):
    """How a call ended without a complete answer."""

    MISCONFIGURED = "misconfigured"  # the address or a header cannot be sent at all
    NOT_SENT = "not sent"  # no connection: refused, DNS, TLS, or none to be had in time
    TIMED_OUT = "timed out"  # sent, and then silence
    LOST = "connection lost"  # sent, and cut before the answer was complete
    MALFORMED = "malformed"  # what came is not HTTP, or too large to be an answer


class TooLargeError(Exception):
    """The answer is larger than any honest one."""


class MisconfiguredError(Exception):
    """The call cannot be made as the operator configured it."""


_FAILURES: tuple[tuple[Failure, tuple[type[BaseException], ...]], ...] = (
    (Failure.MISCONFIGURED, (MisconfiguredError, aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError)),
    # Only while connecting does the client raise these. A pooled connection that the other side closed raises
    # ServerDisconnectedError, and then the request may have arrived.
    (Failure.NOT_SENT, (aiohttp.ConnectionTimeoutError, aiohttp.ClientConnectorError)),
    (Failure.TIMED_OUT, (TimeoutError,)),
    (Failure.MALFORMED, (TooLargeError, aiohttp.ClientResponseError, HttpProcessingError)),
)


def failure_of(error: BaseException) -> Failure:
    """Classify what the client raised; whatever is unknown may have been taken and lost."""
    return next((failure for failure, kinds in _FAILURES if isinstance(error, kinds)), Failure.LOST)
