"""Budgets: shown, and raised by an operation."""

from datetime import UTC
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminSplitDateTimeVerticalWidget

from billing.admin.owners import OWNER, SEARCH_HELP
from billing.models import Budget
from billing.operations import budgets
from gateway.core.console import DollarsField, ReadOnlyAdmin, ReasonForm, dialog, may_act, money
from gateway.core.contract.amounts import usd

RIGHT = "billing.change_budget"
TOO_LATE = "Someone else has changed this budget. Look at it again."
LIMIT_MAX_MICROUSD = 10**15


class RaiseForm(ReasonForm):
    """Asks for a higher limit, and optionally its end. The hidden limit is the one that the operator saw."""

    amount = DollarsField(label="New limit", max_microusd=LIMIT_MAX_MICROUSD)
    until = forms.SplitDateTimeField(
        label="Until",
        required=False,
        widget=UnfoldAdminSplitDateTimeVerticalWidget,
        help_text="In UTC; empty: for good.",
    )
    seen = forms.IntegerField(widget=forms.HiddenInput, min_value=0)
    field_order = ("amount", "until", "reason", "seen")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        limit = Budget.objects.get(pk=self.object_id).limit_at(timezone.now())
        self.fields["seen"].initial = limit
        self.fields["amount"].help_text = f"In dollars; more than {usd(limit)}, the limit in force."

    def clean_until(self) -> Any:
        until = self.cleaned_data["until"]
        if until and until <= timezone.now():
            raise ValidationError("This time is in the past.")
        return until

    def clean(self) -> dict[str, Any]:
        """Refuse a limit that is not higher."""
        cleaned = super().clean() or {}
        amount, seen = cleaned.get("amount"), cleaned.get("seen")
        if amount is not None and seen is not None and amount <= seen:
            self.add_error("amount", f"The limit must be more than {usd(seen)}.")
        return cleaned


@admin.register(Budget)
class BudgetAdmin(ReadOnlyAdmin):
    """Limits of a day, a week or a month that organizations and people have set for themselves. An operator can raise one."""

    empty_text = "People set budgets in the portal, under Apps. Here they can be raised."
    limit = money("Limit", "limit_microusd")
    held = money("Held", "held_microusd")

    owner = OWNER

    list_display = ("id", "owner", "scope", "subject", "period", "limit", "override", "spent", "held", "disabled_at")
    list_filter = ("scope", "period", ("disabled_at", admin.EmptyFieldListFilter))
    list_select_related = ("wallet",)
    search_fields = ("id__exact", "wallet__owner_key__exact", "membership_id__exact")
    party_fields = ("wallet__owner_key",)
    search_help_text = SEARCH_HELP
    ordering = ("-id",)
    actions_detail = ("raise_limit",)
    fields = (
        *("owner", "scope", "product", "membership_id", "client_id", "period", "limit", "override", "spent", "held"),
        *("disabled_at", "period_start", "created_at"),
    )

    def has_raise_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return may_act(request, RIGHT, Budget.objects.filter(disabled_at=None), object_id)

    @action(
        description="Raise",
        icon="trending_up",
        permissions=["raise"],
        dialog=dialog(
            "Raise this budget",
            "Calls are held against the new limit at once. With an end, the old limit is in force again from then on.",
            "Raise",
            RaiseForm,
        ),
    )
    def raise_limit(self, request: HttpRequest, form: RaiseForm, object_id: str) -> HttpResponse:
        """Raise the limit, for good or until a time."""
        to, until = form.cleaned_data["amount"], form.cleaned_data["until"]
        seen = form.cleaned_data["seen"]
        change = budgets.Raise(seen, to, until)
        if not budgets.raise_limit(object_id, change, now=timezone.now()):
            return self.leave_dialog(request, object_id, TOO_LATE, messages.WARNING)
        end = f" until {until.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if until else ""
        return self.finish_dialog(request, form, object_id, f"Raised from {usd(seen)} to {usd(to)}{end}")

    @display(description="Subject")
    def subject(self, budget: Budget) -> str | None:
        """Name the product, member or app that it is for."""
        return ", ".join(filter(None, (budget.product, budget.membership_id, budget.client_id))) or None

    @display(description="Other limit")
    def override(self, budget: Budget) -> str | None:
        """Return the limit that is in force instead, and until when."""
        now = timezone.now()
        until = budget.override_at(now)
        return f"{usd(budget.limit_at(now))} until {until.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if until else None

    @display(description="Spent")
    def spent(self, budget: Budget) -> str:
        """Return what is spent in the current period, whichever one the row still counts."""
        return usd(budget.spent_at(timezone.now()))
