"""Notes which limits refuse requests, for whoever counts them."""

import logging
from collections.abc import Callable

from gateway.core.contract.errors import ApiError, RateLimited
from gateway.core.runtime.logs import RecurringLog

_failed = RecurringLog("gateway.api", logging.ERROR)

_subscribers: list[Callable[[str, str], None]] = []


def subscribe(count: Callable[[str, str], None]) -> None:
    """Call `count` with the scope and the name of the limit for each response that says that one is reached."""
    _subscribers.append(count)


def note(error: ApiError) -> None:
    """Note an error that is about to be sent. Never raises: whoever counts, such as into a full disk, changes no answer."""
    if _subscribers and isinstance(error, RateLimited):
        scope, limit = str(error.details.get("scope", "")), str(error.details.get("limit", ""))
        for count in _subscribers:
            try:
                count(scope, limit)
            except Exception as failure:  # noqa: BLE001 - see above
                _failed.write(type(failure).__name__, f"a limit is not counted: {type(failure).__name__}: {failure}")
