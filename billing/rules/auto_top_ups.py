"""Why automatic top-up is paused, how it is shown, and when a new charge may be asked for."""

from datetime import timedelta
from enum import StrEnum

from billing.rules.owners import Owner

NO_METHOD = "no_payment_method"
TAKEN_BACK = "payment_taken_back"
OPERATOR = "operator"
"""Reasons of a pause. The others are the provider's codes of a refusal."""

AT_OWNER = timedelta(minutes=1)
"""The minimum time between a refused charge and one that its owner asks for, so that cards cannot be tested."""
BLOCKED_FOR = timedelta(hours=1)
"""How long a wallet whose owner must not be charged is left alone."""

DEFAULT_THRESHOLD_MICROUSD = 5_000_000
DEFAULT_AMOUNT_MICROUSD = 20_000_000
DEFAULT_MONTHLY_LIMIT_MICROUSD = 100_000_000
"""What is proposed to an owner who has never set the terms."""


class AutoTopUpState(StrEnum):
    """What a wallet's automatic top-up is doing, as its owner sees it."""

    OFF = "off"
    READY = "ready"
    PAUSED = "paused"
    NEEDS_PAYMENT_METHOD = "needs_payment_method"


def state_of(*, is_enabled: bool, is_paused: bool, has_method: bool) -> AutoTopUpState:
    """Return the state. A missing payment method comes before a pause, because saving one ends it."""
    if not is_enabled:
        return AutoTopUpState.OFF
    if not has_method:
        return AutoTopUpState.NEEDS_PAYMENT_METHOD
    return AutoTopUpState.PAUSED if is_paused else AutoTopUpState.READY


def may_resume(pause_reason: str | None) -> bool:
    """Return whether the owner ends a pause by enabling it again or saving a payment method; only an operator ends their own."""
    return pause_reason != OPERATOR


def page_of(owner: Owner) -> str:
    """Return the portal page where an owner sees and sets it."""
    kind, key = owner
    return f"/organizations/{key}/auto-top-up" if kind == "organization" else "/wallet/auto-top-up"
