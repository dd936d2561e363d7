"""One Idempotency-Key for one logical call, however often an official SDK sends it.

An SDK makes a key of its own per call but sends it only to servers that it knows. What it does send is the number of
the attempt (`x-stainless-retry-count`). It makes all attempts of a call one after the other in one thread or task, and
a context variable belongs to exactly that: so attempt 0 makes the key and later ones find it.
"""

import uuid
from collections.abc import Mapping
from contextvars import ContextVar

from account_gateway_client.errors import UnsafeRetry

ATTEMPT = "x-stainless-retry-count"
SDK_MARK = "x-stainless-lang"

_current: ContextVar[tuple[str, str] | None] = ContextVar("account_gateway_call", default=None)


def key_for(target: str, headers: Mapping[str, str]) -> str:
    """Return the key of the call that this request to `target` (method and URL) belongs to.

    Raises UnsafeRetry for a retry whose first attempt did not come this way: a new key would pay twice.
    """
    attempt = headers.get(ATTEMPT)
    if attempt is None and SDK_MARK in headers:
        raise UnsafeRetry(f"{ATTEMPT} was removed, so retries look like new calls: send your own Idempotency-Key.")
    if attempt is None or attempt == "0":
        key = str(uuid.uuid4())
        _current.set((target, key))
        return key
    known = _current.get()
    if known is None or known[0] != target:
        raise UnsafeRetry(
            f"Attempt {attempt} belongs to a call that did not start here: send your own Idempotency-Key."
        )
    return known[1]
