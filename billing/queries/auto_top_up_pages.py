"""What the portal's page of automatic top-up shows."""

from datetime import datetime
from typing import Any

from billing.models import AutoTopUpCharge
from billing.queries import auto_top_ups, payment_pages
from billing.queries.auto_top_ups import LAST_CHARGES, AutoTopUpView
from billing.rules import auto_top_up_labels as labels
from billing.rules.auto_top_ups import OPERATOR, AutoTopUpState
from billing.rules.charges import AUTHENTICATION_REQUIRED
from billing.rules.months import month_around
from billing.rules.owners import Owner


def context(owner: Owner, now: datetime) -> dict[str, Any]:
    """Return the context of the page: the state in words, what was used, the payment method, and the last charges."""
    found = auto_top_ups.view(owner, now)
    return {
        "found": found,
        "state": labels.state(
            found.state, is_blocked=auto_top_ups.is_blocked(owner), full_until=_full_until(found, now)
        ),
        "why": labels.pause(found.pause_reason) if found.state is AutoTopUpState.PAUSED else "",
        "is_operators": found.pause_reason == OPERATOR,
        "to_confirm": to_confirm(owner, found),
        "method": found.method,
        "method_label": getattr(getattr(found.method, "payment_method", None), "label", None),
        "charges": [(one, labels.outcome(one.status, one.failure_code)) for one in _last(owner)],
        "can_pay": payment_pages.are_configured(),
        "is_test": payment_pages.mode() == "test",
    }


def _full_until(found: AutoTopUpView, now: datetime) -> datetime | None:
    """Return the end of the month, if the month has no room for another charge."""
    has_room = found.used_microusd + found.terms.amount_microusd <= found.terms.monthly_limit_microusd
    return None if has_room else month_around(now)[1]


def to_confirm(owner: Owner, found: AutoTopUpView) -> AutoTopUpCharge | None:
    """Return the charge that the bank wants the person to confirm, if automatic top-up waits for that."""
    if found.state is not AutoTopUpState.PAUSED or found.pause_reason != AUTHENTICATION_REQUIRED:
        return None
    return auto_top_ups.charges_of(owner).filter(failure_code=AUTHENTICATION_REQUIRED).first()


def _last(owner: Owner) -> list[AutoTopUpCharge]:
    return list(auto_top_ups.charges_of(owner)[:LAST_CHARGES])
