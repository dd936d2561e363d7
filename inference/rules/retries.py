"""Decides whether and when an upstream call is retried: only if it cannot have cost anything."""

from typing import TypeGuard

from gateway.core.contract.limits import UPSTREAM_RETRIES_MAX
from inference.interface.plan import RETRY_WINDOW_SECONDS
from inference.interface.upstream import Overloaded, Unreachable

RETRY_AFTER_MAX_SECONDS = 2.0
_BACKOFF_SECONDS = 0.1


def may_retry(outcome: object) -> TypeGuard[Overloaded | Unreachable]:
    """Return whether nothing can have been taken, so that the call may be sent again."""
    return isinstance(outcome, Overloaded | Unreachable)


def pause_before_retry(
    outcome: object, *, retries: int, elapsed_seconds: float, elsewhere: bool, jitter: float
) -> float | None:
    """Return how many seconds to wait before the next attempt, or None if this outcome is final.

    `elsewhere`: an untried deployment is left, which is tried at once. `jitter` is a random number in [0, 1). If an
    upstream requests a longer wait than clients should bear, the call is not retried there.
    """
    if not may_retry(outcome) or retries >= UPSTREAM_RETRIES_MAX:
        return None
    pause = 0.0 if elsewhere else _backoff(outcome, retries, jitter)
    if pause is None or elapsed_seconds + pause > RETRY_WINDOW_SECONDS:
        return None
    return pause


def _backoff(outcome: Overloaded | Unreachable, retries: int, jitter: float) -> float | None:
    backoff = _BACKOFF_SECONDS * 2**retries * (0.5 + jitter)
    retry_after = (outcome.retry_after or 0.0) if isinstance(outcome, Overloaded) else 0.0
    return max(backoff, retry_after) if retry_after <= RETRY_AFTER_MAX_SECONDS else None
