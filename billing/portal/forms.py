"""Forms of the pages about a person's money."""

from typing import Any

from django import forms

from billing.rules.budgets import BudgetPeriod
from gateway.core.portal.forms import BudgetLimitField


class OwnBudgetForm(forms.Form):
    """A limit for everything or for one app, in micro-USD a day, a week or a month."""

    app = forms.ChoiceField(required=False)
    period = forms.ChoiceField(
        choices=[(one.value, one.title()) for one in BudgetPeriod], initial=BudgetPeriod.MONTH.value
    )
    limit = BudgetLimitField(label="Limit in US dollars")

    def __init__(self, *args: Any, apps: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["app"].choices = [("", "Everything"), *apps]  # type: ignore[attr-defined]
