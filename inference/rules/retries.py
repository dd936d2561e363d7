"""Whether and when a call is tried again upstream: only where nothing can have been taken."""

from gateway.core.contract.limits import UPSTREAM_RETRIES_MAX
from inference.rules.plan import RETRY_WINDOW_SECONDS
from inference.rules.upstream import Overloaded, Unreachable

RETRY_AFTER_MAX_SECONDS = 2.0
_BACKOFF_SECONDS = 0.1


def pause_before_retry(
    outcome: object, *, retries: int, elapsed_seconds: float, elsewhere: bool, jitter: float
) -> float | None:
    """Return how many seconds to wait before the next attempt, or None where this outcome stands.

    `elsewhere` tells that a deployment is left that this call has not tried; it is asked at once. `jitter` is a random
    number in [0, 1). An upstream that asks for a longer wait than a client should bear is not waited for.
    """
    if not isinstance(outcome, Overloaded | Unreachable) or retries >= UPSTREAM_RETRIES_MAX:
        return None
    pause = 0.0 if elsewhere else _backoff(outcome, retries, jitter)
    if pause is None or elapsed_seconds + pause > RETRY_WINDOW_SECONDS:
        return None
    return pause


def _backoff(outcome: Overloaded | Unreachable, retries: int, jitter: float) -> float | None:
    backoff = _BACKOFF_SECONDS * 2**retries * (0.5 + jitter)
    asked = (outcome.retry_after or 0.0) if isinstance(outcome, Overloaded) else 0.0
    return max(backoff, asked) if asked <= RETRY_AFTER_MAX_SECONDS else None
