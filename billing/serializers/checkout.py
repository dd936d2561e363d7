"""Wire formats of checkouts. SPEC: Account and access."""

from typing import Any

from rest_framework import serializers

from billing.models import Checkout
from gateway.core.api.serializers import IdempotencyKeyField, StrictSerializer, WholeCentsField


class AccountCheckoutRequest(StrictSerializer):
    """A top-up of the token's wallet."""

    amountMicros = WholeCentsField(help_text="The amount in micro-USD: a whole number of cents.")
    idempotencyKey = IdempotencyKeyField(help_text="The same key with the same amount returns the same transaction.")


class CheckoutResponse(serializers.Serializer[Any]):
    """The page to pay on."""

    provider = serializers.CharField()
    transactionId = serializers.CharField()
    url = serializers.CharField(
        help_text="The provider's payment page. Open it for the customer; it expires after a day."
    )


def render_checkout(checkout: Checkout) -> dict[str, Any]:
    """Render a placed checkout."""
    return {"provider": checkout.provider, "transactionId": checkout.id, "url": checkout.url}
