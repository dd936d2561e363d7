"""An organization's invoices in the portal: access, contents, PDF, and Pay now."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from billing.models import Invoice, InvoicePayment
from billing.operations import invoices
from billing.queries import audit
from billing.rules.invoices import LineItem
from organizations.models import AuditEntry, Membership, Organization
from organizations.portal import invoice_pdf
from organizations.rules.roles import Role
from tests.factories import invoicing
from tests.factories.organizations import Team, account
from tests.organizations.tenant import LAST_MONTH, Tenant
from tests.portal.organization_browser import FRAME_QUERIES_MAX, OrganizationPages, message, signed_in
from tests.portal.test_wallet import text_of
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db

MONTH = f"{LAST_MONTH[0]:%B %Y}"


@pytest.fixture
def organization_pages(provider: FakeStripe, founded: OrganizationPages) -> OrganizationPages:
    return founded.again()


@pytest.fixture
def tenant(provider: FakeStripe, settings: Settings) -> Tenant:
    settings.SEAT_COLLECTION_FROM = LAST_MONTH[0]
    return Tenant(provider, "owner")


def path(tenant: Tenant, *parts: str) -> str:
    return "/".join(["/organizations", tenant.id, "invoices", tenant.invoice.pk, *parts])


def opened(tenant: Tenant, *parts: str) -> Any:
    return signed_in(tenant.owner).get(path(tenant, *parts))


def pay(tenant: Tenant) -> Any:
    return signed_in(tenant.owner).post(path(tenant, "pay"), follow=True)


@pytest.mark.parametrize("who", ["admin", "member"])
def test_is_for_those_who_manage_money(organization_pages: OrganizationPages, who: str) -> None:
    invoice = invoicing.refused(organization_pages.team.id)
    for parts in ((), (invoice.pk,), (invoice.pk, "pdf")):
        assert organization_pages[who].get(organization_pages.path("invoices", *parts)).status_code == 403
    assert organization_pages[who].post(organization_pages.path("invoices", invoice.pk, "pay")).status_code == 403
    assert InvoicePayment.objects.count() == 1


@pytest.mark.parametrize("who", ["owner", "billing"])
def test_money_managers_see_them(organization_pages: OrganizationPages, who: str) -> None:
    invoice = invoicing.paid(organization_pages.team.id)
    for parts in ((), (invoice.pk,), (invoice.pk, "pdf")):
        assert organization_pages[who].get(organization_pages.path("invoices", *parts)).status_code == 200


def test_strangers_and_other_organizations_get_not_found(organization_pages: OrganizationPages) -> None:
    theirs = invoicing.refused(Team("oscar").id).pk
    own = invoicing.refused(organization_pages.team.id).pk
    stranger = signed_in(account("stranger"))
    for parts in ((), (own,), (own, "pdf")):
        assert stranger.get(organization_pages.path("invoices", *parts)).status_code == 404
    for parts in ((theirs,), (theirs, "pdf"), ("inv_none",), ("inv_none", "pdf")):
        assert organization_pages["owner"].get(organization_pages.path("invoices", *parts)).status_code == 404
    assert organization_pages["owner"].post(organization_pages.path("invoices", theirs, "pay")).status_code == 404
    assert InvoicePayment.objects.count() == 2


def test_lists_the_newest_month_first(organization_pages: OrganizationPages) -> None:
    assert "There are no invoices yet" in organization_pages.get("owner", "invoices")
    invoicing.drafted(organization_pages.team.id, months_ago=1)
    invoicing.refused(organization_pages.team.id, months_ago=2)
    invoicing.paid(organization_pages.team.id, months_ago=3)
    words = text_of(organization_pages["owner"].get(organization_pages.path("invoices")))
    found = [words.index(word) for word in ("None yet Draft $20.00", "INV-000001 Past due", "INV-000002 Paid")]
    assert found == sorted(found)


def test_a_list_takes_as_many_queries_as_one(
    organization_pages: OrganizationPages, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for ago in range(1, 8):
        invoicing.issued(organization_pages.team.id, months_ago=ago)
    with django_assert_max_num_queries(FRAME_QUERIES_MAX + 4):
        organization_pages.get("owner", "invoices")


def test_an_invoice_shows_a_months_cost_and_its_payment(tenant: Tenant) -> None:
    tenant.save_method()
    tenant.run()
    words = text_of(opened(tenant))
    days = (LAST_MONTH[1] - LAST_MONTH[0]).days
    assert f"Studio $20.00 {2 * days} $40.00 Total $40.00" in words
    assert "Paid Nothing more is owed" in words
    assert "Pay now" not in words


def test_an_invoice_shows_its_credit_notes(tenant: Tenant) -> None:
    tenant.save_method()
    tenant.run()
    invoicing.credit(tenant.invoice, 1_000_000)
    invoicing.record_refund(tenant.invoice, 200)
    assert re.search(
        r"CN-000001 \S+ \S+ \S+ Wallet \$1.00 CN-000002 .{8,12} Payment method \$2.00 A refund to the payment method",
        text_of(opened(tenant)),
    )


def test_an_invoice_has_one_amount(organization_pages: OrganizationPages) -> None:
    invoice = invoicing.issued(organization_pages.team.id, price=11_612_903)
    pages = [organization_pages.get("owner", "invoices", *parts) for parts in ((), (invoice.pk,))]
    file = organization_pages["owner"].get(organization_pages.path("invoices", invoice.pk, "pdf")).content
    amounts = [re.findall(r"\$1[^0]?[\d.]+", page) for page in (*pages, shown(file))]
    price = "$11.612903"
    assert amounts == [["$11.61"], ["$11.61", price, "$11.61", "$11.61", "$11.61"], [price, "$11.61", "$11.61"]]


def test_a_total_below_the_minimum_is_not_charged(organization_pages: OrganizationPages) -> None:
    invoice = invoicing.issued(organization_pages.team.id, price=325_000)
    words = text_of(organization_pages["owner"].get(organization_pages.path("invoices", invoice.pk)))
    assert "Total $0.32 USD Amount due $0.00 USD (the total is too small to be charged)" in words


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("insufficient_funds", "There was not enough money on the card."),
        ("authentication_required", "The bank wants the card&#x27;s owner to confirm."),
        ("do_not_honor", "The bank declined the charge."),
    ],
)
def test_one_says_why_it_is_not_paid(tenant: Tenant, code: str, why: str) -> None:
    tenant.save_method(code)
    tenant.run()
    page = opened(tenant).content.decode()
    assert why in page
    assert "Pay now" in page


class TestPayNow:
    """The button of an unpaid invoice."""

    def test_charges_once_and_ends_being_past_due(self, tenant: Tenant) -> None:
        method = tenant.save_method("card_declined")
        tenant.run()
        assert tenant.organization.is_past_due
        tenant.provider.answer_charges(method, "succeeds")
        answer = pay(tenant)
        assert message(answer) == "success The invoice is paid. Thank you."
        assert (tenant.invoice.status, tenant.organization.is_past_due) == ("paid", False)
        assert tenant.attempts[-1].requested_by == tenant.owner.did
        assert AuditEntry.objects.filter(action="invoice.pay", subject="INV-000001").count() == 1
        pay(tenant)
        assert len(tenant.provider.charges) == 1
        assert audit.findings() == []

    def test_shows_that_the_charge_was_refused(self, tenant: Tenant) -> None:
        tenant.save_method("expired_card")
        tenant.run()
        answer = pay(tenant)
        assert message(answer) == "error The charge was refused. The reason is below."
        assert "The card has expired." in answer.content.decode()

    @pytest.mark.parametrize(
        ("status", "words"), [("processing", "A charge is in progress."), ("review", "A charge is under review.")]
    )
    def test_waits_for_a_charge_with_an_unknown_outcome(self, tenant: Tenant, status: str, words: str) -> None:
        tenant.run()
        tenant.save_method()
        undecided = invoicing.attempt(tenant.invoice, timezone.now() - timedelta(hours=1))
        InvoicePayment.objects.filter(pk=undecided.pk).update(status=status, payment_ref="pi_1")
        page = opened(tenant).content.decode()
        assert words in page
        assert "Pay now" not in page
        assert message(pay(tenant)).startswith(f"warning {words}")
        assert len(tenant.attempts) == 1

    def test_is_offered_once_no_charge_is_made_automatically(self, tenant: Tenant) -> None:
        tenant.save_method("card_declined")
        tenant.run()
        assert "not charged again automatically" not in opened(tenant).content.decode()
        Invoice.objects.filter(pk=tenant.invoice.pk).update(next_attempt_at=None)
        page = opened(tenant).content.decode()
        assert "It is not charged again automatically. Pay it now" in page
        assert "Pay now" in page

    def test_is_refused_within_a_minute(self, tenant: Tenant) -> None:
        tenant.save_method("card_declined")
        tenant.run()
        pay(tenant)
        assert message(pay(tenant)) == "error This invoice was charged just now."
        assert len(tenant.attempts) == 2

    def test_is_offered_only_with_a_saved_payment_method(self, tenant: Tenant) -> None:
        tenant.run()
        page = opened(tenant).content.decode()
        assert '<button type="submit">Save a payment method</button>' in page
        assert "Save one at the payment provider, and $40.00 is charged to it." in page
        assert "Pay now" not in page
        tenant.save_method("card_declined")
        page = opened(tenant).content.decode()
        assert '<button type="submit">Pay now</button>' in page
        assert '<button class="second" type="submit">Save another payment method</button>' in page

    def test_asks_for_a_payment_method_if_there_is_none(self, tenant: Tenant) -> None:
        tenant.run()
        assert message(pay(tenant)).startswith("warning No payment method is saved.")
        assert tenant.attempts == []

    def test_shows_that_the_provider_is_unavailable(self, tenant: Tenant) -> None:
        tenant.save_method("card_declined")
        tenant.run()
        tenant.provider.script("error", path="*", times=100)
        assert "is not responding" in message(pay(tenant))

    def test_a_draft_is_not_paid(self, tenant: Tenant) -> None:
        tenant.save_method()
        invoicing.drafted(tenant.id, months_ago=2)
        draft = Invoice.objects.get(org_id=tenant.id)
        answer = signed_in(tenant.owner).post(f"/organizations/{tenant.id}/invoices/{draft.pk}/pay", follow=True)
        assert answer.status_code == 200
        assert tenant.attempts == []


class TestPdf:
    """The PDF file."""

    def test_the_pdf_has_the_invoices_contents(self, tenant: Tenant, settings: Settings) -> None:
        settings.INVOICE_SELLER = "Gateway Works Ltd\n1 High Street"
        tenant.save_method()
        tenant.run()
        invoicing.credit(tenant.invoice, 1_000_000)
        invoicing.record_refund(tenant.invoice, 200)
        answer = opened(tenant, "pdf")
        assert answer["Content-Type"] == "application/pdf"
        assert answer["Content-Disposition"] == 'attachment; filename="INV-000001.pdf"'
        assert answer.content.startswith(b"%PDF-")
        for word in (
            "INV-000001",
            "Gateway",
            "Street",
            tenant.id,
            "Studio",
            "$40.00",
            "CN-000001",
            "wallet",
            "refunded",
            "Paid",
        ):
            assert word in shown(answer.content)
        assert opened(tenant, "pdf").content == answer.content

    def test_of_a_draft_is_no_invoice(self, organization_pages: OrganizationPages) -> None:
        invoice = invoicing.drafted(organization_pages.team.id)
        answer = organization_pages["owner"].get(organization_pages.path("invoices", invoice.pk, "pdf"))
        assert f'filename="draft-{invoice.period_start:%Y-%m}.pdf"' in answer["Content-Disposition"]
        assert "Draft" in shown(answer.content)
        assert "INV-" not in shown(answer.content)

    @pytest.mark.parametrize(
        "name",
        [
            "<b>&amp; Söhne</b>",
            "Größe & Co. <script>",
            "Ещё",
            "会社",
            "\U0001f600",
            "x" * 120,
            "a b " * 30,
            "\u202eevil",
        ],
    )
    def test_any_name_is_set_as_text(self, organization_pages: OrganizationPages, name: str) -> None:
        Organization.objects.filter(pk=organization_pages.team.id).update(name=name)
        invoice = invoicing.paid(organization_pages.team.id)
        file = invoice_pdf.render(invoice, organization_pages.team.organization, {"studio": name})
        assert organization_pages.team.id in shown(file)

    def test_many_products_take_several_pages(self, organization_pages: OrganizationPages) -> None:
        items = [LineItem(f"product-{number:03}", 1_000_000, 31, 1_000_000) for number in range(200)]
        month = (LAST_MONTH[0], LAST_MONTH[1])
        invoice = invoices.draft(organization_pages.team.id, month, items, now=LAST_MONTH[1] + timedelta(hours=1))
        file = invoice_pdf.render(invoice, organization_pages.team.organization, {})
        assert file.count(b"/Type /Page\n") > 3
        assert "product-199" in shown(file)


def shown(file: bytes) -> str:
    """Return the text of an uncompressed PDF."""
    return file.decode("latin-1").replace("\\(", "(").replace("\\)", ")")


def test_a_billing_member_who_left_sees_nothing(organization_pages: OrganizationPages) -> None:
    invoice = invoicing.paid(organization_pages.team.id)
    Membership.objects.filter(pk=organization_pages.team.people["billing"].pk).update(role=Role.MEMBER)
    assert organization_pages["billing"].get(organization_pages.path("invoices", invoice.pk)).status_code == 403
