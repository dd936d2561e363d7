"""The ledger's rules once more, as plainly as Python can say them: the oracle of the model test.

Counters that the database keeps (held, spent) are sums over calls here.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.billing.alert_model import Alerts, BudgetAlerts

DAY = timedelta(hours=24)
LOTS_MAX = 64


@dataclass
class Payment:
    """What a top-up brought, how much of it stands taken back, and how much of that its own credits paid."""

    id: str
    product: str | None
    amount: int
    taken: int = 0
    of_lots: int = 0


@dataclass
class Lot:
    """A credit; `remaining` is what was granted less what was spent, swept, and taken back of its payment."""

    id: str
    product: str | None
    remaining: int
    expires_at: datetime | None
    payment: Payment | None = None


@dataclass
class Budget:
    """A limit for one subject."""

    product: str | None
    member: str | None
    limit: int
    period: str = "month"
    override: tuple[int, datetime] | None = None
    enabled: bool = True
    id: str = ""
    scope: str = ""
    alerts: BudgetAlerts = field(default_factory=BudgetAlerts)

    def limit_at(self, now: datetime) -> int:
        """Return the limit in force."""
        return self.override[0] if self.override and now < self.override[1] else self.limit

    def is_now(self, then: datetime, now: datetime) -> bool:
        """Return whether two instants are in the same of its periods."""
        return self.period_at(then) == self.period_at(now)

    def period_at(self, now: datetime) -> str:
        """Name the period."""
        return now.strftime({"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m"}[self.period])

    def counts(self, call: "Call") -> bool:
        """Return whether the call is its subject's."""
        return self.product in (None, call.product) and self.member in (None, call.member)


@dataclass
class Call:
    """A call with what it holds of cash and of each lot, in order."""

    id: str
    hold: int
    product: str | None
    member: str | None
    key: str | None
    body: bytes
    created_at: datetime
    deadline_at: datetime
    state: str = "dispatched"
    given_up: bool = False
    cash: int = 0
    lots: list[tuple[Lot, int]] = field(default_factory=list)
    charge: int | None = None
    closed_at: datetime | None = None
    has_answer: bool = False

    @property
    def is_open(self) -> bool:
        """Return whether its hold stands."""
        return self.closed_at is None


