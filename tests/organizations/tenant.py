"""A test organization that had seats last month and pays for them."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from billing.models import Checkout, Invoice, InvoicePayment
from billing.operations import checkouts as billing
from billing.operations import invoice_payments, invoices
from billing.rules.invoices import SETTLED_AFTER
from billing.rules.months import month_around, month_before
from gateway.core.contract.ids import new_id
from organizations.models import Entitlement, EntitlementInterval, Seat, SeatInterval
from organizations.operations import checkouts, seat_invoices, seats
from tests.factories.organizations import Team, product
from tests.support.stripe import FakeStripe

PRICE = 20_000_000
# In the first hour of a month the last one cannot be billed yet, and the one before is the last that can.
NOW = timezone.now() - SETTLED_AFTER
LAST_MONTH = month_before(NOW)
ISSUED_AT = month_around(NOW)[0] + SETTLED_AFTER


class Tenant(Team):
    """Has had two studio seats since the beginning of last month, so that its invoice is for twice the price."""

    def __init__(self, provider: FakeStripe, owner: str = "olivia", *, seats: int = 2) -> None:
        super().__init__(owner, name=owner.title())
        self.provider = provider
        self.now = ISSUED_AT
        product("studio", PRICE)
        self.entitlement = Entitlement.objects.create(organization_id=self.id, product_id="studio", is_enabled=True)
        EntitlementInterval.objects.create(entitlement=self.entitlement, started_at=LAST_MONTH[0])
        for number in range(seats):
            self._seat(self.join(f"{owner}{number}").pk)

    @property
    def invoice(self) -> Invoice:
        """Read its only invoice."""
        return Invoice.objects.get(org_id=self.id)

    @property
    def attempts(self) -> list[InvoicePayment]:
        """Return the charge attempts, oldest first."""
        return list(InvoicePayment.objects.filter(invoice__org_id=self.id).order_by("created_at", "id"))

    @property
    def outcomes(self) -> list[str]:
        """Return the outcome of each attempt."""
        return [one.failure_code or one.status for one in self.attempts]

    def save_method(self, answer: str = "succeeds") -> str:
        """Save a payment method with the given behaviour of its bank; return its id at the provider."""
        checkout = checkouts.begin(
            org_id=self.id,
            kind="payment_method",
            amount_microusd=None,
            product=None,
            idempotency_key=new_id("key"),
            actor_did=self.owner.did,
        )
        session = self.provider.pay(str(checkout.session_ref))
        method: str = self.provider.get(session["setup_intent"])["payment_method"]
        self.provider.answer_charges(method, answer)
        billing.converge(Checkout.objects.get(pk=checkout.pk), now=self.now)
        return method

    def run(self, after: timedelta = timedelta(0)) -> None:
        """Run the jobs at a later time."""
        self.now += after
        seat_invoices.draft_all(now=self.now)
        invoices.issue_all(since=LAST_MONTH[0], now=self.now)
        invoice_payments.follow(now=self.now)
        invoice_payments.collect(now=self.now)
        invoices.mark_past_due(now=self.now)
        seat_invoices.follow_debts(collecting=True)

    def assign(self, name: str) -> Any:
        """Assign one more seat."""
        membership = self.people.get(name) or self.join(name)
        return seats.assign(org_id=self.id, product="studio", membership_id=membership.pk, actor_did=self.owner.did)

    def _seat(self, membership_id: str, since: datetime = LAST_MONTH[0]) -> None:
        seat = Seat.objects.create(entitlement=self.entitlement, membership_id=membership_id, assigned_at=since)
        SeatInterval.objects.create(seat=seat, started_at=since)


def state(tenant: Tenant) -> tuple[str, bool]:
    """Return the invoice's status and whether new seats are refused."""
    return tenant.invoice.status, tenant.organization.is_past_due
