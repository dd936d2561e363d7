"""Amounts and payments in templates."""

from django import template

from billing.models import Checkout, Reservation, State
from billing.rules import payment_words
from gateway.core.contract.amounts import usd

register = template.Library()
register.filter("usd", usd)


@register.filter
def state_of(checkout: Checkout) -> payment_words.State:
    """Say what became of a payment."""
    return payment_words.state(checkout.status, checkout.review_reason, checkout.taken_back_microusd)


@register.filter
def charge_of(call: Reservation) -> str:
    """Say what a call cost, or why that is not known yet."""
    match call.state:
        case State.SETTLED:
            return usd(call.usage_record.charge_microusd)
        case State.RELEASED:
            return "nothing"
        case State.REVIEW:
            return "being worked out"
    return "under way"


@register.filter
def what_for(checkout: Checkout) -> str:
    """Say what a checkout is about."""
    return payment_words.what_for(checkout.amount_microusd, checkout.product)
