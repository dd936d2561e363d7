"""Budgets of an organization."""

from django.db.models import QuerySet

from billing.models import Budget


def of_organization(org_id: str) -> QuerySet[Budget]:
    """List an organization's budgets, disabled ones too, newest first."""
    budgets = Budget.objects.filter(wallet__owner_kind="organization", wallet__owner_key=org_id)
    return budgets.order_by("-created_at", "-id")
