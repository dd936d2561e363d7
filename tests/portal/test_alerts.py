"""The pages of alerts: thresholds, switches of mails, and what was told to whom."""

import html
import re
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from billing.queries import alerts as thresholds
from gateway.core.events.mail_people import Person
from gateway.core.events.models import Mail, MailOptOut
from gateway.core.events.operations.fanning_out import fan_out
from gateway.core.events.operations.mails import Postman
from organizations.models import AuditEntry
from organizations.operations import invitations
from organizations.rules.roles import Role
from tests.events.mailing import NOW, low
from tests.factories.organizations import Team, account
from tests.portal.organization_browser import FRAME_QUERIES_MAX, OrganizationPages, message

pytestmark = pytest.mark.django_db

OWN, SWITCHES = "/wallet/alerts", "/wallet/alerts/mails"


@pytest.fixture(autouse=True)
def with_mail(settings: Settings) -> None:
    settings.MAIL_IS_CONFIGURED = True


def text(answer: Any) -> str:
    body = answer.content.decode().partition("<main")[2]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def switches(answer: Any) -> dict[str, bool]:
    """Return the switches of a page, and which of them are on."""
    found = re.findall(r'name="mail" value="([^"]+)"( checked)?', answer.content.decode())
    return {html.unescape(value): bool(on) for value, on in found}


def mailed(name: str, org_id: str) -> None:
    """Mail a person about an organization."""
    low(Person(account(name).did, name.title(), f"{name}@example.com"), org_id=org_id)
    Postman().send_due(lambda: NOW)


