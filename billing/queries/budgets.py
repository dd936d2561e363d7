"""Budgets of an owner."""

from datetime import datetime

from django.db.models import Q, QuerySet

from billing.models import Budget
from billing.rules import bars
from billing.rules.budgets import Subject
from billing.rules.owners import Owner

NEARLY_PERCENT = 80


def of_owner(owner: Owner) -> QuerySet[Budget]:
    """List an owner's budgets, disabled ones too, newest first."""
    kind, key = owner
    budgets = Budget.objects.filter(wallet__owner_kind=kind, wallet__owner_key=key)
    return budgets.order_by("-created_at", "-id")


def of_subject(subject: Subject) -> QuerySet[Budget]:
    """List the budgets of exactly this subject, one for each kind of period."""
    return of_owner(subject.owner).filter(
        product=subject.product, membership_id=subject.membership_id, client_id=subject.client_id
    )


def binding(owner: Owner, *, product: str | None, membership_id: str | None, client_id: str | None) -> QuerySet[Budget]:
    """List the budgets that a call is held against, as `billing_hold_locked` selects them, newest first."""
    call = {"product": product, "membership_id": membership_id, "client_id": client_id}
    matches = [Q(**{member: None}) | Q(**{member: value}) for member, value in call.items()]
    return of_owner(owner).filter(*matches, disabled_at=None)


def nearly_used(owner: Owner, now: datetime) -> list[tuple[Budget, bars.Bar]]:
    """List an owner's budgets of which at least NEARLY_PERCENT are spent or held, with what is used, the fullest first."""
    found = [(budget, bar_of(budget, now)) for budget in of_owner(owner).filter(disabled_at=None)]
    return sorted(
        ((one, bar) for one, bar in found if bar.used_percent >= NEARLY_PERCENT), key=lambda each: -each[1].used_percent
    )


def bar_of(budget: Budget, now: datetime) -> bars.Bar:
    """Return what is used of a budget's limit in its current period."""
    return bars.of_limit(budget.limit_at(now), budget.spent_at(now), budget.held_microusd)
