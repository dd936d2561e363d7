"""What the calls of one proxy have cost, may still cost, and may cost altogether."""

import time
from dataclasses import dataclass, field

from account_gateway_client.proxy.refusals import Refusal

CallName = tuple[str, str]
"""A call's route and idempotency key: the gateway charges once for both."""


class OverBudget(Refusal):
    """A call's maximum does not fit into what is left of the budget."""

    def __init__(self, budget: int, spent: int, reserved: int, maximum: int) -> None:
        left = max(0, budget - spent - reserved)
        details = {
            "limitMicrousd": budget,
            "spentMicrousd": spent,
            "openMicrousd": reserved,
            "remainingMicrousd": left,
            "requiredMicrousd": maximum,
        }
        message = (
            f"The call may cost {maximum} micro-USD, and {left} of the proxy's budget of {budget} are left:"
            f" {spent} are spent, and open calls may cost {reserved}."
        )
        super().__init__(402, "budget_exceeded", message, details=details)


@dataclass(slots=True)
class Entry:
    """One call that is open, or whose outcome is not known. Its attempts share one maximum."""

    maximum: int
    attempts: int = 0
    open: int = 0
    is_uncertain: bool = False
    is_lost: bool = False
    is_ending: bool = False
    charge: int | None = None
    usage_id: str | None = None
    begun_at: float = field(default_factory=time.time)
    sent_at: float = field(default_factory=time.monotonic)  # a clock that is set changes nothing

    @property
    def reserved(self) -> int:
        """Return what the call may still cost."""
        return self.maximum if self.charge is None else 0

    @property
    def record_id(self) -> str | None:
        """Return the usage record that tells what the call cost. A call of several attempts may have more than one: a released
        one frees the key for the next."""
        return self.usage_id if self.attempts == 1 else None

    @property
    def awaits_outcome(self) -> bool:
        """Return whether it has ended here, and may have cost something."""
        return self.open == 0 and self.is_uncertain and self.charge is None

    @property
    def is_over(self) -> bool:
        """Return whether only its outcome is to come."""
        return self.is_ending or self.awaits_outcome


class Spending:
    """Counts in micro-USD. Belongs to one event loop, so each method is atomic."""

    def __init__(self, budget: int | None = None) -> None:
        self.budget = budget
        self.spent = 0
        self.calls = 0
        self.entries: dict[CallName, Entry] = {}

    @property
    def reserved(self) -> int:
        """Return what open calls, and those of an unknown outcome, may cost."""
        return sum(entry.reserved for entry in self.entries.values())

    def has_room(self, name: CallName, maximum: int, *, ending_is_free: bool = False) -> bool:
        """Return whether an attempt's maximum fits into the budget; on request as if what is just ending had cost nothing."""
        others = [entry for key, entry in self.entries.items() if key != name]
        counted = sum(entry.reserved for entry in others if not (ending_is_free and entry.is_over))
        return self.budget is None or self.spent + counted + self._wanted(name, maximum) <= self.budget

    def begin(self, name: CallName, maximum: int) -> None:
        """Reserve an attempt's maximum, or raise OverBudget."""
        if not self.has_room(name, maximum):
            raise OverBudget(self.budget or 0, self.spent, self.reserved, maximum)
        wanted = self._wanted(name, maximum)
        entry = self.entries.setdefault(name, Entry(maximum))
        entry.maximum, entry.sent_at, entry.is_ending = wanted, time.monotonic(), False
        entry.attempts += 1
        entry.open += 1

    def doubt(self, name: CallName, *, lost: bool) -> None:
        """Note that a call may be charged, although no answer says so. `lost`: the gateway may not have seen it yet."""
        self.entries[name].is_uncertain = True
        self.entries[name].is_lost |= lost

    def settle(self, name: CallName, charge: int, *, replayed: bool) -> None:
        """Count a call's charge, once for all of its attempts. The answer that was paid before this proxy began costs nothing."""
        entry = self.entries[name]
        if entry.charge is None:
            entry.charge = 0 if replayed and not self._is_ours(entry) else charge
            self.spent += entry.charge
            self.calls += entry.charge > 0 or not replayed

    def end(self, name: CallName, usage_id: str | None = None) -> None:
        """End an attempt. The maximum stays reserved if the call was doubted and is not settled."""
        entry = self.entries[name]
        entry.open -= 1
        entry.usage_id = usage_id or entry.usage_id
        self._drop_if_over(name)

    def resolve(self, name: CallName, charge: int) -> None:
        """Count what a doubted call cost, as its usage record says; 0 where it was released or never taken."""
        entry = self.entries.get(name)
        if entry is not None and entry.awaits_outcome:
            entry.charge = charge
            self.spent += charge
            self.calls += charge > 0
            self._drop_if_over(name)

    def awaiting(self) -> dict[CallName, Entry]:
        """Return the calls whose outcome has to be looked up."""
        return {name: entry for name, entry in self.entries.items() if entry.awaits_outcome}

    def _wanted(self, name: CallName, maximum: int) -> int:
        entry = self.entries.get(name)
        return max(maximum, entry.reserved) if entry else maximum

    def _drop_if_over(self, name: CallName) -> None:
        if self.entries[name].open == 0 and not self.entries[name].awaits_outcome:
            del self.entries[name]

    @staticmethod
    def _is_ours(entry: Entry) -> bool:
        return entry.is_uncertain or entry.attempts > 1
