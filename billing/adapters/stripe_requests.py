"""Builds the parameters of Stripe's requests that make something: the same at every repetition, as idempotency keys require."""

from typing import Any

from billing.adapters.base import ChargeRequest, SessionRequest
from billing.adapters.stripe_records import TRANSACTION
from billing.rules.provider_records import CURRENCY
from gateway.core.contract.limits import CENT_MICROUSD

DESCRIPTION = "Wallet top-up"


def charged(request: ChargeRequest) -> dict[str, Any]:
    """Build a charge's parameters, the same at every repetition."""
    return {
        "amount": request.amount_microusd // CENT_MICROUSD,
        "currency": CURRENCY,
        "customer": request.customer_ref,
        "payment_method": request.method_ref,
        "off_session": True,
        "confirm": True,
        "description": request.description,
        "metadata": {TRANSACTION: request.payment_id},
    }


def wanted(request: SessionRequest) -> dict[str, Any]:
    """Build the session's parameters, the same at every repetition, as the idempotency key requires."""
    metadata = {TRANSACTION: request.transaction_id}
    common = {
        "client_reference_id": request.transaction_id,
        "metadata": metadata,
        "success_url": request.success_url,
        "cancel_url": request.cancel_url,
    }
    if request.amount_microusd is None:
        return {
            **common,
            "mode": "setup",
            "currency": CURRENCY,
            "customer_creation": "always",
            "setup_intent_data": {"metadata": metadata},
        }
    price = {
        "currency": CURRENCY,
        "unit_amount": request.amount_microusd // CENT_MICROUSD,
        "product_data": {"name": DESCRIPTION},
    }
    payment = {**common, "mode": "payment", "line_items": [{"quantity": 1, "price_data": price}]}
    if not request.saves_method:
        return {**payment, "payment_intent_data": {"metadata": metadata}}
    return {
        **payment,
        "customer_creation": "always",
        "payment_intent_data": {"metadata": metadata, "setup_future_usage": "off_session"},
    }
