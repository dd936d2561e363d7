"""The pages for an organization's money and audit log."""

import re
from datetime import UTC, datetime

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import Account
from billing.models import Budget
from billing.queries.auto_top_ups import Terms
from gateway.core.contract.ids import new_id
from organizations.models import AuditEntry, Invitation
from organizations.operations import alerts, auto_top_ups, members, suspension
from organizations.portal import texts
from organizations.rules.roles import Role
from tests.billing.auto_top_up.saver import Saver
from tests.factories import invoicing
from tests.factories.billing import Purse, settle
from tests.factories.organizations import account
from tests.portal.organization_browser import FRAME_QUERIES_MAX, OrganizationPages, message
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db

ROLES = list(Role)
ABOUT = "/organizations/invitation/about"


class TestMoney:
    """Wallet, estimate and budgets."""

    def test_sets_and_switches_off_a_budget(self, organization_pages: OrganizationPages) -> None:
        form = {"product": "studio", "member": organization_pages.member("member"), "limit": "12.5"}
        assert "budget was set" in message(organization_pages.post("billing", "budgets", **form))
        budget = Budget.objects.get()
        assert (budget.scope, budget.limit_microusd) == ("member_product", 12_500_000)
        page = organization_pages.get("owner", "budgets")
        assert "Studio, Member" in page
        assert re.findall(r'<td class="money"[^>]*>(.*?)</td>', page) == ["$0.00", "$0.00", "$12.50"]
        assert "off" in message(organization_pages.post("owner", "budgets", budget.pk, "disable"))
        budget.refresh_from_db()
        assert budget.disabled_at is not None

    @pytest.mark.parametrize(
        "form",
        [
            {"limit": "-1"},
            {"limit": "much"},
            {"limit": ""},
            {"limit": "1", "product": "x"},
            {"limit": "1", "period": "year"},
            {"limit": "1", "override_limit": "2"},
            {"limit": "1", "last_day": "9998-12-31"},
            {"limit": "1", "override_limit": "-2", "last_day": "9998-12-31"},
            {"limit": "1", "override_limit": "2", "last_day": "2020-01-01"},
            {"limit": "1", "override_limit": "2", "last_day": "9999-12-31"},
            {"limit": "1", "override_limit": "2", "last_day": "31.12.2099"},
        ],
    )
    def test_a_bad_budget_is_reported_beside_the_field(
        self, organization_pages: OrganizationPages, form: dict[str, str]
    ) -> None:
        answer = organization_pages["owner"].post(organization_pages.path("budgets"), form)
        assert answer.status_code == 400
        assert b'role="alert"' in answer.content
        assert not Budget.objects.exists()

    def test_sets_another_limit_for_some_time_and_ends_it(self, organization_pages: OrganizationPages) -> None:
        form = {"limit": "5", "period": "week", "override_limit": "20", "last_day": "2199-12-30"}
        assert "already spent this week" in message(organization_pages.post("billing", "budgets", **form))
        budget = Budget.objects.get()
        assert (budget.period, budget.override_limit_microusd) == ("week", 20_000_000)
        assert budget.override_until == datetime(2199, 12, 31, tzinfo=UTC)
        page = organization_pages.get("owner", "budgets")
        assert "$20.00 until 31 December 2199, 00:00 UTC, then $5.00" in page
        assert re.findall(r'<td class="money"[^>]*>(.*?)</td>', page)[2] == "$20.00"
        organization_pages.post("owner", "budgets", limit="6", period="week")
        assert "then $6.00" in organization_pages.get("owner", "budgets")
        assert "has ended" in message(organization_pages.post("owner", "budgets", budget.pk, "end-override"))
        page = organization_pages.get("owner", "budgets")
        assert "until" not in page
        assert re.findall(r'<td class="money"[^>]*>(.*?)</td>', page)[2] == "$6.00"
        organization_pages.post("owner", "budgets", budget.pk, "end-override")
        log = organization_pages.get("owner", "log")
        assert "set a budget of $5.00 per week for everything" in log
        assert "set a limit of $20.00 per week for everything until 31 December 2199, 00:00 UTC" in log
        assert log.count("ended the other limit per week for everything") == 1

    def test_lists_a_budget_for_each_period(self, organization_pages: OrganizationPages) -> None:
        for period in ("day", "week", "month"):
            organization_pages.post("owner", "budgets", limit="5", period=period)
        page = organization_pages.get("owner", "budgets")
        assert re.findall(r'<td data-label="Each">(\w+)</td>', page) == ["Month", "Week", "Day"]

    def test_too_much_history_is_reported(
        self, organization_pages: OrganizationPages, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("organizations.queries.seat_estimate.REPORT_INTERVALS_MAX", 0)
        assert texts.ERRORS["org_report_limit"] in organization_pages.get("owner", "usage")
        monkeypatch.setattr("billing.queries.reports.REPORT_LOTS_MAX", -1)
        assert texts.ERRORS["org_report_limit"] in organization_pages.get("owner", "wallet")

    def test_amounts_of_a_column_have_as_many_decimals(self, organization_pages: OrganizationPages) -> None:
        organization_pages.post("owner", "budgets", limit="2.000005")
        organization_pages.post("owner", "budgets", limit="1500", product="studio")
        cells = re.findall(r'<td class="money"[^>]*>(.*?)</td>', organization_pages.get("owner", "budgets"))
        assert cells == ["$0.000000", "$0.000000", "$1,500.000000", "$0.000000", "$0.000000", "$2.000005"]

    def test_a_budgets_bar_shows_spent_and_held_amounts(self, organization_pages: OrganizationPages) -> None:
        organization_pages.post("owner", "budgets", limit="0.001")
        purse = Purse("organization", organization_pages.team.id).pay(1_000_000)
        settle(purse.call(300), 250)
        purse.call(500)
        page = organization_pages.get("owner", "budgets")
        assert re.findall(r'<rect class="(\w+)"(?: x="([\d.]+)%")? width="([\d.]+)%"', page) == [
            ("track", "", "100"),
            ("spent", "", "25.0"),
            ("held", "25.0", "50.0"),
        ]
        assert ">75% used</span>" in page
        organization_pages.post("owner", "budgets", limit="0.0005")
        page = organization_pages.get("owner", "budgets")
        assert '<rect class="spent full" width="50.0%"' in page
        assert '<span class="used full">150% used</span>' in page

    def test_the_old_address_leads_to_the_wallet(self, organization_pages: OrganizationPages) -> None:
        answer = organization_pages["owner"].get(organization_pages.path("money"))
        assert (answer.status_code, answer["Location"]) == (301, organization_pages.path("wallet"))


class TestLog:
    """The audit log's texts."""

    def test_every_kind_of_entry_has_words(self, organization_pages: OrganizationPages, provider: FakeStripe) -> None:
        organization_pages.seat()
        account_id = provider.connect(metadata={"org_id": organization_pages.team.id})["id"]
        member = organization_pages.member("member")
        for parts, form in [
            (("payments",), {"amount": "5", "key": new_id("frm")}),
            (("payment-method",), {"key": new_id("frm")}),
            (("products", "studio", "external-billing"), {"account": account_id}),
            (("members", member, "role"), {"role": "admin"}),
            (("members", member, "remove"), {}),
            (("products", "studio", "limit"), {"max_seats": "5"}),
            (("products", "studio", "disable"), {}),
            (("invitations",), {"role": "member"}),
            (("budgets",), {"limit": "2", "override_limit": "3", "last_day": "2199-12-31"}),
            (("invoices", invoicing.issued(organization_pages.team.id).pk, "pay"), {}),
            (("rename",), {"name": "Acme and Sons"}),
        ]:
            organization_pages.post("owner", *parts, **form)
        organization_pages.post("owner", "invitations", Invitation.objects.latest("created_at").pk, "revoke")
        for ending in ("end-override", "disable"):
            organization_pages.post("owner", "budgets", Budget.objects.get().pk, ending)
        team = organization_pages.team
        alerts.set_threshold(org_id=team.id, amount_microusd=5_000_000, actor_did=team.owner.did)
        Saver(provider, ("organization", team.id), team.owner.did).save_method()
        auto_top_ups.put(org_id=team.id, terms=Terms(is_enabled=True), actor_did=team.owner.did)
        auto_top_ups.turn_off(org_id=team.id, actor_did=team.owner.did)
        auto_top_ups.remove_method(org_id=team.id, actor_did=team.owner.did)
        suspension.suspend(org_id=team.id, text="", actor_did=team.owner.did)
        suspension.lift(org_id=team.id, actor_did=team.owner.did)
        members.leave(org_id=team.id, actor_did=account("billing").did)
        assert set(AuditEntry.objects.values_list("action", flat=True)) == set(texts.ACTIONS)
        page = organization_pages.get("admin", "log")
        who = f"Member ({account('member').did})"
        for sentence in (
            "created the organization",
            "renamed the organization from Acme to Acme and Sons",
            "set the balance for alerts from $1.00 to $5.00",
            "joined as billing",
            f"changed {who} from member to admin",
            f"removed {who} (admin)",
            "left (billing)",
            f"assigned a seat for Studio to {who}",
            f"removed the seat for Studio from {who}",
            "changed the seat cap of Studio from no cap to 5",
            "set a budget of $2.00 per month for everything",
        ):
            assert sentence in page
        assert page.index("turned off a budget") < page.index("created the organization")

    def test_a_budget_of_the_version_before_counts_a_month(self, organization_pages: OrganizationPages) -> None:
        organization = organization_pages.team.organization
        AuditEntry.objects.create(
            organization=organization,
            actor_did=organization_pages.team.owner.did,
            action="budget.set",
            subject="bud_1",
            detail={"scope": "org", "limitMicrousd": 2_000_000},
            created_at=organization.created_at,
        )
        assert "set a budget of $2.00 per month for everything" in organization_pages.get("owner", "log")

    def test_tells_people_apart_who_take_the_same_name(self, organization_pages: OrganizationPages) -> None:
        for one in ("owner", "admin"):
            Account.objects.filter(pk=account(one).pk).update(email=f"{one}@example.com")
        organization_pages["admin"].post("/account/name/", {"display_name": "Owner"})
        for role in ("owner", "admin"):
            organization_pages.post(role, "invitations", role="member")
        page = organization_pages.get("owner", "log")
        newest, before, *_ = re.findall(r"<strong>(Owner[^<]*)</strong> invited someone", page)
        assert (newest, before) == ("Owner (admin@example.com)", "Owner (owner@example.com)")

    def test_is_paged_in_few_queries(
        self, organization_pages: OrganizationPages, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        organization = organization_pages.team.organization
        AuditEntry.objects.bulk_create(
            AuditEntry(
                organization=organization,
                actor_did=organization_pages.team.owner.did,
                action="product.enable",
                subject="studio",
                created_at=organization.created_at,
            )
            for _ in range(60)
        )
        organization_pages.get("owner")
        with django_assert_max_num_queries(FRAME_QUERIES_MAX + 6):
            page = organization_pages["owner"].get(organization_pages.path("log") + "?page=2").content.decode()
        assert "Page 2 of 2" in page
