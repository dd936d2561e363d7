"""The form that sets an organization's budget."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator
from django.utils import timezone

from billing.operations.budgets import KEEP, NewOverride, Override
from billing.rules.budgets import BudgetPeriod
from gateway.core.portal.forms import BudgetLimitField

LAST_DAY = date(9998, 12, 31)
"""The last day whose end is a time that Python has."""


def end_of_day(day: date) -> datetime:
    """Return the midnight in UTC that ends a day."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)


class BudgetForm(forms.Form):
    """A limit in dollars a day, a week or a month for the organization, a product, a member, or a member's use of a product,
    and if need be another one until the end of a day. Without that one, what was set before stays.
    """

    product = forms.ChoiceField(required=False)
    member = forms.ChoiceField(required=False)
    period = forms.ChoiceField(
        required=False, choices=[(one.value, one.title()) for one in BudgetPeriod], initial=BudgetPeriod.MONTH.value
    )
    limit = BudgetLimitField(label="Limit in US dollars")
    override_limit = BudgetLimitField(label="Other limit for some time (optional)", required=False)
    last_day = forms.DateField(
        required=False,
        input_formats=["%Y-%m-%d"],
        label="Last day of the other limit",
        help_text="It ends when this day does, in UTC.",
        validators=[MaxValueValidator(LAST_DAY)],
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
    )

    def __init__(self, *args: Any, products: list[tuple[str, str]], members: list[tuple[str, str]], **kw: Any) -> None:
        super().__init__(*args, **kw)
        self.products, self.members = products, members
        self.fields["product"].choices = [("", "All products"), *products]  # type: ignore[attr-defined]
        self.fields["member"].choices = [("", "All members"), *members]  # type: ignore[attr-defined]

    @property
    def override(self) -> NewOverride:
        """Return the other limit, if there is to be one."""
        if self.cleaned_data["override_limit"] is None:
            return KEEP
        return Override(self.cleaned_data["override_limit"], end_of_day(self.cleaned_data["last_day"]))

    def clean_period(self) -> str:
        return self.cleaned_data["period"] or BudgetPeriod.MONTH.value

    def clean(self) -> None:
        """Check that another limit has an end, and that it is still to come."""
        limit, day = self.cleaned_data.get("override_limit"), self.cleaned_data.get("last_day")
        if limit is None and day is not None and "override_limit" not in self.errors:
            self.add_error("override_limit", "Enter the other limit, or no last day.")
        if day is None and limit is not None and "last_day" not in self.errors:
            self.add_error("last_day", "Enter the last day of the other limit.")
        if day is not None and end_of_day(day) <= timezone.now():
            self.add_error("last_day", "This day is over.")
