"""What a metered call needs before it is sent, and the receipt that its response ends with; for any HTTP library."""

import re
from collections.abc import Callable
from typing import Any

from account_gateway_client.calls import key_for
from account_gateway_client.receipts import EXTENSION, IDEMPOTENCY_KEY, MAX_COST, TAIL_BYTES, Receipt, limit_of

LAST_EVENT = re.compile(rb"^(?:data: \[DONE\]|event: message_stop)\r?$", re.MULTILINE)
ReceiptHandler = Callable[[Receipt], None]


class CallDefaults:
    """Completes metered requests, and watches their responses for the receipt."""

    def __init__(self, max_cost_microusd: int | None, on_receipt: ReceiptHandler | None) -> None:
        self._limit = None if max_cost_microusd is None else limit_of(max_cost_microusd)
        self._on_receipt = on_receipt

    def complete(self, request: Any) -> None:
        """Add what the caller left out: the key of the call, and the most it may cost."""
        if request.method != "POST":
            return
        if IDEMPOTENCY_KEY not in request.headers:
            request.headers[IDEMPOTENCY_KEY] = key_for(f"{request.method} {request.url}", request.headers)
        if MAX_COST not in request.headers and self._limit is not None:
            request.headers[MAX_COST] = self._limit

    def watch(self, response: Any) -> "Watched | None":
        """Begin a receipt for the response, unless it was not metered."""
        receipt = Receipt.from_headers(response.headers)
        if receipt is None:
            return None
        watched = response.extensions[EXTENSION] = Watched(receipt, self._on_receipt)
        return watched


class Watched:
    """A receipt that becomes complete when its response ends."""

    def __init__(self, receipt: Receipt, on_receipt: ReceiptHandler | None) -> None:
        self.receipt = receipt
        self._on_receipt = on_receipt
        self._tail = b""
        self._ended = False

    def see(self, chunk: bytes) -> bytes:
        """Remember the end of what has come so far."""
        self._tail = (self._tail + chunk)[-TAIL_BYTES:]
        return chunk

    @property
    def awaits_receipt(self) -> bool:
        """Return whether a stream's events are over, so that its receipt comes at once."""
        return not self._ended and LAST_EVENT.search(self._tail) is not None

    def end(self) -> None:
        """Complete the receipt and hand it over, once."""
        if self._ended:
            return
        self._ended = True
        self.receipt = self.receipt.closed_by(self._tail)
        if self._on_receipt:
            self._on_receipt(self.receipt)
