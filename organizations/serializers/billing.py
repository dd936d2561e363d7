"""Wire formats of an organization's wallet, budgets and seat estimate. Amounts are in micro-USD."""

from datetime import datetime
from typing import Any

from rest_framework import serializers

from billing.models import InvoiceStatus
from billing.queries.invoices import ReportedInvoice
from billing.queries.wallets import AvailableCredit
from gateway.core.api.times import rfc3339, rfc3339_or_none
from organizations.queries.billing import OrganizationBilling
from organizations.serializers.budgets import BudgetResponse


class OrganizationWalletResponse(serializers.Serializer[Any]):
    """The organization's wallet."""

    currency = serializers.CharField(default="USD")
    balanceMicrousd = serializers.IntegerField(source="balance_microusd")
    creditsMicrousd = serializers.IntegerField(source="credits_microusd")
    heldMicrousd = serializers.IntegerField(source="held_microusd")
    availableMicrousd = serializers.IntegerField(source="available_microusd")
    debtMicrousd = serializers.IntegerField(source="debt_microusd")


class OrganizationCreditResponse(serializers.Serializer[Any]):
    """A credit of the organization. One with a product pays only for that product."""

    creditId = serializers.CharField(source="credit_id")
    product = serializers.CharField(allow_null=True)
    grantedMicrousd = serializers.IntegerField(source="granted_microusd")
    remainingMicrousd = serializers.IntegerField(source="remaining_microusd")
    expiresAt = serializers.DateTimeField(source="expires_at", allow_null=True)


class ProductEstimateResponse(serializers.Serializer[Any]):
    """One product's seats this month."""

    product = serializers.CharField()
    monthlyPriceMicrousd = serializers.IntegerField(source="monthly_price_microusd")
    assignedSeats = serializers.IntegerField(source="assigned_seats")
    billableSeats = serializers.IntegerField(source="billable_seats")
    accruedMicrousd = serializers.IntegerField(source="accrued_microusd")
    projectedMicrousd = serializers.IntegerField(source="projected_microusd")
    externallyBilled = serializers.BooleanField(source="externally_billed")


class SeatEstimateResponse(serializers.Serializer[Any]):
    """The cost of seats this month: so far, and with today's assignments unchanged."""

    month = serializers.DateField(format="%Y-%m")
    accruedMicrousd = serializers.IntegerField(source="accrued_microusd")
    projectedMicrousd = serializers.IntegerField(source="projected_microusd")
    products = ProductEstimateResponse(many=True)


class InvoiceLineResponse(serializers.Serializer[Any]):
    """One product's seats of one month."""

    product = serializers.CharField()
    seatDays = serializers.IntegerField(source="seat_days")
    amountMicrousd = serializers.IntegerField(source="amount_microusd")


class InvoiceResponse(serializers.Serializer[Any]):
    """An invoice for one month's seats. Metered calls are paid from the wallet and never invoiced. A draft has no
    number.
    """

    invoiceId = serializers.CharField(source="id")
    number = serializers.CharField(allow_null=True)
    status = serializers.ChoiceField(InvoiceStatus.values)
    periodStart = serializers.DateTimeField(source="period_start")
    periodEnd = serializers.DateTimeField(source="period_end")
    totalMicrousd = serializers.IntegerField(source="total_microusd")
    lines = InvoiceLineResponse(many=True)


class OrganizationBillingResponse(serializers.Serializer[Any]):
    """The organization's billing overview."""

    orgId = serializers.CharField(source="organization.id")
    wallet = OrganizationWalletResponse()
    credits = OrganizationCreditResponse(source="wallet.credits", many=True)
    budgets = BudgetResponse(many=True)
    invoices = InvoiceResponse(many=True)
    pastDue = serializers.BooleanField(source="organization.is_past_due")
    seatEstimate = SeatEstimateResponse(source="seats")


def render_billing(found: OrganizationBilling, now: datetime) -> dict[str, Any]:
    """Render an organization's billing overview. Credits and invoices do not use serializers, which take 30 times as
    long per row.
    """
    return {
        "orgId": found.organization.pk,
        "wallet": OrganizationWalletResponse(found.wallet).data,
        "credits": [_render_credit(credit) for credit in found.wallet.credits],
        "budgets": BudgetResponse(found.budgets, many=True, context={"now": now}).data,
        "invoices": [_render_invoice(invoice) for invoice in found.invoices],
        "pastDue": found.organization.is_past_due,
        "seatEstimate": SeatEstimateResponse(found.seats).data,
    }


def _render_credit(credit: AvailableCredit) -> dict[str, Any]:
    return {
        "creditId": credit.credit_id,
        "product": credit.product,
        "grantedMicrousd": credit.granted_microusd,
        "remainingMicrousd": credit.remaining_microusd,
        "expiresAt": rfc3339_or_none(credit.expires_at),
    }


def _render_invoice(invoice: ReportedInvoice) -> dict[str, Any]:
    return {
        "invoiceId": invoice.invoice_id,
        "number": invoice.number,
        "status": invoice.status,
        "periodStart": rfc3339(invoice.period_start),
        "periodEnd": rfc3339(invoice.period_end),
        "totalMicrousd": invoice.total_microusd,
        "lines": [
            {"product": product, "seatDays": seat_days, "amountMicrousd": amount}
            for product, seat_days, amount in invoice.lines
        ],
    }
