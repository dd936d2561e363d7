"""An organization that an operator suspends: its record, the access decision, what its members still do, and what is charged."""

from datetime import timedelta

import pytest
from django.test import Client

from billing.models import Wallet
from gateway.core.contract.errors import NotMember
from organizations.models import AuditEntry, Organization
from organizations.operations import seat_invoices, suspension
from organizations.queries import access
from tests.factories.events import recorded
from tests.factories.organizations import Team
from tests.organizations.tenant import Tenant, state
from tests.organizations.test_api import Api, caller
from tests.support.concurrency import at_once

pytestmark = pytest.mark.django_db

OPERATOR = "did:web:localhost:operator"


def suspend(team: Team, text: str = "") -> bool:
    return suspension.suspend(org_id=team.id, text=text, actor_did=OPERATOR)


def lift(team: Team) -> bool:
    return suspension.lift(org_id=team.id, actor_did=OPERATOR)


def is_spent_from(team: Team) -> bool:
    return not Wallet.objects.get(owner_kind="organization", owner_key=team.id).is_suspended


def test_it_is_recorded_once_and_lifted_once() -> None:
    team = Team()
    before = team.organization
    assert suspend(team, "Ask us by mail.")
    assert not suspend(team, "Another text.")
    found = team.organization
    assert (found.suspended_at, found.suspension_text) == (found.changed_at, "Ask us by mail.")
    assert (found.version, is_spent_from(team)) == (before.version + 1, False)
    assert lift(team)
    assert not lift(team)
    found = team.organization
    assert (found.suspended_at, found.suspension_text, found.version) == (None, "", before.version + 2)
    assert is_spent_from(team)
    entries = AuditEntry.objects.filter(action__in=("organization.suspend", "organization.lift")).order_by("id")
    assert list(entries.values_list("actor_did", "action", "subject")) == [
        (OPERATOR, "organization.suspend", team.id),
        (OPERATOR, "organization.lift", team.id),
    ]
    assert recorded(team.id, "organization") == [("organization.suspended_by_operator", {"orgId": team.id})]


def test_one_that_is_not_there_is_not_suspended() -> None:
    for change in (
        lambda: suspension.suspend(org_id="org_0", text="", actor_did=OPERATOR),
        lambda: suspension.lift(org_id="org_0", actor_did=OPERATOR),
    ):
        with pytest.raises(NotMember):
            change()


@pytest.mark.django_db(transaction=True)
def test_of_two_operators_at_once_one_suspends_it() -> None:
    team = Team()
    assert sorted(at_once(lambda: suspend(team, "a"), lambda: suspend(team, "b"))) == [False, True]
    assert AuditEntry.objects.filter(action="organization.suspend").count() == 1
    Organization.objects.get(suspension_text__in=("a", "b"))


def test_the_access_decision_says_so_to_members_alone() -> None:
    team = Team()
    team.enable("studio")
    suspend(team)
    for product in (None, "studio"):
        decision = access.decide(team.id, team.owner.did, product)
        assert (decision.allowed, decision.reason, decision.role) == (False, "organization_suspended", "owner")
        assert access.decide(team.id, "did:web:studio.example:mallory", product).reason == "not_member"
    lift(team)
    assert access.decide(team.id, team.owner.did, None).allowed
    assert access.decide(team.id, team.owner.did, "studio").reason == "no_seat"


def test_the_access_route_denies_with_200(client: Client) -> None:
    team = Team()
    suspend(team)
    status, body = Api(client, caller())("GET", f"/organizations/{team.id}/access")
    assert (status, body["allowed"], body["reason"]) == (200, False, "organization_suspended")
    assert body["versions"]["organization"] == team.organization.version


def test_its_members_read_and_manage_it_with_their_own_tokens(client: Client) -> None:
    team = Team()
    suspend(team)
    api = Api(client, caller())
    for path in ("", "/members", "/billing"):
        assert api("GET", f"/organizations/{team.id}{path}")[0] == 200, path


def test_its_payment_method_is_charged_only_if_a_member_asks(tenant: Tenant) -> None:
    tenant.save_method()
    suspend(tenant)
    tenant.run()
    tenant.run(timedelta(days=1))
    assert (state(tenant), tenant.attempts, tenant.provider.charges) == (("open", False), [], [])
    payment = seat_invoices.pay_now(org_id=tenant.id, invoice_id=tenant.invoice.pk, actor_did=tenant.owner.did)
    assert payment is not None
    assert (state(tenant), len(tenant.provider.charges)) == (("paid", False), 1)


def test_what_is_due_is_charged_once_the_suspension_is_lifted(tenant: Tenant) -> None:
    tenant.save_method()
    suspend(tenant)
    tenant.run()
    lift(tenant)
    tenant.run()
    assert (state(tenant), len(tenant.provider.charges)) == (("paid", False), 1)
