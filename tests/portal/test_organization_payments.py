"""An organization's payments and external billing in the portal: access by role, and messages."""

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries, Settings

from billing.models import Checkout, ExternalMapping
from billing.operations import checkouts
from billing.queries import audit
from gateway.core.contract.ids import new_id
from organizations.models import AuditEntry
from tests.factories.organizations import Team, account
from tests.portal.organization_browser import FRAME_QUERIES_MAX, OrganizationPages, message, signed_in
from tests.portal.test_wallet import text_of
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db

MILLION = 1_000_000


@pytest.fixture
def organization_pages(provider: FakeStripe, founded: OrganizationPages) -> OrganizationPages:
    return founded.again()


def add(organization_pages: OrganizationPages, who: str = "billing", *, amount: str = "12.50", **form: str) -> Any:
    return organization_pages[who].post(
        organization_pages.path("payments"), {"amount": amount, "key": new_id("frm"), **form}
    )


def keep(organization_pages: OrganizationPages, who: str = "billing", key: str = "") -> Any:
    return organization_pages[who].post(organization_pages.path("payment-method"), {"key": key or new_id("frm")})


def external(organization_pages: OrganizationPages, account_id: str, who: str = "owner") -> Any:
    return organization_pages[who].post(
        organization_pages.path("products", "studio", "external-billing"), {"account": account_id}
    )


def converged(checkout: Checkout) -> Checkout:
    return checkouts.converge(checkout, now=checkout.created_at)


