"""/api/account/alerts and /api/organizations/<org_id>/alerts: the threshold of a wallet, with session cookie and CSRF token."""

from typing import Any

import pytest

from billing.models import Wallet
from organizations.models import AuditEntry
from organizations.operations import invitations, members
from organizations.rules.roles import Role
from tests.factories.organizations import Team
from tests.portal.test_organization_session import Browser

pytestmark = pytest.mark.django_db

ACCOUNT = "/api/account/alerts"
DEFAULT = {"lowBalanceMicrousd": 1_000_000}


@pytest.fixture
def alice() -> Browser:
    return Browser()


def founded_by(browser: Browser) -> tuple[Team, str]:
    """Return an organization in which the browser's person is an owner, and its route."""
    team = Team("olivia")
    team.people["alice"] = _join(team, browser, Role.OWNER)
    return team, f"/api/organizations/{team.id}/alerts"


def _join(team: Team, browser: Browser, role: Role) -> Any:
    _, token = invitations.invite(org_id=team.id, role=role, email=None, actor_did=team.owner.did)
    return invitations.accept(token=token, account=browser.account)


def code(answer: tuple[int, Any]) -> tuple[int, str, str | None]:
    status, body = answer
    return status, body["error"]["code"], body["error"]["param"]


def test_a_person_reads_and_sets_the_threshold(alice: Browser) -> None:
    assert alice("GET", ACCOUNT) == (200, DEFAULT)
    assert alice("PUT", ACCOUNT, {"lowBalanceMicrousd": 0}) == (200, {"lowBalanceMicrousd": 0})
    assert alice("PUT", ACCOUNT, {"lowBalanceMicrousd": 10**15}) == (200, {"lowBalanceMicrousd": 10**15})
    assert alice("GET", ACCOUNT) == (200, {"lowBalanceMicrousd": 10**15})


def test_an_owner_reads_and_sets_the_threshold_and_the_log_says_so(alice: Browser) -> None:
    team, route = founded_by(alice)
    assert alice("GET", route) == (200, DEFAULT)
    for _ in range(2):
        assert alice("PUT", route, {"lowBalanceMicrousd": 5_000_000}) == (200, {"lowBalanceMicrousd": 5_000_000})
    assert alice("GET", route) == (200, {"lowBalanceMicrousd": 5_000_000})
    assert alice("GET", ACCOUNT) == (200, DEFAULT)
    [entry] = AuditEntry.objects.filter(action="alerts.threshold")
    assert (entry.organization_id, entry.subject, entry.actor_did) == (team.id, team.id, alice.account.did)
    assert entry.detail == {"beforeMicrousd": 1_000_000, "afterMicrousd": 5_000_000}


@pytest.mark.parametrize("role", list(Role))
def test_only_owners_and_billing_members_may(alice: Browser, role: Role) -> None:
    team, route = founded_by(alice)
    membership = team.people["alice"].pk
    members.change_role(org_id=team.id, membership_id=membership, role=role, actor_did=team.owner.did)
    may = role in (Role.OWNER, Role.BILLING)
    assert alice("GET", route)[0] == (200 if may else 403)
    assert alice("PUT", route, {"lowBalanceMicrousd": 7})[0] == (200 if may else 403)
    assert Wallet.objects.get(owner_key=team.id).low_balance_microusd == (7 if may else 1_000_000)


def test_a_stranger_and_an_organization_that_is_not_answer_alike(alice: Browser) -> None:
    for org_id in (Team("olivia").id, "org_none"):
        route = f"/api/organizations/{org_id}/alerts"
        assert code(alice("GET", route)) == (403, "not_member", None)
        assert code(alice("PUT", route, {"lowBalanceMicrousd": 7})) == (403, "not_member", None)
    assert not Wallet.objects.filter(low_balance_microusd=7).exists()


BAD: list[tuple[Any, str]] = [
    ({}, "lowBalanceMicrousd"),
    ({"lowBalanceMicrousd": None}, "lowBalanceMicrousd"),
    ({"lowBalanceMicrousd": -1}, "lowBalanceMicrousd"),
    ({"lowBalanceMicrousd": 10**15 + 1}, "lowBalanceMicrousd"),
    ({"lowBalanceMicrousd": 2**63 - 1}, "lowBalanceMicrousd"),
    ({"lowBalanceMicrousd": 1.5}, "lowBalanceMicrousd"),
    ({"lowBalanceMicrousd": "5"}, "lowBalanceMicrousd"),
    ({"lowBalanceMicrousd": True}, "lowBalanceMicrousd"),
    ({"lowBalanceMicrousd": 5, "lowBalance": 5}, "lowBalance"),
]


@pytest.mark.parametrize(("body", "param"), BAD)
def test_bad_input_names_its_member_and_changes_nothing(alice: Browser, body: Any, param: str) -> None:
    team, route = founded_by(alice)
    for path in (ACCOUNT, route):
        assert code(alice("PUT", path, body)) == (400, "invalid_request", param)
    assert set(Wallet.objects.values_list("low_balance_microusd", flat=True)) == {1_000_000}
    assert not AuditEntry.objects.filter(organization=team.id, action="alerts.threshold").exists()


def test_a_change_needs_the_csrf_token_and_a_session(alice: Browser) -> None:
    _, route = founded_by(alice)
    for path in (ACCOUNT, route):
        assert alice("PUT", path, {"lowBalanceMicrousd": 7}, accept="application/json")[0] == 403
        alice.client.logout()
        assert alice("GET", path, accept="application/json")[0] == 401
        alice.client.force_login(alice.account, backend="django.contrib.auth.backends.ModelBackend")
    assert not Wallet.objects.filter(low_balance_microusd=7).exists()
