"""GET and PUT /api/account/auto-top-up and /api/organizations/<org_id>/billing/auto-top-up."""

from typing import Any

import pytest
from django.test import Client

from billing.models import AutoTopUp, AutoTopUpCharge
from billing.operations import auto_top_up_charges, auto_top_ups
from organizations.models import AuditEntry
from organizations.operations import invitations
from organizations.rules.roles import Role
from tests.billing.auto_top_up.saver import USD, Saver
from tests.factories.organizations import Team
from tests.portal.test_organization_session import Browser
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db

PATH = "/api/account/auto-top-up"
BODY: dict[str, Any] = {
    "enabled": True,
    "thresholdMicrousd": 5 * USD,
    "amountMicrousd": 20 * USD,
    "monthlyLimitMicrousd": 100 * USD,
}
PROPOSED = {**BODY, "enabled": False, "status": "off"}


@pytest.fixture
def person(provider: FakeStripe) -> Browser:
    return Browser()


def test_a_person_sets_it_and_sees_what_it_does(person: Browser, provider: FakeStripe) -> None:
    saver = Saver(provider, did=person.account.did)
    assert person("GET", PATH) == (200, PROPOSED)
    assert person("PUT", PATH, BODY) == (200, {**BODY, "status": "needs_payment_method"})
    saver.save_method("card_declined")
    assert person("GET", PATH) == (200, {**BODY, "status": "ready"})
    saver.spend(6 * USD)
    saver.run()
    assert person("GET", PATH) == (200, {**BODY, "status": "paused"})
    status, error = person("PUT", PATH, BODY)
    assert (status, error["error"]["code"]) == (429, "rate_limited")
    assert person("GET", PATH)[1]["status"] == "paused"
    assert person("PUT", PATH, {**BODY, "enabled": False}) == (200, PROPOSED)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("enabled", "true"),
        ("enabled", None),
        ("thresholdMicrousd", 0),
        ("thresholdMicrousd", -1),
        ("thresholdMicrousd", 10_000 * USD + 1),
        ("thresholdMicrousd", 1.5),
        ("amountMicrousd", 999_999),
        ("amountMicrousd", 20 * USD + 1),
        ("amountMicrousd", 10_001 * USD),
        ("amountMicrousd", True),
        ("amountMicrousd", "20000000"),
        ("monthlyLimitMicrousd", 20 * USD - 10_000),
        ("monthlyLimitMicrousd", 10**12 + 1),
        ("monthlyLimitMicrousd", 2**63 - 1),
        ("status", "ready"),
    ],
)
def test_what_is_wrong_is_named_and_changes_nothing(person: Browser, member: str, value: object) -> None:
    status, error = person("PUT", PATH, {**BODY, member: value})
    assert (status, error["error"]["code"], error["error"]["param"]) == (400, "invalid_request", member)
    assert not AutoTopUp.objects.exists()


@pytest.mark.parametrize("member", list(BODY))
def test_nothing_may_be_left_out(person: Browser, member: str) -> None:
    status, error = person("PUT", PATH, {name: value for name, value in BODY.items() if name != member})
    assert (status, error["error"]["param"]) == (400, member)
    assert not AutoTopUp.objects.exists()


def test_strangers_and_pages_of_others_are_refused(person: Browser) -> None:
    assert Client().get(PATH).status_code == 401
    assert person("PUT", PATH, BODY, **{"X-CSRFToken": "wrong"})[0] == 403
    assert not AutoTopUp.objects.exists()


def test_an_organization_is_charged_for_by_owners_and_billing_members_only(
    person: Browser, provider: FakeStripe
) -> None:
    team = Team()
    path = f"/api/organizations/{team.id}/billing/auto-top-up"
    assert person("GET", path)[0] == 403
    for role, is_allowed in ((Role.OWNER, True), (Role.BILLING, True), (Role.ADMIN, False), (Role.MEMBER, False)):
        browser = Browser(f"{role}@example.com")
        _, token = invitations.invite(org_id=team.id, role=role, email=None, actor_did=team.owner.did)
        invitations.accept(token=token, account=browser.account)
        AutoTopUp.objects.all().delete()
        assert browser("GET", path)[0] == (200 if is_allowed else 403)
        status, answer = browser("PUT", path, BODY)
        assert status == (200 if is_allowed else 403)
        assert AutoTopUp.objects.exists() == is_allowed
        if is_allowed:
            assert answer == {**BODY, "status": "needs_payment_method"}
    [entry, _] = AuditEntry.objects.filter(action="auto_top_up.set")
    assert entry.detail == {"thresholdMicrousd": 5 * USD, "amountMicrousd": 20 * USD, "limitMicrousd": 100 * USD}


def test_an_organization_that_is_low_is_charged(provider: FakeStripe) -> None:
    team = Team()
    saver = Saver(provider, ("organization", team.id), team.owner.did)
    saver.save_method()
    saver.spend(8 * USD)
    saver.enable()
    assert saver.run() == {"succeeded": 1}
    assert (saver.balance, saver.told["orgId"]) == (22, team.id)


def test_new_terms_replace_a_charge_that_was_not_sent(person: Browser, provider: FakeStripe) -> None:
    saver = Saver(provider, did=person.account.did)
    saver.save_method()
    saver.spend(9 * USD)
    assert person("PUT", PATH, BODY)[1]["status"] == "ready"
    assert person("PUT", PATH, {**BODY, "amountMicrousd": 7 * USD})[1]["status"] == "ready"
    saver.run()
    assert (saver.paid, saver.balance) == ([7], 8)
    assert person("PUT", PATH, {**BODY, "thresholdMicrousd": 50 * USD})[0] == 200
    assert person("PUT", PATH, {**BODY, "enabled": False})[0] == 200
    assert not AutoTopUpCharge.objects.filter(ended_at=None).exists()
    assert auto_top_up_charges.send_all(now=saver.now) == {"succeeded": 0, "failed": 0}


def test_what_an_operator_paused_only_an_operator_resumes(person: Browser, provider: FakeStripe) -> None:
    saver = Saver(provider, did=person.account.did)
    saver.save_method()
    saver.enable()
    assert auto_top_ups.pause(saver.wallet.pk, "operator", now=saver.now)
    assert not auto_top_ups.pause(saver.wallet.pk, "operator", now=saver.now)
    assert person("PUT", PATH, BODY)[1]["status"] == "paused"
    saver.save_method()
    saver.spend(9 * USD)
    assert (saver.run(), person("GET", PATH)[1]["status"]) == ({}, "paused")
    assert auto_top_ups.resume(saver.wallet.pk, now=saver.now)
    assert person("GET", PATH)[1]["status"] == "ready"
    assert saver.run() == {"succeeded": 1}
