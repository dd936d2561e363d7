"""Renders the header fields that state rate limits.

The source is the Internet-Draft draft-ietf-httpapi-ratelimit-headers-10, in which both are lists of structured fields (RFC 9651).
"""

from collections.abc import Sequence
from typing import NamedTuple

from gateway.core.contract.headers import RATE_LIMIT, RATE_LIMIT_POLICY


class RateLimit(NamedTuple):
    """What one limit is, and what is left of it.

    Its name has lower-case letters and hyphens only. A limit of calls at once has no window, and none knows how soon one ends: its
    window and reset are None.
    """

    name: str
    quota: int
    window_seconds: int | None
    remaining: int
    reset_seconds: int | None
    """Whole seconds until one more is there, rounded up."""


def rate_limit_headers(limits: Sequence[RateLimit]) -> dict[str, str]:
    """Return `RateLimit-Policy` and `RateLimit` with an item for each limit, in this order; nothing where there is none."""
    if not limits:
        return {}
    return {RATE_LIMIT_POLICY: policy_of(limits), RATE_LIMIT: state_of(limits)}


def policy_of(limits: Sequence[RateLimit]) -> str:
    """Return the value of `RateLimit-Policy`, which does not depend on what is left."""
    return ", ".join([_policy(limit) for limit in limits])


def state_of(limits: Sequence[RateLimit]) -> str:
    """Return the value of `RateLimit`."""
    return ", ".join([_state(limit) for limit in limits])


def _policy(limit: RateLimit) -> str:
    window = "" if limit.window_seconds is None else f";w={limit.window_seconds}"
    return f'"{limit.name}";q={limit.quota}{window}'


def _state(limit: RateLimit) -> str:
    reset = "" if limit.reset_seconds is None else f";t={limit.reset_seconds}"
    return f'"{limit.name}";r={limit.remaining}{reset}'
