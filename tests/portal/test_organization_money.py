"""The pages of an organization's money and of its log."""

import re

import pytest
from pytest_django import DjangoAssertNumQueries

from billing.models import Budget
from gateway.core.contract.ids import new_id
from organizations.models import AuditEntry, Invitation
from organizations.portal import words
from organizations.rules.roles import Role
from tests.factories import invoicing
from tests.factories.billing import Purse, settle
from tests.portal.organization_house import FRAME_QUERIES_MAX, House, message
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db

ROLES = list(Role)
ABOUT = "/organizations/invitation/about"


class TestMoney:
    """Wallet, estimate and budgets."""

    def test_sets_and_switches_off_a_budget(self, house: House) -> None:
        form = {"product": "studio", "member": house.member("member"), "limit": "12.5"}
        assert "budget was set" in message(house.post("billing", "budgets", **form))
        budget = Budget.objects.get()
        assert (budget.scope, budget.limit_microusd) == ("member_product", 12_500_000)
        page = house.get("owner", "budgets")
        assert "Studio, Member" in page
        assert re.findall(r'<td class="money">(.*?)</td>', page) == ["$0.00", "$0.00", "$12.50"]
        assert "off" in message(house.post("owner", "budgets", budget.pk, "disable"))
        budget.refresh_from_db()
        assert budget.disabled_at is not None

    @pytest.mark.parametrize(
        "form", [{"limit": "-1"}, {"limit": "much"}, {"limit": ""}, {"limit": "1", "product": "x"}]
    )
    def test_a_bad_budget_is_said_beside_the_field(self, house: House, form: dict[str, str]) -> None:
        answer = house["owner"].post(house.path("budgets"), form)
        assert answer.status_code == 400
        assert b'role="alert"' in answer.content
        assert not Budget.objects.exists()

    def test_too_much_history_is_told(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("organizations.queries.seat_estimate.REPORT_INTERVALS_MAX", 0)
        assert words.ERRORS["org_report_limit"] in house.get("owner", "usage")
        monkeypatch.setattr("billing.queries.reports.REPORT_LOTS_MAX", -1)
        assert words.ERRORS["org_report_limit"] in house.get("owner", "wallet")

    def test_amounts_of_a_column_have_as_many_decimals(self, house: House) -> None:
        house.post("owner", "budgets", limit="2.000005")
        house.post("owner", "budgets", limit="1500", product="studio")
        cells = re.findall(r'<td class="money">(.*?)</td>', house.get("owner", "budgets"))
        assert cells == ["$0.000000", "$0.000000", "$1,500.000000", "$0.000000", "$0.000000", "$2.000005"]

    def test_a_budget_has_a_bar_of_what_is_spent_and_held(self, house: House) -> None:
        house.post("owner", "budgets", limit="0.001")
        purse = Purse("organization", house.team.id).pay(1_000_000)
        settle(purse.call(300), 250)
        purse.call(500)
        page = house.get("owner", "budgets")
        assert re.findall(r'<rect class="(\w+)"(?: x="([\d.]+)%")? width="([\d.]+)%"', page) == [
            ("track", "", "100"),
            ("spent", "", "25.0"),
            ("held", "25.0", "50.0"),
        ]
        assert ">75% used</span>" in page
        house.post("owner", "budgets", limit="0.0005")
        page = house.get("owner", "budgets")
        assert '<rect class="spent full" width="50.0%"' in page
        assert '<span class="used full">150% used</span>' in page

    def test_the_old_address_leads_to_the_wallet(self, house: House) -> None:
        answer = house["owner"].get(house.path("money"))
        assert (answer.status_code, answer["Location"]) == (301, house.path("wallet"))


class TestLog:
    """Who did what, in words."""

    def test_every_kind_of_entry_has_words(self, house: House, provider: FakeStripe) -> None:
        house.seat()
        account_id = provider.connect(metadata={"org_id": house.team.id})["id"]
        member = house.member("member")
        for parts, form in [
            (("payments",), {"amount": "5", "key": new_id("frm")}),
            (("payment-method",), {"key": new_id("frm")}),
            (("products", "studio", "external-billing"), {"account": account_id}),
            (("members", member, "role"), {"role": "admin"}),
            (("members", member, "remove"), {}),
            (("products", "studio", "limit"), {"max_seats": "5"}),
            (("products", "studio", "disable"), {}),
            (("invitations",), {"role": "member"}),
            (("budgets",), {"limit": "2"}),
            (("invoices", invoicing.issued(house.team.id).pk, "pay"), {}),
            (("rename",), {"name": "Acme and Sons"}),
        ]:
            house.post("owner", *parts, **form)
        house.post("owner", "invitations", Invitation.objects.latest("created_at").pk, "revoke")
        house.post("owner", "budgets", Budget.objects.get().pk, "disable")
        assert set(AuditEntry.objects.values_list("action", flat=True)) == set(words.ACTIONS)
        page = house.get("admin", "log")
        for sentence in (
            "created the organization",
            "renamed the organization from Acme to Acme and Sons",
            "joined as billing",
            "changed Member from member to admin",
            "removed Member (admin)",
            "assigned a seat for Studio to Member",
            "removed the seat for Studio from Member",
            "changed the seat limit of Studio from no limit to 5",
            "set a budget of $2.00 per month for everything",
        ):
            assert sentence in page
        assert page.index("turned off a budget") < page.index("created the organization")

    def test_is_paged_in_few_queries(self, house: House, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
        organization = house.team.organization
        AuditEntry.objects.bulk_create(
            AuditEntry(
                organization=organization,
                actor_did=house.team.owner.did,
                action="product.enable",
                subject="studio",
                created_at=organization.created_at,
            )
            for _ in range(60)
        )
        house.get("owner")
        with django_assert_max_num_queries(FRAME_QUERIES_MAX + 6):
            page = house["owner"].get(house.path("log") + "?page=2").content.decode()
        assert "Page 2 of 2" in page
