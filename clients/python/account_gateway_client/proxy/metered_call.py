"""A call that costs something: what it may cost is reserved before it is sent, and what it cost is counted once."""

from anyio import move_on_after

from account_gateway_client.proxy.exchange import Exchange
from account_gateway_client.proxy.outcomes import Outcomes
from account_gateway_client.proxy.spending import CallName, Spending

# How long a call waits for the outcomes of earlier ones, where these decide whether it fits into the budget.
SETTLING_SECONDS = 3.0


class MeteredCall:
    """One attempt of a call. Begin it, run the exchange, and end it."""

    def __init__(self, name: CallName, spending: Spending, outcomes: Outcomes) -> None:
        self._name = name
        self._spending = spending
        self._outcomes = outcomes

    async def begin(self, maximum: int) -> None:
        """Reserve the maximum, or raise OverBudget. Calls that are just ending may make room."""
        with move_on_after(SETTLING_SECONDS):
            while self._waits_for_room(maximum):
                self._outcomes.want()
                await self._outcomes.change()
        self._spending.begin(self._name, maximum)

    def lost(self) -> None:
        """Note that the call may have been taken without an answer."""
        self._spending.doubt(self._name, lost=True)

    def seen(self, exchange: Exchange) -> None:
        """Count the charge as soon as the answer tells it, so that the tool's next call finds it counted."""
        receipt = exchange.receipt
        if receipt is not None and receipt.charge_microusd is not None:
            self._spending.settle(self._name, receipt.charge_microusd, replayed=receipt.replayed)
            self._outcomes.changed()
        elif exchange.awaits_receipt:
            self._spending.entries[self._name].is_ending = True

    def end(self, exchange: Exchange, *, was_sent: bool) -> None:
        """End the attempt. Unless the answer said that nothing, or what, is charged, the usage record will."""
        receipt = exchange.receipt
        if exchange.status is None:
            if was_sent:
                self._spending.doubt(self._name, lost=True)
        elif receipt is not None or _may_be_charged(exchange.status):
            self._spending.doubt(self._name, lost=False)
        self._spending.end(self._name, receipt.usage_id if receipt else None)
        self._outcomes.changed()
        self._outcomes.want()

    def _waits_for_room(self, maximum: int) -> bool:
        """Return whether the call does not fit now, and would if what is ending cost nothing."""
        if self._spending.has_room(self._name, maximum):
            return False
        return self._spending.has_room(self._name, maximum, ending_is_free=True)


def _may_be_charged(status: int) -> bool:
    """Return whether an answer without a receipt leaves open what was charged: a refusal is free, but 409 may be about an
    earlier attempt, and an error behind the gateway may come after the work was done."""
    return status < 300 or status in (408, 409) or status >= 500