class TestOwn:
    """/wallet/alerts."""

    def test_sets_the_threshold(self, alice: Client) -> None:
        owner = ("account", account("alice").did)
        page = alice.get(OWN).content.decode()
        assert 'name="amount" value="1.00"' in page
        assert 'aria-current="page">Alerts' in page
        answer = alice.post(OWN, {"amount": "12.5"}, follow=True)
        assert message(answer) == "success You will be told when there is less than $12.50 in your wallet."
        assert thresholds.threshold_microusd(owner) == 12_500_000
        answer = alice.post(OWN, {"amount": "0"}, follow=True)
        assert "You will not be told of a low balance." in message(answer)
        assert thresholds.threshold_microusd(owner) == 0

    @pytest.mark.parametrize("amount", ["", "-1", "1e3", "x", "0.0000001", "99999999999", "NaN"])
    def test_a_bad_amount_changes_nothing(self, alice: Client, amount: str) -> None:
        answer = alice.post(OWN, {"amount": amount})
        assert answer.status_code == 400
        assert 'id="id_amount_error"' in answer.content.decode()
        assert thresholds.threshold_microusd(("account", account("alice").did)) == 1_000_000

    def test_switches_are_those_of_the_account_and_of_each_organization(self, alice: Client) -> None:
        did = account("alice").did
        team = Team("olivia", "Acme <b>")
        team.join("alice")
        own = Team("alice", "Alice's")
        found = switches(alice.get(OWN))
        assert set(found) == {
            *(f"account|{did}|{kind}" for kind in ("wallet", "budget", "model")),
            *(f"organization|{own.id}|{kind}" for kind in ("wallet", "budget", "member_budget", "own_budget", "model")),
            f"organization|{team.id}|own_budget",
        }
        assert all(found.values())
        assert b"<legend>Acme &lt;b&gt;</legend>" in alice.get(OWN).content

    def test_switches_are_saved(self, alice: Client) -> None:
        did = account("alice").did
        shown = list(switches(alice.get(OWN)))
        answer = alice.post(SWITCHES, {"shown": shown, "mail": shown[1:]}, follow=True)
        assert message(answer) == "success Your choice of mails was saved."
        assert list(MailOptOut.objects.values_list("recipient", "owner_key", "kind")) == [(did, did, "wallet")]
        assert switches(alice.get(OWN)) == {shown[0]: False, **dict.fromkeys(shown[1:], True)}
        alice.post(SWITCHES, {"shown": shown, "mail": shown})
        assert not MailOptOut.objects.exists()

    def test_only_ones_own_switches_are_changed(self, alice: Client) -> None:
        team = Team("olivia", "Acme")
        bob = account("bob").did
        for value in (
            f"account|{bob}|wallet",
            f"organization|{team.id}|wallet",
            f"account|{account('alice').did}|security",
            "x",
            "|",
            "",
        ):
            assert alice.post(SWITCHES, {"shown": [value]}).status_code == 303
        assert not MailOptOut.objects.exists()

    def test_a_switch_that_was_not_shown_stays(self, alice: Client) -> None:
        alice.post(SWITCHES, {})
        assert not MailOptOut.objects.exists()

    def test_history(self, alice: Client) -> None:
        assert "Nothing yet." in text(alice.get(OWN))
        team = Team("alice", "Acme <b>")
        mailed("alice", team.id)
        mailed("bob", team.id)
        shown = text(alice.get(OWN)).partition("What was told when")[2]
        assert "$0.80 left in the wallet of Acme 2 January 2030, 03:04 Sent to alice@example.com" in shown
        assert "bob" not in shown
        low(Person(account("alice").did, "Alice", ""))
        assert "Not sent. The person has no verified email address." in text(alice.get(OWN))

    def test_without_a_mail_server_the_history_says_so(self, alice: Client, settings: Settings) -> None:
        settings.MAIL_IS_CONFIGURED = False
        low(Person(account("alice").did, "Alice", "alice@example.com"))
        shown = text(alice.get(OWN))
        assert "This service sends no mail." in shown
        assert "$0.80 left in the wallet of Acme" in shown
        assert switches(alice.get(OWN)) == {}

    def test_many_are_paged_in_few_queries(
        self, alice: Client, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        for _ in range(51):
            low(Person(account("alice").did, "Alice", ""))
        with django_assert_max_num_queries(FRAME_QUERIES_MAX + 6):
            page = alice.get(OWN)
        assert "Page 1 of 2" in text(page)

    def test_asks_a_stranger_to_sign_in(self) -> None:
        assert Client().get(OWN)["Location"] == f"/account/login/?next={OWN}"
        assert Client().post(SWITCHES)["Location"].startswith("/account/login/")


class TestOrganization:
    """/organizations/<org_id>/alerts."""

    @pytest.mark.parametrize(("role", "status"), [("owner", 200), ("billing", 200), ("admin", 403), ("member", 403)])
    def test_who_sees_it(self, organization_pages: OrganizationPages, role: str, status: int) -> None:
        assert organization_pages[role].get(organization_pages.path("alerts")).status_code == status
        for parts in (("alerts",), ("alerts", "mails")):
            answer = organization_pages[role].post(organization_pages.path(*parts), {"amount": "7"})
            assert answer.status_code == (303 if status == 200 else 403)
        owner = ("organization", organization_pages.team.id)
        assert thresholds.threshold_microusd(owner) == (7_000_000 if status == 200 else 1_000_000)

    def test_setting_the_threshold_is_logged(self, organization_pages: OrganizationPages) -> None:
        answer = organization_pages.post("billing", "alerts", amount="25")
        assert "told when there is less than $25.00 in the wallet." in message(answer)
        entry = AuditEntry.objects.get(action="alerts.threshold")
        assert entry.detail == {"beforeMicrousd": 1_000_000, "afterMicrousd": 25_000_000}
        assert organization_pages["owner"].post(organization_pages.path("alerts"), {"amount": "x"}).status_code == 400

    def test_the_history_says_who_was_told(self, organization_pages: OrganizationPages) -> None:
        mailed("billing", organization_pages.team.id)
        mailed("owner", "org_other")
        shown = text(organization_pages["owner"].get(organization_pages.path("alerts"))).partition("History")[2]
        assert shown.count("left in the wallet") == 1
        assert "2 January 2030, 03:04 Billing Sent" in shown

    def test_the_history_does_not_say_who_is_invited(self, organization_pages: OrganizationPages) -> None:
        team = organization_pages.team
        invitations.invite(org_id=team.id, role=Role.MEMBER, email="carol@example.com", actor_did=team.owner.did)
        fan_out(now=NOW)
        assert Mail.objects.filter(kind="invitation").exists()
        assert "carol" not in organization_pages.get("billing", "alerts")

    def test_switches_are_the_readers_own(self, organization_pages: OrganizationPages) -> None:
        path = organization_pages.path("alerts")
        shown = list(switches(organization_pages["owner"].get(path)))
        assert [one.rpartition("|")[2] for one in shown] == ["wallet", "budget", "member_budget", "own_budget", "model"]
        organization_pages["owner"].post(organization_pages.path("alerts", "mails"), {"shown": shown})
        assert not any(switches(organization_pages["owner"].get(path)).values())
        assert all(switches(organization_pages["billing"].get(path)).values())
