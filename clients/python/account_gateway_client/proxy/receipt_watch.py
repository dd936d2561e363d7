"""Finds out what a call costs while its answer passes."""

from collections.abc import Mapping

from account_gateway_client.call_watch import Watched
from account_gateway_client.receipts import Receipt

_MARK = b": service {"


class ReceiptWatch(Watched):
    """The receipt of an answer that passes in pieces. `receipt.charge_microusd` is there as soon as the gateway has told it."""

    def __init__(self, receipt: Receipt) -> None:
        super().__init__(receipt, on_receipt=None)

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> "ReceiptWatch | None":
        """Begin with an answer's headers; None where they have no receipt."""
        receipt = Receipt.from_headers(headers)
        return None if receipt is None else cls(receipt)

    def see(self, chunk: bytes) -> bytes:
        """Look for the receipt in the next piece of a stream."""
        super().see(chunk)
        if self.receipt.charge_microusd is None and _MARK in self._tail:
            self.receipt = self.receipt.closed_by(self._tail)
        return chunk
