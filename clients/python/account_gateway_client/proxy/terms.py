"""The two headers of a metered call: its key, and the most that it may cost."""

import re
from collections.abc import Mapping

from account_gateway_client.proxy.refusals import Refusal
from account_gateway_client.receipts import IDEMPOTENCY_KEY, MAX_COST

_MAX_COST = re.compile(r"[0-9]{1,10}", re.ASCII)
_KEY = re.compile(r"[\x20-\x7e]{1,255}", re.ASCII)
CALL_MAX_MICROUSD = 1_000_000_000


def maximum_of(headers: Mapping[str, str], own_maximum: int) -> int:
    """Return what a call may cost: the proxy's maximum, or a smaller one that the tool sent. Raises Refusal."""
    sent = headers.get(MAX_COST)
    if sent is None:
        return own_maximum
    if not _MAX_COST.fullmatch(sent) or not 0 < int(sent) <= CALL_MAX_MICROUSD:
        message = f"{MAX_COST} must be a whole number of micro-USD from 1 to {CALL_MAX_MICROUSD}."
        raise Refusal(400, "invalid_request", message, param=MAX_COST)
    return min(int(sent), own_maximum)


def key_of(headers: Mapping[str, str], sent: int) -> str | None:
    """Return the tool's own key, if it sent one; `sent` is how many. Raises Refusal."""
    if sent == 0:
        return None
    key = headers[IDEMPOTENCY_KEY.lower()]
    if sent > 1 or not _KEY.fullmatch(key):
        message = f"{IDEMPOTENCY_KEY} must be sent once, with 1 to 255 printable ASCII characters."
        raise Refusal(400, "invalid_request", message, param=IDEMPOTENCY_KEY)
    return key
