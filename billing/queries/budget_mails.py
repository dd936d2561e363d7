"""What people are mailed about budgets. A member hears of their own budget, whoever manages the organization's money of all."""

from typing import Any

from accounts.models import Product
from accounts.queries import app_names
from billing.models import Budget
from gateway.core.contract.amounts import usd
from gateway.core.events.mail_people import Person, owners_of
from gateway.core.events.models import Event
from gateway.core.events.registry import MailDraft
from gateway.core.events.rules.mail_kinds import BUDGET, MEMBER_BUDGET, OWN_BUDGET

EACH = {"day": "daily", "week": "weekly", "month": "monthly"}
ALL_PERCENT = 100


def of_threshold(event: Event) -> list[MailDraft]:
    """Return the mails about a budget of which 80 or 100 % is spent: `{budgetId, percent, limitMicrousd, spentMicrousd}`."""
    budget = Budget.objects.get(pk=event.data["budgetId"])
    owners = owners_of(event.owner_kind)
    member = owners.member(event.owner_key, budget.membership_id) if budget.membership_id else None
    context = {
        **_context(event, budget),
        "owner_name": owners.name(event.owner_key),
        "whose_name": _whose(budget, member),
        "budgets_path": owners.page(event.owner_key, "budgets"),
    }
    kind = MEMBER_BUDGET if budget.membership_id else BUDGET
    managers = [MailDraft(one, "budget_threshold", kind.name, context) for one in owners.people(event.owner_key)]
    return [*managers, *_to_the_member(member, context, budget)]


def _to_the_member(member: Person | None, context: dict[str, Any], budget: Budget) -> list[MailDraft]:
    """Address the mail to the member, also where they manage the money: it is their own."""
    if member is None:
        return []
    own = {
        **context,
        "budget": f"your {EACH[budget.period]} budget",
        "whose_name": _product(budget),
        "budgets_path": "",
    }
    return [MailDraft(member, "budget_threshold", OWN_BUDGET.name, own)]


def _context(event: Event, budget: Budget) -> dict[str, Any]:
    end = budget.period_at(event.created_at)[1]
    return {
        "percent": event.data["percent"],
        "is_used_up": event.data["percent"] >= ALL_PERCENT,
        "budget": f"the {EACH[budget.period]} budget",
        "limit": usd(event.data["limitMicrousd"]),
        "spent": usd(event.data["spentMicrousd"]),
        "until": f"{end:%-d %B %Y, %H:%M} UTC",
    }


def _whose(budget: Budget, member: Person | None) -> str:
    """Name what a budget counts: a member, a product, both, an app, or nothing in particular."""
    person = (member.name or member.address or member.recipient) if member else ""
    app = app_names.of([budget.client_id])[budget.client_id] if budget.client_id else ""
    return ", ".join(filter(None, (person, _product(budget), app)))


def _product(budget: Budget) -> str:
    if not budget.product:
        return ""
    return Product.objects.filter(slug=budget.product).values_list("name", flat=True).first() or budget.product
