"""Wire format of a wallet. SPEC: Account and access."""

from typing import Any

from rest_framework import serializers

from billing.queries.wallets import AvailableCredit, WalletBalance
from gateway.core.api.times import rfc3339_or_none


class CreditResponse(serializers.Serializer[Any]):
    """One credit that is open."""

    creditId = serializers.CharField()
    product = serializers.CharField(
        allow_null=True, help_text="The product that this credit is limited to; null for any product."
    )
    grantedMicrousd = serializers.IntegerField()
    remainingMicrousd = serializers.IntegerField()
    expiresAt = serializers.DateTimeField(allow_null=True)


class WalletResponse(serializers.Serializer[Any]):
    """A wallet's balance, credits, holds and debt; amounts in micro-USD (1 USD = 1,000,000)."""

    currency = serializers.ChoiceField(["USD"])
    balanceMicrousd = serializers.IntegerField()
    creditsMicrousd = serializers.IntegerField(help_text="The total of the credits below.")
    heldMicrousd = serializers.IntegerField(help_text="The total that open calls hold, from balance and credits.")
    availableMicrousd = serializers.IntegerField(help_text="balance + credits - held; 0 while there is a debt.")
    debtMicrousd = serializers.IntegerField(help_text="Blocks spending until a payment repays it.")
    credits = CreditResponse(many=True)


def render_wallet(wallet: WalletBalance) -> dict[str, Any]:
    """Render a wallet."""
    return {
        "currency": "USD",
        "balanceMicrousd": wallet.balance_microusd,
        "creditsMicrousd": wallet.credits_microusd,
        "heldMicrousd": wallet.held_microusd,
        "availableMicrousd": wallet.available_microusd,
        "debtMicrousd": wallet.debt_microusd,
        "credits": [_render_credit(credit) for credit in wallet.credits],
    }


def _render_credit(credit: AvailableCredit) -> dict[str, Any]:
    return {
        "creditId": credit.credit_id,
        "product": credit.product,
        "grantedMicrousd": credit.granted_microusd,
        "remainingMicrousd": credit.remaining_microusd,
        "expiresAt": rfc3339_or_none(credit.expires_at),
    }
