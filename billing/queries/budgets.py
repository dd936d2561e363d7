"""Budgets of an owner."""

from django.db.models import Q, QuerySet

from billing.models import Budget
from billing.rules.budgets import Subject
from billing.rules.owners import Owner


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