@dataclass
class LedgerModel:
    """One organization's wallet, lots, budgets and calls."""

    balance: int = 0
    debt: int = 0
    lots: list[Lot] = field(default_factory=list)
    budgets: dict[str, Budget] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    payments: list[Payment] = field(default_factory=list)
    alerts: Alerts = field(default_factory=Alerts)
    subscribed: frozenset[str | None] = frozenset()

    def look(self, now: datetime) -> None:
        """See what the wallet is worth after something changed that."""
        self.alerts.see(self.worth(now), self.available(now))

    def worth(self, now: datetime) -> int:
        """Sum the balance and the credits that have not expired, less the debt."""
        return self.balance - self.debt + sum(lot.remaining for lot in self._usable(now))

    def available(self, now: datetime) -> int:
        """Sum what could be held now."""
        free = sum(lot.remaining - self.lot_held(lot) for lot in self._usable(now))
        return 0 if self.debt else self.balance - self.cash_held() + free

    def _usable(self, now: datetime) -> list[Lot]:
        return [lot for lot in self.lots if lot.expires_at is None or lot.expires_at > now]

    def come_in(self, amount: int, payment: str | None, now: datetime) -> None:
        """Note that money came in."""
        self.look(now)
        data = {"availableMicrousd": self.available(now), "amountMicrousd": amount}
        self.alerts.note("wallet.credited", **data, **({"transactionId": payment} if payment else {}))

    def look_at_budgets(self, now: datetime) -> None:
        """Record the thresholds that budgets have reached."""
        for budget in sorted(self.budgets.values(), key=lambda budget: budget.id):
            for percent in self._due(budget, now):
                budget.alerts.recorded.add((budget.period_at(now), percent))
                self.alerts.note(
                    "budget.threshold",
                    budgetId=budget.id,
                    scope=budget.scope,
                    percent=percent,
                    limitMicrousd=budget.limit_at(now),
                    spentMicrousd=self.budget_spent(budget, now),
                )

    def _due(self, budget: Budget, now: datetime) -> list[int]:
        if not budget.enabled:
            return []
        return budget.alerts.due(budget.period_at(now), self.budget_spent(budget, now), budget.limit_at(now))

    def _closed(self, call: Call, now: datetime) -> None:
        if any(self._due(budget, now) for budget in self.budgets.values() if budget.counts(call)):
            self.look_at_budgets(now)
        self._tell(call, f"usage.{call.state}")

    def _tell(self, call: Call, type_: str) -> None:
        if call.product in self.subscribed:
            self.alerts.note(type_, usageId=call.id)

    def cash_held(self) -> int:
        """Sum what open calls hold of the balance."""
        return sum(call.cash for call in self.calls.values() if call.is_open)

    def lot_held(self, lot: Lot) -> int:
        """Sum what open calls hold of a lot."""
        return sum(amount for call in self.calls.values() if call.is_open for held, amount in call.lots if held is lot)

    def budget_held(self, budget: Budget) -> int:
        """Sum what the budget's open calls hold."""
        return sum(call.hold for call in self.calls.values() if call.is_open and budget.counts(call))

    def budget_spent(self, budget: Budget, now: datetime) -> int:
        """Sum what the budget's calls were charged in its current period."""
        return sum(
            call.charge or 0
            for call in self.calls.values()
            if call.closed_at and budget.is_now(call.closed_at, now)
            if budget.counts(call)
        )

    def reserve(self, call: Call, now: datetime) -> str:
        """Place a call's hold, or name why not."""
        return self._key_outcome(call, now) or self._budget_outcome(call, now) or self._hold(call, now)

    def _key_outcome(self, call: Call, now: datetime) -> str | None:
        for other in self.calls.values():
            if call.key is None or other.key != call.key or other.state == "released":
                continue
            if other.closed_at and other.closed_at + DAY <= now:
                continue
            if other.body != call.body:
                return "key_reused"
            if other.is_open:
                return "in_progress"
            return "replay" if other.has_answer else "gone"
        return None

    def _budget_outcome(self, call: Call, now: datetime) -> str | None:
        for budget in self.budgets.values():
            used = self.budget_spent(budget, now) + self.budget_held(budget)
            if budget.enabled and budget.counts(call) and used + call.hold > budget.limit_at(now):
                return "budget_exceeded"
        return None

    def _hold(self, call: Call, now: datetime) -> str:
        left = call.hold
        for lot in sorted(self.lots, key=_spending_order):
            free = lot.remaining - self.lot_held(lot)
            is_usable = lot.product in (None, call.product) and (lot.expires_at is None or lot.expires_at > now)
            if is_usable and min(free, left) > 0 and len(call.lots) < LOTS_MAX:
                call.lots.append((lot, min(free, left)))
                left -= min(free, left)
        if self.debt or left > self.balance - self.cash_held():
            call.lots.clear()
            return "insufficient_funds"
        call.cash = left
        self.calls[call.id] = call
        return "reserved"

    def settle(self, call: Call, cost: int, now: datetime, has_answer: bool) -> str:
        """Charge a call, or say what it is."""
        if call.state not in ("dispatched", "review"):
            return {"settled": "already", "released": "released"}[call.state]
        left = call.charge = min(cost, call.hold)
        freed = []
        for lot, amount in call.lots:
            lot.remaining -= min(amount, left)
            freed += [lot] if amount > left else []
            left -= min(amount, left)
        self.balance -= left
        call.state, call.closed_at, call.has_answer = "settled", now, has_answer
        self._repay_from(freed)
        self._closed(call, now)
        if call.charge:
            self.look(now)
        return "settled"

    def release(self, call: Call, now: datetime) -> str:
        """Release the hold of a call that is under way or was given up, or return its state."""
        return self._release(call, now, "review" if call.given_up else "dispatched")

    def release_reviewed(self, call: Call, now: datetime) -> bool:
        """Release the hold of a call in review; False where it is not."""
        return self._release(call, now, "review") == "released"

    def _release(self, call: Call, now: datetime, state: str) -> str:
        if call.state != state:
            return {"settled": "settled", "released": "already"}.get(call.state, "conflict")
        call.state, call.closed_at = "released", now
        self._repay_from([lot for lot, _ in call.lots])
        self._closed(call, now)
        return "released"

    def charge_reviewed(self, call: Call, cost: int, now: datetime) -> bool:
        """Charge a call in review, whose answer stays what it was; False where it is not."""
        return call.state == "review" and self.settle(call, cost, now, False) == "settled"

    def review(self, call: Call) -> str:
        """Leave a call to review, if it is under way or was given up."""
        if call.state != "dispatched" and not (call.state == "review" and call.given_up):
            return "conflict"
        if call.state == "dispatched":
            self._tell(call, "usage.reconciling")
        call.state, call.given_up = "review", False
        return "review"

    def check_in(self, call: Call, until: datetime) -> str:
        """Move a call's deadline out, never in."""
        if call.state != "dispatched":
            return "closed"
        call.deadline_at = max(call.deadline_at, until)
        return "ok"

    def reap(self, now: datetime) -> set[str]:
        """Put calls past their deadline in review; name them."""
        due = [call for call in self.calls.values() if call.state == "dispatched" and call.deadline_at <= now]
        for call in sorted(due, key=lambda call: call.id):
            call.state, call.given_up = "review", True
            self._tell(call, "usage.reconciling")
        return {call.id for call in due}

    def sweep(self, now: datetime) -> set[str]:
        """Book what expired and is not held; name the lots."""
        due = [
            lot for lot in self.lots if lot.expires_at and lot.expires_at <= now and lot.remaining > self.lot_held(lot)
        ]
        for lot in due:
            lot.remaining = self.lot_held(lot)
        if due:
            self.look(now)
        return {lot.id for lot in due}

    def pay(self, amount: int) -> None:
        """Bring money in: debt first."""
        repaid = min(self.debt, amount)
        self.debt -= repaid
        self.balance += amount - repaid

    def _take_free(self, amount: int) -> None:
        """Take money back: what is free, the rest is owed."""
        taken = min(self.balance - self.cash_held(), amount)
        self.balance -= taken
        self.debt += amount - taken

    def top_up(self, payment: Payment, lot: str | None) -> None:
        """Bring a payment in: debt first, the rest is balance, or the credit `lot` for its product."""
        self.payments.append(payment)
        repaid = min(self.debt, payment.amount)
        self.debt -= repaid
        self._credit(payment, payment.amount - repaid, lot)

    def take_back(self, payment: Payment, amount: int) -> None:
        """Take part of a payment back: of its own credits what is free, then of the balance, the rest is owed."""
        payment.taken += amount
        of_lots = self._take_from_lots(payment, amount)
        payment.of_lots += of_lots
        self._take_free(amount - of_lots)

    def give_back(self, payment: Payment, amount: int, lot: str | None) -> None:
        """Undo part of that: debt first, then where the last was taken from."""
        repaid = min(self.debt, amount)
        self.debt -= repaid
        payment.taken -= amount
        to_lot = min(amount - repaid, max(payment.of_lots - payment.taken, 0)) if payment.product else 0
        payment.of_lots -= to_lot
        self._credit(payment, to_lot, lot)
        self.balance += amount - repaid - to_lot

    def repay(self) -> None:
        """Repay what payments left as debts, from their own credits first."""
        taken = [payment for payment in self.payments if payment.taken]
        for payment in sorted(taken, key=lambda payment: payment.id):
            self._repay_of(payment)
        if taken:
            repaid = min(self.debt, self.balance - self.cash_held())
            self.debt -= repaid
            self.balance -= repaid

    def _credit(self, payment: Payment, amount: int, lot: str | None) -> None:
        if payment.product is None:
            self.balance += amount
        elif amount:
            assert lot is not None
            self.lots.append(Lot(lot, payment.product, amount, None, payment))

    def _repay_from(self, freed: list[Lot]) -> None:
        payments = {lot.payment.id: lot.payment for lot in freed if lot.payment}
        for name in sorted(payments):
            self._repay_of(payments[name])

    def _repay_of(self, payment: Payment) -> None:
        repaid = self._take_from_lots(payment, min(self.debt, payment.taken - payment.of_lots))
        payment.of_lots += repaid
        self.debt -= repaid

    def _take_from_lots(self, payment: Payment, most: int) -> int:
        taken = 0
        for lot in sorted((lot for lot in self.lots if lot.payment is payment), key=lambda lot: lot.id):
            part = min(lot.remaining - self.lot_held(lot), most - taken)
            lot.remaining -= part
            taken += part
        return taken


def _spending_order(lot: Lot) -> tuple[bool, bool, datetime | None, str]:
    return lot.product is None, lot.expires_at is None, lot.expires_at, lot.id
