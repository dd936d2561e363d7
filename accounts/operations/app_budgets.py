"""Shows and sets on the consent page what an app may spend. The billing app, which this app must not import, registers the
functions at start-up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol


class AppBudget(NamedTuple):
    """A budget that a person has set for an app. Amounts are in micro-USD; `used` is spent or held in the current period, a
    `day`, a `week` or a `month`."""

    period: str
    limit_microusd: int
    used_microusd: int


class SetMonthly(Protocol):
    """Sets the budget of an app for each month, in the caller's transaction. Raises InvalidRequest if the person has too
    many."""

    def __call__(self, *, did: str, client_id: str, limit_microusd: int) -> object:
        """Set it."""


@dataclass(frozen=True, slots=True)
class AppBudgets:
    """Functions of a person's DID and an app's client id. `enabled` lists the budgets that are on at an instant, the longest
    period first."""

    enabled: Callable[[str, str, datetime], Sequence[AppBudget]]
    set_monthly: SetMonthly


_registered: AppBudgets | None = None


def register(functions: AppBudgets) -> None:
    """Register the functions."""
    global _registered  # noqa: PLW0603 - set once, at start-up
    _registered = functions


def registered() -> AppBudgets:
    """Return the registered functions."""
    assert _registered is not None, "the billing app registers them"
    return _registered