class TestAddMoney:
    """The form on the wallet page."""

    @pytest.mark.parametrize("who", ["owner", "billing"])
    def test_leads_to_the_hosted_page(
        self, organization_pages: OrganizationPages, provider: FakeStripe, who: str
    ) -> None:
        answer = add(organization_pages, who)
        checkout = Checkout.objects.get()
        assert (answer.status_code, answer["Location"]) == (303, checkout.url)
        assert checkout.owner == ("organization", organization_pages.team.id)
        assert (checkout.kind, checkout.amount_microusd, checkout.product) == ("top_up", 12_500_000, None)
        assert checkout.requested_by == account(who).did
        [session] = provider.sessions
        assert session["success_url"].endswith(f"/organizations/{organization_pages.team.id}/payments/{checkout.pk}")
        assert AuditEntry.objects.filter(action="top_up.begin", actor_did=account(who).did).count() == 1

    @pytest.mark.parametrize("who", ["admin", "member"])
    def test_is_for_those_who_manage_money(
        self, organization_pages: OrganizationPages, provider: FakeStripe, who: str
    ) -> None:
        assert add(organization_pages, who).status_code == 403
        assert keep(organization_pages, who).status_code == 403
        assert organization_pages[who].get(organization_pages.path("payments", "txn_1")).status_code == 403
        assert (Checkout.objects.count(), provider.requests) == (0, [])

    def test_a_stranger_finds_nothing(self, organization_pages: OrganizationPages) -> None:
        answer = signed_in(account("stranger")).post(
            organization_pages.path("payments"), {"amount": "5", "key": new_id("frm")}
        )
        assert answer.status_code == 404
        assert not Checkout.objects.exists()

    def test_may_be_for_one_product(self, organization_pages: OrganizationPages, provider: FakeStripe) -> None:
        add(organization_pages, product="studio")
        checkout = Checkout.objects.get()
        assert checkout.product == "studio"
        provider.pay(str(checkout.session_ref))
        converged(checkout)
        words = text_of(organization_pages["owner"].get(organization_pages.path("wallet")))
        assert "Available $12.50 Balance $0.00 Credits $12.50" in words
        assert "$12.50 of $12.50, for studio only" in words
        assert "Credit for studio only Paid $12.50" in text_of(
            organization_pages["owner"].get(organization_pages.path("payments"))
        )
        assert audit.findings() == []

    def test_a_product_of_elsewhere_is_refused(self, organization_pages: OrganizationPages) -> None:
        answer = add(organization_pages, product="courier")
        assert answer.status_code == 400
        assert 'id="id_product_error"' in answer.content.decode()
        assert not Checkout.objects.exists()

    def test_the_form_twice_is_one_payment(self, organization_pages: OrganizationPages, provider: FakeStripe) -> None:
        page = organization_pages["billing"].get(organization_pages.path("wallet")).content.decode()
        key = page.partition(f'action="{organization_pages.path("payments")}"')[2].partition('name="key" value="')[2][
            :30
        ]
        assert add(organization_pages, key=key)["Location"] == add(organization_pages, key=key)["Location"]
        assert len(provider.sessions) == Checkout.objects.count() == 1

    def test_another_amount_under_the_same_form(self, organization_pages: OrganizationPages) -> None:
        key = new_id("frm")
        add(organization_pages, key=key)
        answer = add(organization_pages, amount="7", key=key)
        assert answer.status_code == 422
        assert "This form was already sent" in message(answer)
        assert Checkout.objects.count() == 1

    def test_a_provider_that_is_away(self, organization_pages: OrganizationPages, provider: FakeStripe) -> None:
        provider.script("error", times=5)
        key = new_id("frm")
        answer = add(organization_pages, key=key, product="studio")
        assert answer.status_code == 503
        assert "The payment provider is not responding." in message(answer)
        page = answer.content.decode()
        assert f'name="key" value="{key}"' in page
        assert '<option value="studio" selected>' in page

    def test_the_policy_lets_the_form_lead_there(
        self, organization_pages: OrganizationPages, provider: FakeStripe
    ) -> None:
        for page in (organization_pages["owner"].get(organization_pages.path(part)) for part in ("wallet", "payments")):
            assert page["Content-Security-Policy"].endswith(f"https://checkout.stripe.com {provider.origin}")
        assert (
            organization_pages["owner"]
            .get(organization_pages.path("log"))["Content-Security-Policy"]
            .endswith("form-action 'self'")
        )

    def test_no_button_without_a_provider(self, organization_pages: OrganizationPages, settings: Settings) -> None:
        settings.STRIPE_SECRET_KEY = ""
        page = organization_pages["owner"].get(organization_pages.path("wallet"))
        assert "You cannot add money because no payment provider is set up." in text_of(page)
        assert "Save a payment method" not in organization_pages.get("owner", "payments")

    def test_the_page_takes_few_queries(
        self, organization_pages: OrganizationPages, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        for _ in range(4):
            add(organization_pages)
        for part, most in (("wallet", 12), ("payments", 12), ("budgets", 12), ("usage", 21)):
            with django_assert_max_num_queries(FRAME_QUERIES_MAX + most):
                organization_pages["owner"].get(organization_pages.path(part))


class TestPaymentMethod:
    """The button that saves a payment method."""

    def test_leads_to_a_page_that_charges_nothing(
        self, organization_pages: OrganizationPages, provider: FakeStripe
    ) -> None:
        answer = keep(organization_pages)
        checkout = Checkout.objects.get()
        assert (answer.status_code, answer["Location"]) == (303, checkout.url)
        assert (checkout.kind, checkout.amount_microusd) == ("payment_method", None)
        assert provider.sessions[0]["mode"] == "setup"
        assert "No payment method is saved." in text_of(
            organization_pages["owner"].get(organization_pages.path("payments"))
        )
        provider.pay(str(checkout.session_ref))
        converged(checkout)
        page = organization_pages["owner"].get(organization_pages.path("payments"))
        assert f"A payment method was saved on {checkout.created_at:%-d %B %Y}" in text_of(page)
        words = text_of(organization_pages["owner"].get(organization_pages.path("payments", checkout.pk)))
        assert "Saved The payment method is saved for later. Nothing was charged. For Payment method" in words

    def test_twice_is_one(self, organization_pages: OrganizationPages, provider: FakeStripe) -> None:
        key = new_id("frm")
        assert keep(organization_pages, key=key)["Location"] == keep(organization_pages, key=key)["Location"]
        assert len(provider.sessions) == 1

    def test_a_provider_that_is_away(self, organization_pages: OrganizationPages, provider: FakeStripe) -> None:
        provider.script("error", times=5)
        answer = keep(organization_pages)
        assert (answer.status_code, answer["Location"]) == (303, organization_pages.path("payments"))
        assert "is not responding" in text_of(organization_pages["billing"].get(answer["Location"]))


class TestState:
    """The page after the return from the provider."""

    def test_waiting_then_paid(self, organization_pages: OrganizationPages, provider: FakeStripe) -> None:
        add(organization_pages)
        checkout = Checkout.objects.get()
        path = organization_pages.path("payments", checkout.pk)
        assert "Waiting for confirmation" in text_of(organization_pages["billing"].get(path))
        provider.pay(str(checkout.session_ref))
        assert "Waiting for confirmation" in text_of(organization_pages["billing"].get(path)), (
            "only our own books count"
        )
        converged(checkout)
        assert "Paid The money is in the wallet. For Wallet balance Amount $12.50" in text_of(
            organization_pages["owner"].get(path)
        )
        assert "Available $12.50 Balance $12.50" in text_of(
            organization_pages["owner"].get(organization_pages.path("wallet"))
        )
        assert "Wallet balance Paid $12.50" in text_of(
            organization_pages["owner"].get(organization_pages.path("payments"))
        )

    def test_a_receipt_names_the_organization_and_who_paid(
        self, organization_pages: OrganizationPages, provider: FakeStripe
    ) -> None:
        add(organization_pages, product="studio")
        checkout = Checkout.objects.get()
        path = organization_pages.path("payments", checkout.pk, "receipt")
        assert organization_pages["owner"].get(path).status_code == 404, "nothing is paid yet"
        provider.pay(str(checkout.session_ref))
        converged(checkout)
        words = text_of(organization_pages["owner"].get(path))
        assert f"Organization Acme Paid by Billing, {account('billing').did}" in words
        assert "Description Credit for studio only Amount paid $12.50 USD" in words
        assert organization_pages["admin"].get(path).status_code == 403

    def test_another_organizations_payment_is_not_found(self, organization_pages: OrganizationPages) -> None:
        add(organization_pages)
        other = Team("oscar", "Other")
        path = f"/organizations/{other.id}/payments/{Checkout.objects.get().pk}"
        assert signed_in(account("oscar")).get(path).status_code == 404

    def test_ones_own_payment_is_not_the_organizations(self, organization_pages: OrganizationPages) -> None:
        organization_pages["owner"].post("/wallet/payments", {"amount": "5", "key": new_id("frm")})
        checkout = Checkout.objects.get()
        assert organization_pages["owner"].get(organization_pages.path("payments", checkout.pk)).status_code == 404
        assert organization_pages["owner"].get(f"/wallet/payments/{checkout.pk}").status_code == 200


class TestExternalBilling:
    """External billing of a product's seats."""

    def test_lists_the_conditions(self, organization_pages: OrganizationPages) -> None:
        words = text_of(
            organization_pages["owner"].get(organization_pages.path("products", "studio", "external-billing"))
        )
        assert "This gateway bills these seats: $20.00 per seat per month." in words
        assert f"its metadata has org_id set to {organization_pages.team.id}" in words
        assert "in test mode like this gateway" in words

    def test_a_confirmed_account_bills(self, organization_pages: OrganizationPages, provider: FakeStripe) -> None:
        account_id = provider.connect(metadata={"org_id": organization_pages.team.id})["id"]
        answer = external(organization_pages, account_id)
        assert (answer.status_code, answer["Location"]) == (303, organization_pages.path("products"))
        mapping = ExternalMapping.objects.get()
        assert (mapping.org_id, mapping.product, mapping.external_org_id) == (
            organization_pages.team.id,
            "studio",
            account_id,
        )
        products = text_of(organization_pages["owner"].get(answer["Location"]))
        assert "That account now bills the seats of Studio." in products
        assert "Its seats are billed externally." in products
        money = text_of(organization_pages["owner"].get(organization_pages.path("usage")))
        assert "Studio Billed elsewhere 1 $0.00 $0.00 Total $0.00 $0.00" in money
        page = text_of(
            organization_pages["owner"].get(organization_pages.path("products", "studio", "external-billing"))
        )
        assert f"The account {account_id} at the payment provider (in test mode) bills these seats." in page
        log = organization_pages.get("admin", "log")
        assert f"assigned the billing of the seats of Studio to {account_id} (test)" in log

    def test_an_unsuitable_account_is_reported_and_changes_nothing(
        self, organization_pages: OrganizationPages, provider: FakeStripe
    ) -> None:
        account_id = provider.connect(metadata={})["id"]
        answer = external(organization_pages, account_id)
        assert answer.status_code == 409
        assert "did not confirm that this account bills for your organization" in message(answer)
        assert f'value="{account_id}"' in answer.content.decode()
        assert not ExternalMapping.objects.exists()

    @pytest.mark.parametrize("name", ["", "nobody", "acct_", "acct_1/../x", "acct_" + "1" * 70])
    def test_a_name_that_makes_no_sense(
        self, organization_pages: OrganizationPages, provider: FakeStripe, name: str
    ) -> None:
        answer = external(organization_pages, name)
        assert answer.status_code == 400
        assert 'id="id_account_error"' in answer.content.decode()
        assert provider.requests == []

    @pytest.mark.parametrize("who", ["admin", "billing", "member"])
    def test_is_for_owners(self, organization_pages: OrganizationPages, provider: FakeStripe, who: str) -> None:
        account_id = provider.connect(metadata={"org_id": organization_pages.team.id})["id"]
        assert external(organization_pages, account_id, who).status_code == 403
        assert (
            organization_pages[who].get(organization_pages.path("products", "studio", "external-billing")).status_code
            == 403
        )
        assert "external-billing" not in organization_pages.get(who, "products")
        assert not ExternalMapping.objects.exists()

    def test_a_product_that_is_none(self, organization_pages: OrganizationPages) -> None:
        assert (
            organization_pages["owner"]
            .get(organization_pages.path("products", "nothing", "external-billing"))
            .status_code
            == 404
        )

    def test_without_a_provider(self, organization_pages: OrganizationPages, settings: Settings) -> None:
        settings.STRIPE_SECRET_KEY = ""
        page = organization_pages["owner"].get(organization_pages.path("products", "studio", "external-billing"))
        assert "No payment provider is set up, so this cannot be confirmed." in text_of(page)
        assert "Confirm with the provider" not in page.content.decode()
