"""Notes which limits refuse requests, for whoever counts them."""

from collections.abc import Callable

from gateway.core.contract.errors import ApiError, RateLimited

_subscribers: list[Callable[[str, str], None]] = []


def subscribe(count: Callable[[str, str], None]) -> None:
    """Call `count` with the scope and the name of the limit for each response that says that one is reached."""
    _subscribers.append(count)


def note(error: ApiError) -> None:
    """Note an error that is about to be sent."""
    if _subscribers and isinstance(error, RateLimited):
        details = error.details
        for count in _subscribers:
            count(str(details.get("scope", "")), str(details.get("limit", "")))
